import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as TestRuntime from "../../layers/testing/TestRuntime.ts"
import * as ChatHistory from "../../layers/tools/history/ChatHistory.ts"
import * as Channels from "../../src/channel/Channels.ts"
import * as Outbox from "../../src/channel/Outbox.ts"
import { gate, run, ScriptedModel, text, toolCall } from "../../src/testing/ScriptedModel.ts"
import type * as Scripted from "../../src/testing/ScriptedModel.ts"
import * as Threads from "../../src/thread/Threads.ts"
import * as Fixtures from "./Fixtures.ts"

const { TestRuntime: Troupe } = TestRuntime

/** What people said in each request to the model. */
const heard = Effect.gen(function* () {
  const prompts = yield* (yield* ScriptedModel).received
  return prompts.map((prompt) =>
    prompt.content.flatMap((message) =>
      message.role === "user" ? message.content.flatMap((part) => (part.type === "text" ? [part.text] : [])) : []
    )
  )
})

/** Something that happens at a point of the story, which is written before the runtime is there. */
const later = Effect.gen(function* () {
  const effect = yield* Deferred.make<Effect.Effect<void>>()
  return {
    happens: Effect.flatten(Deferred.await(effect)),
    is: (what: Effect.Effect<unknown>) => Deferred.succeed(effect, Effect.asVoid(what))
  }
})

/** Two calls of a tool, during the first of which something happens, and answers that name their request. */
const twoCalls = (during: Effect.Effect<void>): TestRuntime.Options => ({
  scripts: ({ index }) =>
    index === 0
      ? [toolCall("look", { text: "first" }), toolCall("look", { text: "second" })]
      : [text(`answer ${index}`)],
  tools: Fixtures.tools(({ text }) => Effect.as(text === "first" ? during : Effect.void, text))
})

