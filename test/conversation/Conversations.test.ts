import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as ScriptedModel from "../../src/testing/ScriptedModel.ts"
import * as TestRuntime from "../../layers/testing/TestRuntime.ts"

it.effect("answers a message", () =>
  Effect.gen(function* () {
    const troupe = yield* TestRuntime.TestRuntime
    const outcome = yield* troupe.say("hello")
    assert.strictEqual(outcome.answer, "hi there")
    assert.strictEqual(outcome.state, "answered")
  }).pipe(Effect.provide(TestRuntime.layer({ scripts: [[ScriptedModel.text("hi ", "there")]] })))
)
