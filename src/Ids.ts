/**
 * Identifiers of everything that is stored.
 *
 * Every id is `<prefix>_<26 characters>`: 10 characters of milliseconds since 1970 and 16 of randomness, both in
 * Crockford base 32, so ids sort by the time they were made and tell at a glance what they name.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Schema from "effect/Schema"

const idText = (prefix: string) =>
  Schema.String.check(
    Schema.isPattern(new RegExp(`^${prefix}_[0-9a-hjkmnp-tv-z]{26}$`), { expected: `an id of the form ${prefix}_…` })
  )

/** A conversation's durable log. */
export const ThreadId = idText("thr").pipe(Schema.brand("ThreadId"))
export type ThreadId = typeof ThreadId.Type

/** One agent's run in a thread. */
export const TurnId = idText("trn").pipe(Schema.brand("TurnId"))
export type TurnId = typeof TurnId.Type

/** A message accepted from a channel. */
export const MessageId = idText("msg").pipe(Schema.brand("MessageId"))
export type MessageId = typeof MessageId.Type

/** One invocation of a tool; unique in the whole store, unlike the ids that model providers make up. */
export const CallId = idText("cal").pipe(Schema.brand("CallId"))
export type CallId = typeof CallId.Type

/** One life of a daemon process: what fences the writes of a deposed owner. */
export const IncarnationId = idText("inc").pipe(Schema.brand("IncarnationId"))
export type IncarnationId = typeof IncarnationId.Type

/** A question to a person whether a tool call may run. */
export const ApprovalId = idText("apr").pipe(Schema.brand("ApprovalId"))
export type ApprovalId = typeof ApprovalId.Type

/** A person's yes to a call and all further ones like it. */
export const GrantId = idText("gra").pipe(Schema.brand("GrantId"))
export type GrantId = typeof GrantId.Type

/** One database: a restored copy is another installation than the one that its backup was made of. */
export const InstallationId = idText("ins").pipe(Schema.brand("InstallationId"))
export type InstallationId = typeof InstallationId.Type

/** A reply on its way out to a channel. */
export const DeliveryId = idText("out").pipe(Schema.brand("DeliveryId"))
export type DeliveryId = typeof DeliveryId.Type

/** Something remembered for an owner. */
export const NoteId = idText("mem").pipe(Schema.brand("NoteId"))
export type NoteId = typeof NoteId.Type

export const makeThreadId = make("thr", ThreadId)
export const makeTurnId = make("trn", TurnId)
export const makeMessageId = make("msg", MessageId)
export const makeCallId = make("cal", CallId)
export const makeIncarnationId = make("inc", IncarnationId)
export const makeApprovalId = make("apr", ApprovalId)
export const makeGrantId = make("gra", GrantId)
export const makeDeliveryId = make("out", DeliveryId)
export const makeInstallationId = make("ins", InstallationId)
export const makeNoteId = make("mem", NoteId)

/** Sorts before every id of this prefix that was made at this time (unix ms) or later, and after all that were made before. */
export const lowerBound = (prefix: "msg" | "out" | "inc" | "apr", millis: number): string =>
  `${prefix}_${timeText(millis)}`

const alphabet = "0123456789abcdefghjkmnpqrstvwxyz"
const timeLength = 10
const randomLength = 16

function make<A>(prefix: string, schema: { readonly make: (value: string) => A }): Effect.Effect<A> {
  return Effect.gen(function* () {
    const timePart = timeText(yield* Clock.currentTimeMillis)
    let randomPart = ""
    const random = yield* Random.Random
    for (let i = 0; i < randomLength; i++) {
      randomPart += alphabet.charAt(Math.floor(random.nextDoubleUnsafe() * 32))
    }
    return schema.make(`${prefix}_${timePart}${randomPart}`)
  })
}

function timeText(millis: number): string {
  let time = Math.max(0, millis)
  let text = ""
  for (let i = 0; i < timeLength; i++) {
    text = alphabet.charAt(time % 32) + text
    time = Math.floor(time / 32)
  }
  return text
}
