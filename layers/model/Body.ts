/**
 * The body of an answer: its text as it comes, within bounds, and the events in it.
 *
 * One piece of the network often holds several events, and they are handed on together: what is done for each step of a
 * stream is done once for all of them. The bounds hold before anything is decoded or waits for the end of a line, and every
 * byte counts as a sign of life, comments that keep the connection open included.
 */
import type * as AiError from "effect/ai/AiError"
import * as Effect from "effect/Effect"
import * as Sse from "effect/encoding/Sse"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Json from "../../src/model/Json.ts"
import type { Limits } from "./Transport.ts"

/** Whom the body comes from, and who is told of it. */
export interface Reader {
  readonly limits: Limits
  /** Runs whenever something arrives. */
  readonly onBytes: () => void
  /** The failure of a body that breaks off. */
  readonly broken: (thrown: unknown) => AiError.AiError
  /** The failure of a body that exceeds a limit; the rest of it is not read. */
  readonly tooLarge: () => AiError.AiError
  /** The failure of a body that is not what it should be. */
  readonly unreadable: () => AiError.AiError
  /** The failure of a body in another protocol. */
  readonly foreign: () => AiError.AiError
}

/** The next of something, or none at the end. */
export type Next<A> = Effect.Effect<Option.Option<A>, AiError.AiError>

/** The whole body as the value of its JSON. */
export const json = (response: Response, reader: Reader): Effect.Effect<unknown, AiError.AiError> => {
  const piece = pieces(response, reader, false)
  const rest = (before: string): Effect.Effect<string, AiError.AiError> =>
    Effect.flatMap(piece, (next) => (Option.isNone(next) ? Effect.succeed(before) : rest(before + next.value)))
  return Effect.flatMap(rest(""), (text) =>
    Option.match(Json.parse(text), {
      onNone: () => Effect.fail(isLines(text) ? reader.foreign() : reader.unreadable()),
      onSome: Effect.succeed
    })
  )
}

/** Several values, one in each line: what cannot be read as one is no broken answer then. */
const isLines = (text: string): boolean => {
  const end = text.indexOf("\n")
  return end > 0 && text.slice(end).trim() !== "" && Option.isSome(Json.parse(text.slice(0, end)))
}

/** The values of the events in the body, as many at a time as have come, up to the one that says it was the last. */
export const events = (response: Response, reader: Reader): Next<ReadonlyArray<unknown>> => {
  const piece = pieces(response, reader, true)
  let arrived: Array<unknown> = []
  let end: "open" | "done" | "unreadable" = "open"
  let beginning = ""
  let hasEvents = false

  const parser = Sse.makeParser(
    (event) => {
      if (event._tag !== "Event" || end !== "open") return
      hasEvents = true
      if (event.data === "[DONE]") {
        end = "done"
        return
      }
      const value = Json.parse(event.data)
      if (Option.isNone(value)) end = "unreadable"
      else arrived.push(event.event === "error" ? asError(value.value) : value.value)
    },
    // What bounds it is counted in bytes before it comes here.
    { maxEventSize: Number.MAX_SAFE_INTEGER }
  )
  const taken = (): Option.Option<ReadonlyArray<unknown>> => {
    const some = arrived
    arrived = []
    return some.length === 0 ? Option.none() : Option.some(some)
  }

  const next: Next<ReadonlyArray<unknown>> = Effect.suspend(() => {
    if (end === "unreadable") return Effect.fail(reader.unreadable())
    if (end === "done") return Effect.succeedNone
    return Effect.flatMap(piece, (text) => {
      // Some servers leave out the empty line after the last event.
      parser.feed(Option.getOrElse(text, () => "\n\n"))
      if (beginning === "" && Option.isSome(text)) beginning = text.value.trimStart().slice(0, 200)
      if (Option.isNone(text) && end === "open") {
        // A value is no line of an event stream. One that is an error may be of this protocol, and pass.
        if (!hasEvents && beginning.startsWith("{") && !beginning.includes('"error"'))
          return Effect.fail(reader.foreign())
        end = "done"
      }
      const some = taken()
      return Option.isSome(some) ? Effect.succeed(some) : next
    })
  })
  return next
}

/** An event that is named an error is one, whatever it looks like. */
const asError = (value: unknown): unknown => (Predicate.hasProperty(value, "error") ? value : { error: value })

/** The text of the body, piece by piece. */
const pieces = (response: Response, { broken, limits, onBytes, tooLarge }: Reader, lines: boolean): Next<string> => {
  const body = response.body?.getReader()
  if (body === undefined) return Effect.succeedNone
  const exceeded = counter(limits, lines)
  const decoder = new TextDecoder()
  let ended = false
  const read = Effect.tryPromise({ try: () => body.read(), catch: broken })
  return Effect.suspend(() => {
    if (ended) return Effect.succeedNone
    return Effect.flatMap(read, ({ done, value }): Next<string> => {
      if (done) {
        ended = true
        return Effect.succeedSome(decoder.decode())
      }
      onBytes()
      return exceeded(value) ? Effect.fail(tooLarge()) : Effect.succeedSome(decoder.decode(value, { stream: true }))
    })
  })
}

/** Counts the bytes of one body; says whether a limit is exceeded with this piece. */
const counter = (limits: Limits, lines: boolean) => {
  let total = 0
  let line = 0
  return (piece: Uint8Array): boolean => {
    total += piece.length
    if (lines) {
      const lastBreak = Math.max(piece.lastIndexOf(lineFeed), piece.lastIndexOf(carriageReturn))
      line = lastBreak < 0 ? line + piece.length : piece.length - lastBreak - 1
    }
    return total > limits.total || line > limits.line
  }
}

const lineFeed = 10
const carriageReturn = 13
