import { assert, describe, it } from "@effect/vitest"
import * as AiError from "effect/ai/AiError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import * as TestRuntime from "../../layers/testing/TestRuntime.ts"
import { Conversations } from "../../src/conversation/Conversations.ts"
import { transportError } from "../../src/model/ModelError.ts"
import { cut, fail, never, part, reasoning, ScriptedModel, text, toolCall } from "../../src/testing/ScriptedModel.ts"
import type * as Scripted from "../../src/testing/ScriptedModel.ts"
import type * as Entry from "../../src/thread/Entry.ts"
import * as Fixtures from "./Fixtures.ts"

const main = { provider: "one", model: "main" }
const second = { provider: "two", model: "spare" }
const third = { provider: "three", model: "last" }

const down = fail(new AiError.InternalProviderError({ description: "It is down" }))

const layer = (
  scripts: (request: Scripted.Request) => Scripted.Script,
  options: Partial<TestRuntime.Options> & { readonly fallback?: ReadonlyArray<Scripted.Route> } = {}
) => {
  const { fallback = [second], ...others } = options
  return TestRuntime.layer({ scripts, model: { ...main, fallback }, tools: Fixtures.echo, ...others })
}

const switches = (entries: ReadonlyArray<Entry.Entry>) =>
  entries.flatMap((entry) => (entry._tag === "ModelSwitched" ? [[entry.from.model, entry.to.model, entry.code]] : []))

const answeredBy = (entries: ReadonlyArray<Entry.Entry>) =>
  entries.flatMap((entry) => (entry._tag === "AssistantMessage" ? [`${entry.provider}/${entry.model}`] : []))

const asked = Effect.flatMap(ScriptedModel, ({ requests }) =>
  Effect.map(requests, (all) => all.map(({ model }) => model))
)

const say = (words = "go") => Effect.flatMap(TestRuntime.TestRuntime, (troupe) => troupe.say(words))

describe("F152 a model that cannot answer", () => {
  const outages: ReadonlyArray<readonly [string, Scripted.Step, code: string]> = [
    ["is down", down, "model:provider-failed"],
    ["limits the rate", fail(new AiError.RateLimitError({})), "model:rate-limited"],
    ["wants to be paid", fail(new AiError.QuotaExhaustedError({})), "model:quota-exhausted"],
    ["hangs", fail(transportError("request-timeout", "It did not finish")), "model:request-timeout"],
    ["cuts the connection", cut, "model:stream-cut"]
  ]
  for (const [name, step, code] of outages) {
    it.effect(`gives way to the next when it ${name}, and everybody is told`, () =>
      Effect.gen(function* () {
        const events = yield* Fixtures.recordEvents
        const { answer, entries, state } = yield* say()
        assert.strictEqual(state, "answered")
        assert.strictEqual(answer, "from spare")
        assert.deepStrictEqual(switches(entries), [["main", "spare", code]])
        assert.deepStrictEqual(answeredBy(entries), ["two/spare"])
        yield* events.until((event) => event._tag === "ModelSwitched" && event.to.model === "spare")
      }).pipe(Effect.provide(layer(({ model }) => (model === "main" ? [step] : [text(`from ${model}`)]))))
    )
  }

  const refusals: ReadonlyArray<readonly [string, AiError.AiErrorReason]> = [
    ["refuses the request", new AiError.InvalidRequestError({ description: "No" })],
    ["refuses the key", new AiError.AuthenticationError({ kind: "InvalidKey" })],
    ["refuses the content", new AiError.ContentPolicyError({ description: "No" })]
  ]
  for (const [name, reason] of refusals) {
    it.effect(`does not burn the chain when it ${name}`, () =>
      Effect.gen(function* () {
        const { entries, state } = yield* say()
        assert.strictEqual(state, "failed")
        assert.deepStrictEqual(switches(entries), [])
        assert.deepStrictEqual(yield* asked, ["main"])
      }).pipe(Effect.provide(layer(() => [fail(reason)])))
    )
  }

  it.effect("gives way, in order, to whoever can", () =>
    Effect.gen(function* () {
      const { answer, entries } = yield* say()
      assert.strictEqual(answer, "from last")
      assert.deepStrictEqual(yield* asked, ["main", "spare", "last"])
      assert.deepStrictEqual(
        switches(entries).map(([from, to]) => [from, to]),
        [
          ["main", "spare"],
          ["spare", "last"]
        ]
      )
    }).pipe(
      Effect.provide(
        layer(({ model }) => (model === "last" ? [text("from last")] : [down]), { fallback: [second, third] })
      )
    )
  )

  it.effect("fails the turn when nobody can, and the next message works", () =>
    Effect.gen(function* () {
      const failed = yield* say()
      assert.strictEqual(failed.failure?.code, "model:provider-failed")
      // Both are left alone now; to ask one all the same is better than to ask nobody.
      assert.strictEqual((yield* say("again")).answer, "back")
    }).pipe(Effect.provide(layer(({ index }) => (index < 2 ? [down] : [text("back")]))))
  )

  it.effect("gives way when it says nothing at all", () =>
    Effect.gen(function* () {
      const { answer, entries } = yield* Fixtures.whileTimePasses(say())
      assert.strictEqual(answer, "from spare")
      assert.deepStrictEqual(switches(entries), [["main", "spare", "model:empty_response"]])
    }).pipe(Effect.provide(layer(({ model }) => (model === "main" ? [] : [text("from spare")]))))
  )

  it.effect("does not give way once a word of its answer has been shown", () =>
    Effect.gen(function* () {
      const { entries, failure } = yield* say()
      assert.strictEqual(failure?.code, "model:stream-cut")
      assert.deepStrictEqual(switches(entries), [])
      assert.deepStrictEqual(yield* asked, ["main"])
    }).pipe(Effect.provide(layer(() => [text("We"), cut])))
  )

  it.effect("gives way when only thoughts have been shown, and shows those of the other from their beginning", () =>
    Effect.gen(function* () {
      const events = yield* Fixtures.recordEvents
      const { answer, entries } = yield* say()
      assert.strictEqual(answer, "from spare")
      yield* events.until((event) => event._tag === "TurnCompleted")
      const thoughts = events.seen.flatMap((event) =>
        event._tag === "ModelDelta" && event.kind === "reasoning" ? [[event.offset, event.text]] : []
      )
      assert.deepStrictEqual(thoughts, [
        [0, "Hm"],
        [0, "Ah"]
      ])
      assert.deepStrictEqual(
        entries.flatMap((entry) => (entry._tag === "AssistantMessage" ? entry.reasoning.map((one) => one.text) : [])),
        ["Ah"]
      )
    }).pipe(
      Effect.provide(
        layer(({ model }) => (model === "main" ? [reasoning("Hm"), cut] : [reasoning("Ah"), text("from spare")]))
      )
    )
  )

  it.effect("does not give way when the turn is stopped", () =>
    Effect.gen(function* () {
      const troupe = yield* TestRuntime.TestRuntime
      const model = yield* ScriptedModel
      const message = yield* troupe.accept("go", { chat: "a" })
      yield* model.awaitRequests(1)
      yield* (yield* Conversations).stop(message.threadId, "tester")
      const { entries, state } = yield* troupe.outcome(message)
      assert.strictEqual(state, "stopped")
      assert.deepStrictEqual(switches(entries), [])
    }).pipe(Effect.provide(layer(() => [never])))
  )
})

