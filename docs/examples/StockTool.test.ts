/** A test of the tool inside the real runtime. Only the model is a script, and time is the test's. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { ScriptedModel, TestRuntime } from "troupe/testing"
import * as StockTool from "./StockTool.ts"

/** A model that asks for the article first and then says the sentence. */
const runtime = (article: string, sentence: string) =>
  TestRuntime.layer({
    tools: StockTool.layer,
    scripts: [[ScriptedModel.toolCall("stock_level", { article })], [ScriptedModel.text(sentence)]]
  })

describe("stock_level", () => {
  it.effect("counts what is on the shelf", () =>
    Effect.gen(function* () {
      const troupe = yield* TestRuntime.TestRuntime
      const { answer, entries, state } = yield* troupe.say("How many teapots are there?")
      assert.strictEqual(state, "answered")
      assert.strictEqual(answer, "There are four.")
      const result = entries.find((entry) => entry._tag === "ToolResult")
      assert.deepStrictEqual(result?.data, { article: "teapot", count: 4 })
    }).pipe(Effect.provide(runtime("teapot", "There are four.")))
  )

  it.effect("tells the model when there is no such article", () =>
    Effect.gen(function* () {
      const troupe = yield* TestRuntime.TestRuntime
      const { entries } = yield* troupe.say("How many unicorns are there?")
      const result = entries.find((entry) => entry._tag === "ToolResult")
      assert.strictEqual(result?.outcome, "failed")
      assert.strictEqual(result?.errorCode, "shop:no_such_article")
      // The next request to the model holds the failure, so that it can act on it.
      const model = yield* ScriptedModel.ScriptedModel
      const [, second] = yield* model.received
      assert.include(JSON.stringify(second), "Ask the person which article is meant")
    }).pipe(Effect.provide(runtime("unicorn", "Which article do you mean?")))
  )
})
