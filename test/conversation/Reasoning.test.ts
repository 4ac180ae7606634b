import { assert, describe, it } from "@effect/vitest"
import type * as Prompt from "effect/ai/Prompt"
import * as Effect from "effect/Effect"
import * as TestRuntime from "../../layers/testing/TestRuntime.ts"
import { part, ScriptedModel, text, toolCall } from "../../src/testing/ScriptedModel.ts"
import * as Fixtures from "./Fixtures.ts"

/** What a provider wants to see again, to the byte. */
const signed = { vendor: { signature: 'c2ln\u2028"\\', encrypted: "x".repeat(5000) } }

const thoughts = [
  part({ type: "reasoning-start", id: "r" }),
  part({ type: "reasoning-delta", id: "r", delta: "Let me " }),
  part({ type: "reasoning-delta", id: "r", delta: "look." }),
  part({ type: "reasoning-end", id: "r", metadata: signed })
]

const reasoningIn = (prompt: Prompt.Prompt | undefined) =>
  (prompt?.content ?? []).flatMap((message) =>
    message.role === "assistant"
      ? message.content.flatMap((item) => (item.type === "reasoning" ? [[item.text, item.options]] : []))
      : []
  )

describe("F080 reasoning", () => {
  it.effect("is sent back with the results of the calls it led to, and in later turns", () =>
    Effect.gen(function* () {
      const troupe = yield* TestRuntime.TestRuntime
      yield* troupe.say("go")
      yield* troupe.say("and then?")
      const model = yield* ScriptedModel
      const [first, second, third] = yield* model.received
      assert.deepStrictEqual(reasoningIn(first), [])
      assert.deepStrictEqual(reasoningIn(second), [["Let me look.", signed]])
      assert.deepStrictEqual(reasoningIn(third), [["Let me look.", signed]])
    }).pipe(
      Effect.provide(
        TestRuntime.layer({
          scripts: [[...thoughts, toolCall("look", { text: "a" })], [text("done")], [text("nothing")]],
          tools: Fixtures.echo
        })
      )
    )
  )
})
