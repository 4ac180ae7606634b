import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import * as SqlClient from "effect/sql/SqlClient"
import * as AiError from "effect/ai/AiError"
import * as TestRuntime from "../../layers/testing/TestRuntime.ts"
import { Conversations } from "../../src/conversation/Conversations.ts"
import { end, fail, finish, never, reasoning, ScriptedModel, text, toolCall } from "../../src/testing/ScriptedModel.ts"
import type * as Scripted from "../../src/testing/ScriptedModel.ts"
import type * as Entry from "../../src/thread/Entry.ts"
import * as Threads from "../../src/thread/Threads.ts"
import * as Tool from "../../src/tool/Tool.ts"
import * as ToolRegistry from "../../src/tool/ToolRegistry.ts"
import { CurrentDatetime } from "../../src/tools/utility/CurrentDatetime.ts"
import { answerTo } from "../approval/Answers.ts"
import * as Fixtures from "./Fixtures.ts"

const say = (layer: ReturnType<typeof TestRuntime.layer>) =>
  Effect.flatMap(TestRuntime.TestRuntime, (troupe) => troupe.say("go")).pipe(Effect.provide(layer))

const reasonOf = (entries: ReadonlyArray<Entry.Entry>) =>
  entries.flatMap((entry) => (entry._tag === "TurnEnded" ? [entry.reason ?? entry.failure?.code ?? entry.state] : []))

/** A different call each time, so that no other limit speaks first. */
const forEver =
  (calls: number): Scripted.Scripts =>
  ({ index }) =>
    Array.from({ length: calls }, (_, nth) => toolCall("look", { text: `${index}.${nth}` }))