describe("a message for a running turn", () => {
  it.effect("is seen before the next call when it is urgent; the calls after the running one are skipped", () =>
    Effect.gen(function* () {
      const arrival = yield* later
      yield* Effect.gen(function* () {
        const troupe = yield* Troupe
        yield* arrival.is(troupe.accept("stop that", { delivery: "now" }))
        const { answer, entries } = yield* troupe.say("go")
        assert.strictEqual(answer, "answer 1")
        assert.deepStrictEqual(Fixtures.results(entries), [
          ["look", "completed", ""],
          ["look", "skipped", "turn:newer_message"]
        ])
        assert.deepStrictEqual(yield* heard, [["go"], ["go", "stop that"]])
        assert.deepStrictEqual(Fixtures.kinds(entries), [
          "UserMessage",
          "TurnStarted",
          "AssistantMessage",
          "UserMessage",
          "ToolResult",
          "ToolResult",
          "MessagesFolded",
          "AssistantMessage",
          "TurnEnded"
        ])
      }).pipe(Effect.provide(TestRuntime.layer(twoCalls(arrival.happens))))
    })
  )

  it.effect("waits for the calls when it is not", () =>
    Effect.gen(function* () {
      const arrival = yield* later
      yield* Effect.gen(function* () {
        const troupe = yield* Troupe
        yield* arrival.is(troupe.accept("by the way", { delivery: "after-tool" }))
        const { entries } = yield* troupe.say("go")
        assert.deepStrictEqual(
          Fixtures.results(entries).map(([, outcome]) => outcome),
          ["completed", "completed"]
        )
        assert.deepStrictEqual(yield* heard, [["go"], ["go", "by the way"]])
      }).pipe(Effect.provide(TestRuntime.layer(twoCalls(arrival.happens))))
    })
  )

  for (const message of [{ delivery: "after-turn" }, { source: "task" }, { source: "schedule" }] as const) {
    it.effect(`gets a turn of its own: ${JSON.stringify(message)}`, () =>
      Effect.gen(function* () {
        const arrival = yield* later
        yield* Effect.gen(function* () {
          const troupe = yield* Troupe
          const accepted = yield* Deferred.make<Effect.Success<ReturnType<typeof troupe.accept>>>()
          yield* arrival.is(
            Effect.flatMap(troupe.accept("another thing", message), (it) => Deferred.succeed(accepted, it))
          )
          const first = yield* troupe.say("go")
          const second = yield* troupe.outcome(yield* Deferred.await(accepted))
          assert.deepStrictEqual([first.answer, second.answer], ["answer 1", "answer 2"])
          assert.notInclude(Fixtures.kinds(second.entries), "MessagesFolded")
          assert.deepStrictEqual(yield* heard, [["go"], ["go"], ["go", "another thing"]])
        }).pipe(Effect.provide(TestRuntime.layer(twoCalls(arrival.happens))))
      })
    )
  }

  for (const source of ["task", "schedule"] as const) {
    it.effect(`waits when the turn is that of a ${source}`, () =>
      Effect.gen(function* () {
        const arrival = yield* later
        yield* Effect.gen(function* () {
          const troupe = yield* Troupe
          const accepted = yield* Deferred.make<Effect.Success<ReturnType<typeof troupe.accept>>>()
          yield* arrival.is(Effect.flatMap(troupe.accept("hello?"), (it) => Deferred.succeed(accepted, it)))
          const first = yield* troupe.say("result", { source })
          assert.deepStrictEqual(
            Fixtures.results(first.entries).map(([, outcome]) => outcome),
            ["completed", "completed"]
          )
          assert.strictEqual((yield* troupe.outcome(yield* Deferred.await(accepted))).answer, "answer 2")
          assert.deepStrictEqual(yield* heard, [["result"], ["result"], ["result", "hello?"]])
        }).pipe(Effect.provide(TestRuntime.layer(twoCalls(arrival.happens))))
      })
    )
  }

  it.effect("F026 that comes with the answer is answered as well, and both answers are sent", () =>
    Effect.gen(function* () {
      const arrival = yield* later
      const sent: Array<Outbox.Delivery> = []
      const layer = TestRuntime.layer({
        scripts: [[text("first"), run(arrival.happens), text(" answer")], [text("second answer")]]
      })
      yield* Effect.gen(function* () {
        const channels = yield* Channels.Channels
        const done = yield* Deferred.make<void>()
        yield* channels.register({
          name: "push",
          capabilities: { approval: false, formatting: ["text"], files: false },
          deliver: (delivery) =>
            Effect.suspend(() => (sent.push(delivery) === 2 ? Deferred.succeed(done, undefined) : Effect.void)).pipe(
              Effect.asVoid
            )
        })
        const troupe = yield* Troupe
        yield* arrival.is(troupe.accept("wait, also", { channel: "push" }))
        const { entries } = yield* troupe.say("go", { channel: "push" })
        assert.deepStrictEqual(Fixtures.kinds(entries), [
          "UserMessage",
          "TurnStarted",
          "UserMessage",
          "AssistantMessage",
          "MessagesFolded",
          "AssistantMessage",
          "TurnEnded"
        ])
        yield* Fixtures.whileTimePasses(Deferred.await(done))
        assert.deepStrictEqual(
          sent.map((delivery) => delivery.text),
          ["first answer", "second answer"]
        )
      }).pipe(Effect.scoped, Effect.provide(layer))
    })
  )

  it.effect("that comes with the last answer that is allowed gets a turn of its own", () =>
    Effect.gen(function* () {
      const arrival = yield* later
      const layer = TestRuntime.layer({
        scripts: ({ index }) =>
          index === 0
            ? [toolCall("look", { text: "a" })]
            : [text(`answer ${index}`), ...(index === 1 ? [run(arrival.happens)] : [])],
        tools: Fixtures.echo,
        settings: { llm: { max_tool_iterations: 2 } }
      })
      yield* Effect.gen(function* () {
        const troupe = yield* Troupe
        const accepted = yield* Deferred.make<Effect.Success<ReturnType<typeof troupe.accept>>>()
        yield* arrival.is(Effect.flatMap(troupe.accept("wait, also"), (it) => Deferred.succeed(accepted, it)))
        const first = yield* troupe.say("go")
        assert.strictEqual(first.answer, "answer 1")
        assert.strictEqual((yield* troupe.outcome(yield* Deferred.await(accepted))).answer, "answer 2")
        assert.strictEqual(first.state, "answered")
      }).pipe(Effect.provide(layer))
    })
  )

  it.effect("joins others that waited with it, in the order in which they came", () =>
    Effect.gen(function* () {
      const open = yield* Deferred.make<void>()
      const layer = TestRuntime.layer({
        scripts: ({ index }): Scripted.Script =>
          index === 0 ? [gate(open), text("task done")] : [text(`answer ${index}`)]
      })
      yield* Effect.gen(function* () {
        const troupe = yield* Troupe
        yield* troupe.accept("task", { source: "task" })
        yield* (yield* ScriptedModel).awaitRequests(1)
        const messages = yield* Effect.forEach(["a", "b"], (message) => troupe.accept(message))
        const own = yield* troupe.accept("own", { delivery: "after-turn" })
        const last = yield* troupe.accept("c", { delivery: "after-tool" })
        yield* Deferred.succeed(open, undefined)
        yield* Effect.forEach([...messages, own, last], troupe.outcome)
        assert.deepStrictEqual(yield* heard, [["task"], ["task", "a", "b", "c"], ["task", "a", "b", "c", "own"]])
        const threads = yield* Threads.Threads
        const receipts = yield* Effect.forEach([...messages, own, last], ({ messageId }) => threads.receipt(messageId))
        assert.strictEqual(new Set(receipts.map(({ turnId }) => turnId)).size, 2)
      }).pipe(Effect.provide(layer))
    })
  )

  it.effect("does not join what began before it alone, but what comes later does", () =>
    Effect.gen(function* () {
      const open = yield* Deferred.make<void>()
      const arrival = yield* later
      const layer = TestRuntime.layer({
        scripts: ({ index }): Scripted.Script => {
          if (index === 0) return [gate(open), text("first")]
          return index === 1 ? [run(arrival.happens), toolCall("look", { text: "a" })] : [text(`answer ${index}`)]
        },
        tools: Fixtures.echo
      })
      yield* Effect.gen(function* () {
        const troupe = yield* Troupe
        yield* troupe.accept("task", { source: "task" })
        yield* (yield* ScriptedModel).awaitRequests(1)
        yield* arrival.is(troupe.accept("later"))
        yield* troupe.accept("own", { delivery: "after-turn" })
        const beside = yield* troupe.accept("beside")
        yield* Deferred.succeed(open, undefined)
        yield* troupe.outcome(beside)
        assert.deepStrictEqual(yield* heard, [
          ["task"],
          ["task", "own"],
          ["task", "own", "later"],
          ["task", "own", "later", "beside"]
        ])
      }).pipe(Effect.provide(layer))
    })
  )
})

