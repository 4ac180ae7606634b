/** The keyboard, key by key. Ctrl+C is a key like any other while this is open. */
import * as NodeTerminal from "@effect/platform-node/NodeTerminal"
import type * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Scope } from "../../../src/approval/Approval.ts"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import type { Terminal, UserInput } from "effect/Terminal"
import * as Monotonic from "../../../src/Monotonic.ts"
import type { Key } from "../../../src/cli/LineEditor.ts"

/** A terminal whose keys never end the input by themselves. */
export const terminal = NodeTerminal.make(() => false)

const toKey = ({ input, key }: UserInput): Key => ({ ...key, input: Option.getOrElse(input, () => "") })

export interface Pressed {
  readonly key: Key
  /** When it came, in milliseconds since 1970. */
  readonly at: number
}

export interface Keyboard {
  readonly pressed: Queue.Dequeue<Pressed, Cause.Done>
  /** Ctrl+C was pressed before there was a chat to take it. */
  readonly givenUp: Effect.Effect<void>
  /** From now on the chat takes what is pressed. */
  readonly ready: Effect.Effect<void>
}

/**
 * The keyboard from the first moment on, also while the chat is not there yet. A line end that the terminal itself has
 * translated, before it was told to leave keys alone, is the Enter it was.
 */
export const keyboard = Effect.fnUntraced(function* (from: Terminal) {
  const pressed = yield* Queue.unbounded<Pressed, Cause.Done>()
  const givenUp = yield* Deferred.make<void>()
  let ready = false
  let pasting = false
  const read = (input: UserInput): Key => {
    const key = toKey(input)
    if (key.name === "paste-start") pasting = true
    if (key.name === "paste-end") pasting = false
    return !ready && !pasting && key.name === "enter" ? { ...key, name: "return" } : key
  }
  // What comes at once, such as a paste, is handed on at once.
  const take = Effect.fnUntraced(function* (inputs: ReadonlyArray<UserInput>) {
    const keys = inputs.map(read)
    if (!ready && keys.some((key) => key.ctrl && key.name === "c")) yield* Deferred.succeed(givenUp, undefined)
    const at = yield* Monotonic.millis
    yield* Queue.offerAll(
      pressed,
      keys.map((key) => ({ key, at }))
    )
  })
  yield* Stream.fromQueue(yield* from.readInput).pipe(
    Stream.runForEachArray(take),
    Effect.andThen(Queue.end(pressed)),
    Effect.forkScoped
  )
  return {
    pressed,
    givenUp: Deferred.await(givenUp),
    ready: Effect.sync(() => {
      ready = true
    })
  } satisfies Keyboard
})

/** An answer to a question: no, or yes with what it holds for. */
export type Answer = "no" | Scope

/** Waits for an answer. Ctrl+C, Ctrl+D and Escape are a no. */
export const answer = Effect.gen(function* () {
  const input = yield* (yield* terminal).readInput
  while (true) {
    const key = toKey(yield* Queue.take(input))
    const given = answerOf(key)
    if (given !== undefined) return given
  }
}).pipe(
  Effect.catchTag("Done", () => Effect.succeed<Answer>("no")),
  Effect.scoped
)

export const answerOf = (key: Key): Answer | undefined => {
  if (key.ctrl) return key.name === "c" || key.name === "d" ? "no" : undefined
  return key.name === "escape" ? "no" : letters.get(key.input.toLowerCase())
}

const letters: ReadonlyMap<string, Answer> = new Map([
  ["y", "once"],
  ["n", "no"],
  ["t", "turn"],
  ["c", "thread"],
  ["a", "always"]
])
