import { assert, describe, it } from "@effect/vitest"
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Terminal from "effect/Terminal"
import * as Keys from "../../layers/cli/chat/Keys.ts"
import * as LineEditor from "../../src/cli/LineEditor.ts"

const input = (name: string, text: string): Terminal.UserInput => ({
  input: Option.some(text),
  key: { name, ctrl: false, meta: false, shift: false }
})

/** A terminal of which only the keys are used. */
const terminalOf = (inputs: Queue.Dequeue<Terminal.UserInput, Cause.Done>) =>
  Terminal.make({
    columns: Effect.succeed(80),
    rows: Effect.succeed(24),
    size: Effect.never,
    readInput: Effect.succeed(inputs),
    readLine: Effect.never,
    display: () => Effect.void
  })

describe("the keyboard", () => {
  it.effect("hands on at once what came at once: a paste of any length is one edit and one drawing", () =>
    Effect.gen(function* () {
      const inputs = yield* Queue.make<Terminal.UserInput, Cause.Done>()
      const keyboard = yield* Keys.keyboard(terminalOf(inputs))
      const pasted = "a paste\rof 日本語. ".repeat(1000)
      yield* Queue.offerAll(inputs, [
        input("paste-start", "\u001b[200~"),
        ...Array.from(pasted, (letter) => input(letter === "\r" ? "return" : letter, letter)),
        input("paste-end", "\u001b[201~")
      ])
      const drawn = yield* Queue.takeAll(keyboard.pressed)
      const keys = LineEditor.together(
        drawn.map(({ key }) => key),
        false
      )
      assert.deepStrictEqual(
        keys.map(({ name }) => name),
        ["paste-start", "", "paste-end"]
      )
      const line = keys.reduce((editor, key) => LineEditor.press(editor, key)[0], LineEditor.empty)
      assert.strictEqual(LineEditor.textOf(line), pasted.replaceAll("\r", "\n"))
    }).pipe(Effect.scoped)
  )
})