describe("a turn ends", () => {
  it.effect("after its steps, with words of its own and one result for each call", () =>
    Effect.gen(function* () {
      const outcome = yield* say(
        TestRuntime.layer({ scripts: forEver(1), tools: Fixtures.echo, settings: { llm: { max_tool_iterations: 3 } } })
      )
      assert.strictEqual(outcome.state, "failed")
      assert.deepStrictEqual(reasonOf(outcome.entries), ["max_steps"])
      assert.strictEqual(outcome.failure?.code, "turn:max_steps")
      assert.include(outcome.answer, "3 steps")
      assert.strictEqual(Fixtures.results(outcome.entries).length, 3)
    })
  )

  it.effect("before the response that would use up its calls, which is refused as a whole", () =>
    Effect.gen(function* () {
      const outcome = yield* say(
        TestRuntime.layer({ scripts: forEver(5), tools: Fixtures.echo, settings: { llm: { max_tool_iterations: 4 } } })
      )
      assert.deepStrictEqual(reasonOf(outcome.entries), ["max_tool_calls"])
      const results = Fixtures.results(outcome.entries)
      assert.deepStrictEqual(
        results.map(([, result]) => result),
        [...Array<string>(10).fill("completed"), ...Array<string>(5).fill("skipped")]
      )
    })
  )

  it.effect("F077 after three responses that were cut off, none of which is run", () =>
    Effect.gen(function* () {
      const ran: Array<string> = []
      const outcome = yield* say(
        TestRuntime.layer({
          scripts: ({ index }) =>
            index % 2 === 0
              ? [toolCall("look", `{"text": "whole ${index}"}`), finish("length")]
              : [toolCall("look", { text: `cut ${index}` }), end],
          tools: Fixtures.tools(({ text }) => Effect.sync(() => (ran.push(text), text)))
        })
      )
      assert.deepStrictEqual(ran, [])
      assert.deepStrictEqual(reasonOf(outcome.entries), ["truncated_tool_call"])
      assert.deepStrictEqual(
        Fixtures.results(outcome.entries),
        Array.from({ length: 3 }, () => ["look", "invalid", "invalid_tool_arguments"] as const)
      )
    })
  )

  it.effect("not for arguments that are readable but do not fit, and counts anew after a good call", () =>
    Effect.gen(function* () {
      const outcome = yield* say(
        TestRuntime.layer({
          scripts: ({ index }) => {
            if (index < 4) return [toolCall("look", { wrong: index })]
            if (index < 6) return [toolCall("look", `{"text": "never close ${index}`)]
            if (index === 6) return [toolCall("look", { text: "good" })]
            if (index < 9) return [toolCall("look", `{"text": "nor here ${index}`)]
            return [text("done")]
          },
          tools: Fixtures.echo
        })
      )
      assert.strictEqual(outcome.answer, "done")
    })
  )

  it.effect("when the model stays silent, however often it is asked, and keeps nothing empty", () =>
    Effect.gen(function* () {
      const outcome = yield* Fixtures.whileTimePasses(
        say(
          TestRuntime.layer({
            scripts: ({ index }) => (index % 2 === 0 ? [] : [text("  \n\u200b ")]),
            settings: { llm: { retry_attempts: 2 } }
          })
        )
      )
      assert.strictEqual(outcome.failure?.code, "model:empty_response")
      assert.include(outcome.failure?.message ?? "", "3 times")
      assert.notInclude(Fixtures.kinds(outcome.entries), "AssistantMessage")
    })
  )

  for (const [name, scripted, code, says] of [
    ["has nothing but its content rules to say", finish("content-filter"), "model:content-policy", "content rules"],
    ["uses up its output on thoughts", finish("length"), "model:empty_response", "max_new_tokens"]
  ] as const) {
    it.effect(`F081 at once when the provider ${name}`, () =>
      Effect.gen(function* () {
        const troupe = yield* TestRuntime.TestRuntime
        const outcome = yield* troupe.say("go")
        assert.strictEqual(outcome.failure?.code, code)
        assert.include(outcome.answer, says)
        assert.notInclude(Fixtures.kinds(outcome.entries), "AssistantMessage")
        assert.strictEqual((yield* troupe.say("again")).answer, "back")
      }).pipe(Effect.provide(TestRuntime.layer({ scripts: [[reasoning("Well …"), scripted], [text("back")]] })))
    )
  }

  it.effect("when the model fails, and the next message works", () =>
    Effect.gen(function* () {
      const troupe = yield* TestRuntime.TestRuntime
      const failed = yield* troupe.say("first")
      assert.strictEqual(failed.state, "failed")
      assert.strictEqual(failed.failure?.code, "model:authentication")
      assert.strictEqual((yield* troupe.say("second")).answer, "back")
    }).pipe(
      Effect.provide(
        TestRuntime.layer({
          scripts: [[fail(new AiError.AuthenticationError({ kind: "InvalidKey" }))], [text("back")]]
        })
      )
    )
  )

  it.effect("F074 a thousand times in a row, each for the same cost: nothing of it piles up", () =>
    Effect.gen(function* () {
      const troupe = yield* TestRuntime.TestRuntime
      const sql = yield* SqlClient.SqlClient
      const model = yield* ScriptedModel
      const stored = Effect.map(
        sql<{ readonly bytes: number }>`SELECT SUM(LENGTH(payload)) AS bytes FROM thread_entries`,
        ([row]) => row?.bytes ?? 0
      )
      const sizes: Array<number> = []
      let messages = 0
      for (const quarter of [1, 2, 3, 4]) {
        const accepted = yield* Effect.forEach(Array.from({ length: 250 }), () =>
          troupe.accept("are you there?", { delivery: "after-turn", externalId: `${quarter} ${messages++}` })
        )
        const last = accepted.at(-1)
        assert(last !== undefined)
        assert.strictEqual((yield* troupe.outcome(last)).state, "failed")
        sizes.push(yield* stored)
      }
      const grown = sizes.map((size, index) => size - (sizes[index - 1] ?? 0))
      for (const one of grown) assert.isBelow(one / 250, 1000, "bytes for a turn that failed")
      assert.strictEqual((yield* troupe.say("and now?")).answer, "here")
      const asked = (yield* model.requests).map(({ prompt }) => prompt.content.length)
      assert.strictEqual(asked.length, 1001)
      assert.isAtMost(Math.max(...asked), 5, "messages that the model reads")
    }).pipe(
      Effect.provide(
        TestRuntime.layer({
          scripts: ({ index }) =>
            index < 1000 ? [fail(new AiError.AuthenticationError({ kind: "InvalidKey" }))] : [text("here")]
        })
      )
    )
  )

  it.effect("F020 when something in the runtime breaks, even before it has begun", () =>
    Effect.gen(function* () {
      const troupe = yield* TestRuntime.TestRuntime
      const events = yield* Fixtures.recordEvents
      const outcome = yield* troupe.say("go")
      assert.strictEqual(outcome.state, "failed")
      assert.strictEqual(outcome.failure?.code, "turn:defect")
      assert.notInclude(outcome.failure?.message ?? "", "secret")
      assert.deepStrictEqual(Fixtures.kinds(outcome.entries), ["UserMessage", "TurnStarted", "Notice", "TurnEnded"])
      yield* events.until((event) => event._tag === "TurnFailed")
      assert.strictEqual(events.seen.filter((event) => event._tag === "TurnStarted").length, 1)
    }).pipe(
      Effect.provide(
        TestRuntime.layer({
          scripts: [],
          tools: ToolRegistry.layer(
            [CurrentDatetime],
            { current_datetime: () => Effect.die("never called") },
            { offeredWhen: () => assert.fail("a secret detail") }
          )
        })
      )
    )
  )

  it.effect("when its log cannot be read: each message of it has its outcome all the same", () =>
    Effect.gen(function* () {
      const troupe = yield* TestRuntime.TestRuntime
      const threads = yield* Threads.Threads
      const sql = yield* SqlClient.SqlClient
      const first = yield* troupe.say("hello")
      const row = {
        thread_id: first.threadId,
        seq: first.entries.length + 1,
        kind: "Notice",
        payload: "{}",
        created_at: 0
      }
      yield* sql`INSERT INTO thread_entries ${sql.insert(row)}`
      yield* sql`UPDATE threads SET next_seq = next_seq + 1 WHERE id = ${first.threadId}`
      for (const message of ["one", "two"]) {
        const { messageId } = yield* troupe.accept(message)
        yield* TestClock.adjust("1 second")
        const receipt = yield* threads.receipt(messageId)
        assert.strictEqual(receipt.state, "failed")
        assert.strictEqual(receipt.failure?.code, "turn:defect")
      }
      assert.strictEqual((yield* troupe.say("hello", { chat: "other" })).answer, "fine")
    }).pipe(Effect.provide(TestRuntime.layer({ scripts: () => [text("fine")] })))
  )

  it.effect("when its time is up: the running call is cancelled and has its result", () =>
    Effect.gen(function* () {
      const troupe = yield* TestRuntime.TestRuntime
      const accepted = yield* troupe.accept("go")
      const model = yield* ScriptedModel
      yield* model.awaitRequests(1)
      yield* TestClock.adjust("29 seconds")
      assert.strictEqual((yield* (yield* Conversations).inspect(accepted.threadId)).running?.steps, 1)
      yield* TestClock.adjust("2 seconds")
      const outcome = yield* troupe.outcome(accepted)
      assert.strictEqual(outcome.failure?.code, "turn:timeout")
      assert.deepStrictEqual(Fixtures.results(outcome.entries), [
        ["look", "cancelled", "tool:cancelled"],
        ["look", "skipped", "turn:ended"]
      ])
      assert.strictEqual((yield* troupe.say("again")).answer, "here")
    }).pipe(
      Effect.provide(
        TestRuntime.layer({
          scripts: [[toolCall("look", { text: "long" }), toolCall("look", { text: "after" })], [text("here")]],
          tools: Fixtures.tools(() => Effect.never),
          settings: { runtime: { agent_timeout_seconds: 30 } }
        })
      )
    )
  )

  it.effect("in a model response that does not come", () =>
    Effect.gen(function* () {
      const troupe = yield* TestRuntime.TestRuntime
      const accepted = yield* troupe.accept("go")
      yield* (yield* ScriptedModel).awaitRequests(1)
      yield* TestClock.adjust("31 seconds")
      const outcome = yield* troupe.outcome(accepted)
      assert.strictEqual(outcome.failure?.code, "turn:timeout")
    }).pipe(
      Effect.provide(
        TestRuntime.layer({
          scripts: [[text("well"), never]],
          settings: { runtime: { agent_timeout_seconds: 30 } }
        })
      )
    )
  )
})