describe("a message that comes in while the agent puts the past out of its sight", () => {
  for (const delivery of ["now", "after-turn"] as const) {
    it.effect(`F086 is on one side of the border and answered, whenever it comes (${delivery})`, () =>
      Effect.gen(function* () {
        for (let moment = 1; yield* forgetting(moment, delivery); moment++) assert.isBelow(moment, 100)
      })
    )
  }
})

/** Runs a turn that trims the history, with a message at the nth moment of it. False when it has fewer. */
const forgetting = Effect.fnUntraced(function* (nth: number, delivery: "now" | "after-turn") {
  let moments = 0
  let armed = false
  const arrival = yield* later
  const at = () => Effect.suspend(() => (armed && ++moments === nth ? arrival.happens : Effect.void))
  const layer = TestRuntime.layer({
    scripts: ({ prompt }) =>
      JSON.stringify(prompt.content).includes('"forget"') && !prompt.content.some(({ role }) => role === "tool")
        ? [toolCall("chat_history_trim", { keep_latest: 0 })]
        : [text("yes")],
    tools: ChatHistory.layer,
    journal: (journal) => Fixtures.around(journal, at)
  })
  return yield* Effect.gen(function* () {
    const troupe = yield* Troupe
    const threads = yield* Threads.Threads
    yield* troupe.say("before")
    yield* arrival.is(troupe.accept("new", { externalId: "new", delivery }))
    armed = true
    yield* troupe.say("forget")
    if (moments < nth) return false
    armed = false
    // The same message once more: it has been accepted.
    const accepted = yield* troupe.accept("new", { externalId: "new", delivery })
    const { entries } = yield* troupe.outcome(accepted)
    // A call that a newer message came before was not run.
    const trimmed = entries.some(({ _tag }) => _tag === "HistoryTrimmed")
    assert.strictEqual((yield* threads.receipt(accepted.messageId)).state, "answered", `moment ${nth}`)
    const requests = yield* heard
    assert.isTrue(
      requests.some((said) => said.includes("new")),
      `moment ${nth}`
    )
    assert.strictEqual(requests.at(-1)?.includes("before"), !trimmed, `moment ${nth}`)
    return true
  }).pipe(Effect.provide(layer))
})
