import { assert, describe, it } from "@effect/vitest"
import * as AiError from "effect/ai/AiError"
import * as LanguageModel from "effect/ai/LanguageModel"
import type * as Prompt from "effect/ai/Prompt"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Ref from "effect/Ref"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import * as ModelError from "../../src/model/ModelError.ts"
import { Models } from "../../src/model/Models.ts"
import { streamStep } from "../../src/model/ToolSchema.ts"
import * as Scripted from "../../src/testing/ScriptedModel.ts"

/** Streams one step and notes the deltas as they come. */
const listen = Effect.fnUntraced(function* (scripted: typeof Scripted.ScriptedModel.Service) {
  const heard = yield* Ref.make("")
  const fiber = yield* Effect.forkChild(
    streamStep(scripted.languageModel, { prompt: "go", tools: [] }).pipe(
      Stream.runForEach((part) =>
        part.type === "text-delta" ? Ref.update(heard, (text) => text + part.delta) : Effect.void
      )
    )
  )
  return { heard: Ref.get(heard), fiber }
})

describe("ScriptedModel", () => {
  it.effect("answers each request with its own script and remembers the prompts", () =>
    Effect.gen(function* () {
      const scripted = yield* Scripted.ScriptedModel
      const first = yield* LanguageModel.generateText({ prompt: "one" })
      const second = yield* LanguageModel.generateText({ prompt: "two" })
      assert.deepStrictEqual([first.text, second.text], ["1", "22"])
      assert.strictEqual(first.finishReason, "stop")
      const received = yield* scripted.received
      assert.deepStrictEqual(
        received.map(Scripted.lastUserText).map((text) => text.valueOrUndefined),
        ["one", "two"]
      )
      const model = yield* (yield* Models).default
      assert.strictEqual(model.provider, "scripted")
    }).pipe(Effect.provide(Scripted.layer([[Scripted.text("1")], [Scripted.text("2", "2")]])))
  )

  it.effect("delays run on the test clock", () =>
    Effect.gen(function* () {
      const scripted = yield* Scripted.make([[Scripted.text("a"), Scripted.delay("1 hour"), Scripted.text("b")]])
      const { fiber, heard } = yield* listen(scripted)
      yield* scripted.awaitRequests(1)
      yield* TestClock.adjust("59 minutes")
      assert.strictEqual(yield* heard, "a")
      yield* TestClock.adjust("1 minute")
      yield* Fiber.join(fiber)
      assert.strictEqual(yield* heard, "ab")
    })
  )

  it.effect("a gate holds the stream until it is opened", () =>
    Effect.gen(function* () {
      const reached = yield* Deferred.make<void>()
      const gate = yield* Deferred.make<void>()
      const scripted = yield* Scripted.make([
        [
          Scripted.text("a"),
          Scripted.run(Effect.asVoid(Deferred.succeed(reached, undefined))),
          Scripted.gate(gate),
          Scripted.text("b")
        ]
      ])
      const { fiber, heard } = yield* listen(scripted)
      yield* Deferred.await(reached)
      assert.strictEqual(yield* heard, "a")
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(fiber)
      assert.strictEqual(yield* heard, "ab")
    })
  )

  it.effect("a cut and an error come as typed failures after the parts before them", () =>
    Effect.gen(function* () {
      const scripted = yield* Scripted.make([
        [Scripted.text("half"), Scripted.cut],
        [Scripted.fail(new AiError.RateLimitError({}))]
      ])
      const cut = yield* listen(scripted)
      const cutError = yield* Effect.flip(Fiber.join(cut.fiber))
      assert.strictEqual(yield* cut.heard, "half")
      assert.strictEqual(ModelError.transportCode(cutError), "stream-cut")
      assert.isTrue(cutError.isRetryable)
      const limited = yield* Effect.flip(Fiber.join((yield* listen(scripted)).fiber))
      assert.strictEqual(ModelError.describe(limited).code, "model:rate-limited")
    })
  )

  it.effect("never ends only by interruption", () =>
    Effect.gen(function* () {
      const scripted = yield* Scripted.make([[Scripted.never]])
      const { fiber } = yield* listen(scripted)
      yield* scripted.awaitRequests(1)
      yield* Fiber.interrupt(fiber)
      const exit = yield* Fiber.await(fiber)
      assert.isTrue(Exit.isFailure(exit) && Cause.hasInterrupts(exit.cause))
    })
  )

  it.effect("a script may depend on the prompt, and tool calls get unique ids", () =>
    Effect.gen(function* () {
      const scripted = yield* Scripted.make(({ index }) =>
        index === 0 ? [Scripted.toolCall("a"), Scripted.toolCall("b")] : [Scripted.toolCall("c")]
      )
      const one = yield* Stream.runCollect(streamStep(scripted.languageModel, { prompt: "go", tools: [] }))
      const two = yield* Stream.runCollect(streamStep(scripted.languageModel, { prompt: "go", tools: [] }))
      const ids = [...one, ...two].flatMap((part) => (part.type === "tool-call" ? [part.id] : []))
      assert.deepStrictEqual(ids, ["call_1_1", "call_1_2", "call_2_1"])
      const last = one.at(-1)
      assert.strictEqual(last?.type === "finish" ? last.reason : undefined, "tool-calls")
    })
  )

  it.effect("made-up call ids avoid those already in the history", () =>
    Effect.gen(function* () {
      const scripted = yield* Scripted.make([[Scripted.toolCall("t")]])
      const prompt = [user("a"), call("call_1_1"), result("call_1_1")]
      const parts = yield* Stream.runCollect(streamStep(scripted.languageModel, { prompt, tools: [] }))
      assert.deepStrictEqual(
        parts.flatMap((part) => (part.type === "tool-call" ? [part.id] : [])),
        ["call_1_1_2"]
      )
    })
  )

  it.effect("a request beyond the last script says so", () =>
    Effect.gen(function* () {
      const scripted = yield* Scripted.make([])
      const error = yield* Effect.flip(Fiber.join((yield* listen(scripted)).fiber))
      assert.include(error.message, "No script for request 1")
    })
  )
})