describe("a turn goes on", () => {
  it.effect("with one correction for a failure that repeats", () =>
    Effect.gen(function* () {
      const outcome = yield* say(
        TestRuntime.layer({
          scripts: ({ index }) =>
            index < 4 ? [toolCall("look", { text: index < 2 ? "broken" : `other ${index}` })] : [text("it is broken")],
          tools: Fixtures.tools(({ text }) => (text === "broken" ? Effect.fail("broken") : Effect.succeed(text)))
        })
      )
      assert.strictEqual(outcome.answer, "it is broken")
      const guidance = outcome.entries.filter((entry) => entry._tag === "Guidance")
      assert.strictEqual(guidance.length, 1)
      assert.include(guidance[0]?.text ?? "", "look")
    })
  )

  it.effect("when a tool may not be called again in the same turn", () =>
    Effect.gen(function* () {
      const outcome = yield* say(
        TestRuntime.layer({
          scripts: ({ index }) => (index < 3 ? [toolCall("rare", { text: `${index}` })] : [text("enough")]),
          tools: Fixtures.echo
        })
      )
      assert.deepStrictEqual(
        Fixtures.results(outcome.entries).map(([, result, code]) => [result, code]),
        [
          ["completed", ""],
          ["completed", ""],
          ["failed", "tool:per_turn_limit"]
        ]
      )
    })
  )

  it.effect("when a person has taken their time: the time of the call is that of its work", () =>
    Effect.gen(function* () {
      const troupe = yield* TestRuntime.TestRuntime
      const events = yield* Fixtures.recordEvents
      const accepted = yield* troupe.accept("go")
      yield* events.until((event) => event._tag === "ApprovalRequested")
      yield* TestClock.adjust("50 seconds")
      const conversations = yield* Conversations
      const { approvals } = yield* conversations.inspect(accepted.threadId)
      for (const question of approvals) {
        yield* conversations.decide(accepted.threadId, answerTo(question, "approved"))
      }
      yield* events.until((event) => event._tag === "ApprovalResolved")
      yield* TestClock.adjust("3 seconds")
      const { entries } = yield* troupe.outcome(accepted)
      assert.deepStrictEqual(
        entries.flatMap((entry) => (entry._tag === "ToolResult" ? [[entry.outcome, entry.durationMillis]] : [])),
        [["completed", 3000]]
      )
    }).pipe(
      Effect.provide(
        TestRuntime.layer({
          scripts: [[toolCall("pay", { text: "b" })], [text("paid")]],
          settings: { tools: { approval: { require_approval: ["pay"] } } },
          tools: Fixtures.tools(({ text }) => Effect.delay(Effect.succeed(text), "3 seconds"))
        })
      )
    )
  )

  it.effect("when a call is denied: the others of its response are not run and nobody is asked about them", () =>
    Effect.gen(function* () {
      const troupe = yield* TestRuntime.TestRuntime
      const events = yield* Fixtures.recordEvents
      const accepted = yield* troupe.accept("go")
      yield* events.until((event) => event._tag === "ApprovalRequested")
      const conversations = yield* Conversations
      const { approvals } = yield* conversations.inspect(accepted.threadId)
      for (const question of approvals) {
        yield* conversations.decide(accepted.threadId, answerTo(question, "denied"))
      }
      const outcome = yield* troupe.outcome(accepted)
      assert.strictEqual(outcome.answer, "understood")
      assert.deepStrictEqual(Fixtures.results(outcome.entries), [
        ["look", "completed", ""],
        ["pay", "denied", "tool_approval:denied"],
        ["pay", "skipped", "turn:after_denial"],
        ["look", "skipped", "turn:after_denial"]
      ])
      assert.strictEqual(events.seen.filter((event) => event._tag === "ApprovalRequested").length, 1)
    }).pipe(
      Effect.provide(
        TestRuntime.layer({
          scripts: [
            [
              toolCall("look", { text: "a" }),
              toolCall("pay", { text: "b" }),
              toolCall("pay", { text: "c" }),
              toolCall("look", { text: "d" })
            ],
            [text("understood")]
          ],
          tools: Fixtures.echo,
          settings: { tools: { approval: { require_approval: ["pay"] } } }
        })
      )
    )
  )

  it.effect("while a person is asked, however long that takes", () =>
    Effect.gen(function* () {
      const troupe = yield* TestRuntime.TestRuntime
      const events = yield* Fixtures.recordEvents
      const accepted = yield* troupe.accept("go")
      yield* events.until((event) => event._tag === "ApprovalRequested")
      yield* TestClock.adjust("200 seconds")
      const conversations = yield* Conversations
      const { approvals } = yield* conversations.inspect(accepted.threadId)
      assert.strictEqual(approvals.length, 1)
      const elsewhere = yield* troupe.accept("hello", { chat: "elsewhere" })
      for (const question of approvals) {
        const astray = conversations.decide(elsewhere.threadId, answerTo(question, "approved"))
        assert.strictEqual((yield* Effect.flip(astray))._tag, "ApprovalNotFound")
        yield* conversations.decide(accepted.threadId, answerTo(question, "approved"))
      }
      const outcome = yield* troupe.outcome(accepted)
      assert.strictEqual(outcome.answer, "paid")
    }).pipe(
      Effect.provide(
        TestRuntime.layer({
          scripts: [[toolCall("pay", { text: "b" })], [text("paid")], [text("paid")]],
          tools: Fixtures.echo,
          settings: {
            runtime: { agent_timeout_seconds: 30 },
            tools: { approval: { require_approval: ["pay"], timeout_seconds: 900 } }
          }
        })
      )
    )
  )

  it.effect("with tools that have odd names or arguments, in a history that every provider takes", () =>
    Effect.gen(function* () {
      const outcome = yield* say(
        TestRuntime.layer({
          scripts: ({ index }) => {
            if (index === 0) return [toolCall("no such tool!", { text: "x" }), toolCall("", { "\ud800": "\0" })]
            if (index === 1) return [toolCall("y".repeat(300), "not json \ud83d"), toolCall("look", [1, 2])]
            if (index === 2) return [text("half \ud83d and \0"), toolCall("look", { text: "\ud83d\0" })]
            if (index === 3) return ["constructor", "__proto__", "toString"].map((name) => toolCall(name, {}))
            return [text("fine")]
          },
          tools: Fixtures.tools(({ text }) => Effect.succeed(`${text} \ud800\0`))
        })
      )
      assert.strictEqual(outcome.answer, "fine")
      assert.strictEqual(Fixtures.results(outcome.entries).length, 8)
    })
  )
})

