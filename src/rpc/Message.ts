/** The messages of a client, one JSON text a line, and what is wrong with a line that is none. */
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as JsonDepth from "../JsonDepth.ts"

const Id = Schema.Union([Schema.String.check(Schema.isMaxLength(200)), Schema.Int])

/** The payload is judged by the call it is for. */
const Message = Schema.Union([
  Schema.Struct({
    _tag: Schema.Literal("Request"),
    id: Id,
    tag: Schema.String,
    headers: Schema.Array(Schema.Tuple([Schema.String, Schema.String])),
    isNotification: Schema.optionalKey(Schema.Boolean),
    discard: Schema.optionalKey(Schema.Boolean),
    traceId: Schema.optionalKey(Schema.String),
    spanId: Schema.optionalKey(Schema.String),
    sampled: Schema.optionalKey(Schema.Boolean)
  }),
  Schema.Struct({ _tag: Schema.Literals(["Ack", "Interrupt"]), requestId: Id }),
  Schema.Struct({ _tag: Schema.Literals(["Ping", "Eof"]) })
])

/** A line that is no message. `requestId` is empty when it names no call. */
const Malformed = Schema.TaggedStruct("Malformed", { requestId: Id, problem: Schema.String })
type Malformed = typeof Malformed.Type

export const isMalformed = Schema.is(Malformed)

/** The message that a line holds. Nothing of a line is repeated in what is said of it. */
export const read = (line: string): unknown => {
  if (JsonDepth.exceeds(line)) {
    return malformed(`is nested too deeply. Expected at most ${JsonDepth.deepest} levels of objects and lists.`)
  }
  const value = Option.getOrUndefined(parse(line))
  if (value === undefined) return malformed("is no JSON.")
  if (isMessage(value)) return value
  const id = Predicate.hasProperty(value, "id") && isId(value.id) ? value.id : ""
  return malformed(`is no message. A call is ${example}.`, id)
}

/** The id of the call that a message makes, if it makes one. */
export const callOf = (message: unknown): string | undefined =>
  isMessage(message) && message._tag === "Request" ? String(message.id) : undefined

const malformed = (problem: string, requestId: typeof Id.Type = ""): Malformed => Malformed.make({ requestId, problem })

/** What a call looks like. */
export const example = `{"_tag":"Request","id":"1","tag":"Status","payload":null,"headers":[]}, on a line of its own`

const parse = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Unknown))
const isMessage = Schema.is(Message)
const isId = Schema.is(Id)