describe("a model that failed", () => {
  it.effect("is left alone by all conversations, and tried again by one of them when its time has come", () =>
    Effect.gen(function* () {
      const troupe = yield* TestRuntime.TestRuntime
      yield* troupe.say("go", { chat: "a" })
      const other = yield* troupe.say("go", { chat: "b" })
      assert.deepStrictEqual(yield* asked, ["main", "spare", "spare"])
      assert.deepStrictEqual(switches(other.entries), [["main", "spare", "model:left-alone"]])
      yield* TestClock.adjust("30 seconds")
      const back = yield* troupe.say("go", { chat: "b" })
      assert.strictEqual(back.answer, "from main")
      assert.deepStrictEqual((yield* asked).slice(3), ["main"])
    }).pipe(
      Effect.provide(layer(({ index, model }) => (model === "main" && index === 0 ? [down] : [text(`from ${model}`)])))
    )
  )

  it.effect("is left alone as long as it asks to be", () =>
    Effect.gen(function* () {
      const troupe = yield* TestRuntime.TestRuntime
      yield* troupe.say("go")
      yield* TestClock.adjust("4 minutes")
      yield* troupe.say("go")
      yield* TestClock.adjust("1 minute")
      yield* troupe.say("go")
      assert.deepStrictEqual(yield* asked, ["main", "spare", "spare", "main"])
    }).pipe(
      Effect.provide(
        layer(({ index }) =>
          index === 0 ? [fail(new AiError.RateLimitError({ retryAfter: Duration.minutes(5) }))] : [text("ok")]
        )
      )
    )
  )

  it.effect("is gone back to within a turn, which says so", () =>
    Effect.gen(function* () {
      const { entries } = yield* say()
      assert.deepStrictEqual(answeredBy(entries), ["two/spare", "one/main"])
      assert.deepStrictEqual(switches(entries), [
        ["main", "spare", "model:provider-failed"],
        ["spare", "main", "model:back"]
      ])
    }).pipe(
      Effect.provide(
        layer(
          ({ index, model }) => {
            if (index === 0) return [down]
            return model === "spare" ? [toolCall("look", { text: "a" })] : [text("from main")]
          },
          { tools: Fixtures.tools(() => Effect.as(TestClock.adjust("1 minute"), "seen")) }
        )
      )
    )
  )
})

describe("a turn that changes its model between a call and its result", () => {
  it.effect("F080 runs the call once, and shows each model only what that model thought", () =>
    Effect.gen(function* () {
      const signed = (by: string) => ({ vendor: { signature: by } })
      const ran: Array<string> = []
      const thinking = (by: string) => [
        part({ type: "reasoning-start", id: "r" }),
        part({ type: "reasoning-delta", id: "r", delta: `thought of ${by}` }),
        part({ type: "reasoning-end", id: "r", metadata: signed(by) })
      ]
      const scripts = ({ index, model }: Scripted.Request): Scripted.Script => {
        if (index === 0) return [...thinking(model), toolCall("look", { text: "a" })]
        if (index === 1) return [down]
        if (index === 2) return [...thinking(model), toolCall("look", { text: "b" })]
        return [text("done")]
      }
      const passing = (handled: Fixtures.Handled) =>
        Effect.gen(function* () {
          ran.push(handled.text)
          if (handled.text === "b") yield* TestClock.adjust("1 minute")
          return handled.text
        })
      yield* Effect.gen(function* () {
        assert.strictEqual((yield* say()).answer, "done")
        assert.deepStrictEqual(ran, ["a", "b"])
        const { requests } = yield* ScriptedModel
        const thoughts = (yield* requests).map(({ model, prompt }) => [
          model,
          ...prompt.content.flatMap((message) =>
            message.role === "assistant"
              ? message.content.flatMap((item) => (item.type === "reasoning" ? [item.text] : []))
              : []
          )
        ])
        assert.deepStrictEqual(thoughts, [
          ["main"],
          ["main", "thought of main"],
          ["spare"],
          ["main", "thought of main"]
        ])
      }).pipe(Effect.provide(layer(scripts, { tools: Fixtures.tools(passing) })))
    })
  )
})
