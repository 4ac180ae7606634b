/**
 * What callers of the promise client hand in, read by schema: they may have no types. Whatever is wrong is an error that names
 * the argument or option.
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Approval from "../approval/Approval.ts"
import * as Ids from "../Ids.ts"
import * as TroupeRpcs from "../rpc/TroupeRpcs.ts"
import * as SchemaProblem from "../SchemaProblem.ts"
import * as Entry from "../thread/Entry.ts"
import * as Inbound from "../thread/Inbound.ts"
import * as Threads from "../thread/Threads.ts"
import * as PlainError from "./PlainError.ts"

type Fields = Readonly<Record<string, Schema.Constraint & { readonly DecodingServices: never }>>

/** By its shape: a program may bring its own. */
export const isAbortSignal = (input: unknown): input is AbortSignal =>
  Predicate.hasProperty(input, "aborted") && Predicate.hasProperty(input, "addEventListener")

/** Reads the arguments of a call, by name, and its options. */
const reader = <const Arguments extends Fields, const Options extends Fields>(of: Arguments, options: Options) => {
  const decode = Schema.decodeUnknownEffect(Schema.Struct({ ...of, ...options }))
  return Effect.fnUntraced(function* (given: { readonly [Name in keyof Arguments]: unknown }, chosen: unknown) {
    if (chosen !== undefined && !Predicate.isObject(chosen)) {
      return yield* invalid("options: Expected an object with the options of the call.")
    }
    // What a program without types misspells must not be lost without a word.
    const names = Object.keys(options)
    const strange = Object.keys(chosen ?? {}).find((name) => !names.includes(name))
    if (strange !== undefined) return yield* invalid(SchemaProblem.unknownField([], strange, names))
    const input = { ...chosen, ...given }
    return yield* Effect.mapError(decode(input), ({ issue }) => invalid(SchemaProblem.describe(issue, input).text))
  })
}

const invalid = (message: string) => new PlainError.Failed({ code: "invalid_request", message })

const signal = Schema.optional(Schema.declare(isAbortSignal).annotate({ expected: "an AbortSignal" }))
const thread = TroupeRpcs.ThreadRef

export const send = reader(
  { text: Inbound.MessageText },
  {
    thread: Threads.ThreadKey,
    id: Schema.optional(Inbound.ExternalId),
    attachments: Schema.optional(
      Schema.Array(
        Schema.Struct({
          name: Schema.String,
          mediaType: Schema.optional(Schema.String),
          content: Schema.Uint8Array
        })
      )
    ),
    delivery: Schema.optional(Entry.Delivery),
    signal
  }
)
export const watch = reader({ thread }, { from: Schema.optional(TroupeRpcs.Seq), signal })
export const history = reader(
  { thread },
  { from: Schema.optional(TroupeRpcs.Seq), limit: Schema.optional(TroupeRpcs.PageLimit), signal }
)
export const threads = reader(
  {},
  { limit: Schema.optional(TroupeRpcs.PageLimit), before: Schema.optional(Threads.ThreadCursor), signal }
)
export const stop = reader({ thread }, { signal })
export const decide = reader(
  {
    thread,
    question: Schema.Struct({ approvalId: Ids.ApprovalId, nonce: Inbound.Name }),
    decision: Approval.Decision
  },
  { approver: Schema.optional(Inbound.Name), scope: Schema.optional(Approval.Scope), signal }
)
export const status = reader({}, { signal })

const isHttpUrl = (text: string): boolean => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)

const hasNoCredentials = (text: string): boolean => {
  if (!URL.canParse(text)) return true
  const { password, username } = new URL(text)
  return username === "" && password === ""
}

/** What a header can carry. */
const isToken = (text: string): boolean => /^[\x21-\x7e]*$/.test(text)

/** What a client is made of. */
export const client = reader(
  {},
  {
    url: Schema.String.check(
      Schema.makeFilter(isHttpUrl, { expected: "an http:// or https:// address" }),
      Schema.makeFilter(hasNoCredentials, {
        expected: "an address without a name and a password; `token` is what counts"
      })
    ),
    token: Schema.String.check(Schema.makeFilter(isToken, { expected: "a token, without spaces and line breaks" })),
    name: Schema.optional(Schema.String)
  }
)
