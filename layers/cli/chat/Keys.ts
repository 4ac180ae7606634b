/** The keyboard, key by key. Ctrl+C is a key like any other while this is open. */
import * as NodeTerminal from "@effect/platform-node/NodeTerminal"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import type { UserInput } from "effect/Terminal"
import type { Key } from "../../../src/cli/LineEditor.ts"

/** A terminal whose keys never end the input by themselves. */
export const terminal = NodeTerminal.make(() => false)

export const toKey = ({ input, key }: UserInput): Key => ({ ...key, input: Option.getOrElse(input, () => "") })

/** Waits for a yes or a no. Ctrl+C, Ctrl+D and Escape are a no. */
export const yesOrNo = Effect.gen(function* () {
  const input = yield* (yield* terminal).readInput
  while (true) {
    const key = toKey(yield* Queue.take(input))
    const answer = answerOf(key)
    if (answer !== undefined) return answer
  }
}).pipe(
  Effect.catchTag("Done", () => Effect.succeed(false)),
  Effect.scoped
)

export const answerOf = (key: Key): boolean | undefined => {
  if (key.ctrl) return key.name === "c" || key.name === "d" ? false : undefined
  const letter = key.input.toLowerCase()
  if (letter === "y") return true
  return letter === "n" || key.name === "escape" ? false : undefined
}