const call = (id: string, name = "t"): Prompt.AssistantMessageEncoded => ({
  role: "assistant",
  content: [{ type: "tool-call", id, name, params: {} }]
})
const result = (id: string, value: unknown = "ok", name = "t"): Prompt.ToolMessageEncoded => ({
  role: "tool",
  content: [{ type: "tool-result", id, name, isFailure: false, result: value }]
})
const user = (content: string): Prompt.UserMessageEncoded => ({ role: "user", content })

const refusals: ReadonlyArray<readonly [string, ReadonlyArray<Prompt.MessageEncoded>, RegExp]> = [
  ["a call without a result", [user("a"), call("1")], /call of t has no result/],
  ["a user message between call and result", [user("a"), call("1"), user("b"), result("1")], /before the results of t/],
  ["two results for one call", [user("a"), call("1"), result("1"), result("1")], /answers no open call/],
  ["a result without a call", [user("a"), result("1")], /answers no open call/],
  ["an id used twice", [user("a"), call("1"), result("1"), call("1"), result("1")], /used twice/],
  ["an empty id", [user("a"), call(""), result("")], /is not 1 to 64/],
  ["a result under another name", [user("a"), call("1"), result("1", "ok", "u")], /answers a call of t/],
  ["half a surrogate pair in a result", [user("a"), call("1"), result("1", { x: ["\ud83d"] })], /surrogate/],
  ["NUL in user text", [user("a\0b")], /NUL/],
  ["a blank message", [user(" ")], /blank/],
  ["an assistant message at the end", [user("a"), { role: "assistant", content: "b" }], /last message/],
  ["a late system message", [user("a"), { role: "system", content: "b" }, user("c")], /must come first/],
  [
    "two system messages",
    [{ role: "system", content: "a" }, { role: "system", content: "b" }, user("c")],
    /only one system message/
  ],
  ["an empty system message", [{ role: "system", content: "" }, user("c")], /is empty/],
  [
    "a message without content",
    [user("a"), { role: "assistant", content: [] }, user("b")],
    /message 1 \(assistant\): is empty/
  ],
  [
    "an answer of reasoning only",
    [user("a"), { role: "assistant", content: [{ type: "reasoning", text: "hm" }] }, user("b")],
    /nothing but reasoning/
  ],
  ["nothing but a system message", [{ role: "system", content: "b" }], /nothing to answer/]
]

describe("strict mode", () => {
  for (const [name, prompt, expected] of refusals) {
    it.effect(`refuses ${name}`, () =>
      Effect.gen(function* () {
        const scripted = yield* Scripted.make([[Scripted.text("fine")], [Scripted.text("fine")]])
        const error = yield* Effect.flip(scripted.languageModel.generateText({ prompt }))
        assert.strictEqual(error.reason._tag, "InvalidRequestError")
        assert.match(error.message, expected)
      })
    )
  }

  it.effect("accepts parallel calls with their results in any order", () =>
    Effect.gen(function* () {
      const scripted = yield* Scripted.make([[Scripted.text("fine")]])
      const response = yield* scripted.languageModel.generateText({
        prompt: [
          { role: "system", content: "s" },
          user("a"),
          {
            role: "assistant",
            content: [
              { type: "text", text: "two at once" },
              { type: "tool-call", id: "1", name: "t", params: {} },
              { type: "tool-call", id: "2", name: "t", params: "not json" }
            ]
          },
          result("2"),
          result("1")
        ]
      })
      assert.strictEqual(response.text, "fine")
    })
  )

  it.effect("can be switched off", () =>
    Effect.gen(function* () {
      const scripted = yield* Scripted.make([[Scripted.text("fine")]], { strict: false })
      const response = yield* scripted.languageModel.generateText({ prompt: [user("a"), call("1")] })
      assert.strictEqual(response.text, "fine")
    })
  )
})