const Progress = Tool.make("progress", {
  description: "How far the work is.",
  parameters: Schema.Struct({}),
  success: Schema.Struct({ done: Schema.Int }),
  failure: Tool.NoFailure,
  limits: { timeout: "1 second", output: { maxChars: 100 } },
  cancellation: "interruptible",
  replay: "safe",
  capabilities: [],
  polling: true
})

const Run = Tool.make("run", {
  description: "Runs a command.",
  parameters: Schema.Struct({ command: Schema.String, label: Schema.String }),
  success: Schema.Struct({ output: Schema.String }),
  failure: Tool.NoFailure,
  limits: { timeout: "1 second", output: { maxChars: 100 } },
  cancellation: "interruptible",
  replay: "unknown",
  capabilities: [],
  identifiedBy: ["command"]
})

/** What a model that goes in circles asks for, response by response, and what comes of it. */
const circling = Effect.fnUntraced(function* (respond: (index: number) => Scripted.Step) {
  let calls = 0
  const note = <A>(said: A) => Effect.sync(() => (calls++, said))
  const outcome = yield* say(
    TestRuntime.layer({
      scripts: ({ index }) => (index < 50 ? [respond(index)] : [text("enough")]),
      settings: { llm: { max_tool_iterations: 60 } },
      tools: Layer.mergeAll(
        Fixtures.tools(({ text, tool }) => note(tool === "look" && text.startsWith("echo") ? text : "nothing")),
        ToolRegistry.layer([Progress, Run], {
          progress: () => note({ done: 1 }),
          run: () => note({ output: "ok" })
        })
      )
    })
  )
  const warnings = outcome.entries.filter((entry) => entry._tag === "Guidance").map((entry) => entry.text)
  return { calls, warnings, outcome, reason: reasonOf(outcome.entries)[0] }
})

describe("F141 a model that makes the same call with the same result, again and again", () => {
  it.effect("is warned the second time, and stopped the third", () =>
    Effect.gen(function* () {
      const { calls, outcome, reason, warnings } = yield* circling(() => toolCall("look", { text: "echo" }))
      assert.deepStrictEqual([calls, warnings.length, reason], [3, 1, "repeated_iteration"])
      assert.deepStrictEqual([outcome.state, outcome.failure?.code], ["failed", "turn:repeated_iteration"])
      assert.include(warnings[0] ?? "", "2 times")
      assert.include(outcome.answer, "look")
      assert.include(outcome.answer, "echo")
    })
  )

  it.effect("is found out when it does two things in turn, or three", () =>
    Effect.gen(function* () {
      for (const period of [2, 3]) {
        const { calls, reason, warnings } = yield* circling((index) =>
          toolCall("look", { text: `echo ${index % period}` })
        )
        assert.deepStrictEqual([calls, warnings.length, reason], [3 * period, 1, "repeated_iteration"])
      }
    })
  )

  it.effect("is found out, later, when it changes only a label", () =>
    Effect.gen(function* () {
      const { calls, reason, warnings } = yield* circling((index) =>
        toolCall("run", { command: "ls", label: `List files, try ${index}` })
      )
      assert.deepStrictEqual([calls, warnings.length, reason], [8, 1, "repeated_iteration"])
    })
  )

  it.effect("is found out, later, when it goes on looking where nothing is", () =>
    Effect.gen(function* () {
      const { calls, reason, warnings } = yield* circling((index) => toolCall("look", { text: `place ${index}` }))
      assert.deepStrictEqual([calls, warnings.length, reason], [8, 1, "repeated_iteration"])
    })
  )

  it.effect("is let be when it changes fifty things, each with the same word of success", () =>
    Effect.gen(function* () {
      const { calls, outcome, warnings } = yield* circling((index) => toolCall("pay", { text: `person ${index}` }))
      assert.deepStrictEqual([calls, warnings.length, outcome.answer], [50, 0, "enough"])
    })
  )

  it.effect("is let be with a tool that is made for it", () =>
    Effect.gen(function* () {
      const { calls, outcome, warnings } = yield* circling(() => toolCall("progress"))
      assert.deepStrictEqual([calls, warnings.length, outcome.answer], [50, 0, "enough"])
    })
  )

  it.effect("is let be when it waits between two looks", () =>
    Effect.gen(function* () {
      const { calls, outcome, warnings } = yield* circling((index) =>
        index % 2 === 0 ? toolCall("look", { text: "echo" }) : toolCall("progress")
      )
      assert.deepStrictEqual([calls, warnings.length, outcome.answer], [50, 0, "enough"])
    })
  )
})
