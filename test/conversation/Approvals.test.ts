/** Questions to people in whole turns: what goes on meanwhile, and what a crash or an orderly end leaves of them. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import * as TestRuntime from "../../layers/testing/TestRuntime.ts"
import { Approvals } from "../../src/approval/Approvals.ts"
import * as Channels from "../../src/channel/Channels.ts"
import { Conversations } from "../../src/conversation/Conversations.ts"
import type * as Journal from "../../src/conversation/Journal.ts"
import { text, toolCall } from "../../src/testing/ScriptedModel.ts"
import type * as Scripted from "../../src/testing/ScriptedModel.ts"
import { answerTo } from "../approval/Answers.ts"
import * as Fixtures from "./Fixtures.ts"
import * as Lives from "./Lives.ts"

const { TestRuntime: Troupe } = TestRuntime

/** Makes the call until it has a result, then answers. */
const calling =
  (tool: string): Scripted.Scripts =>
  ({ prompt }) =>
    prompt.content.some(({ role }) => role === "tool") ? [text("done")] : [toolCall(tool, { text: "a" })]

const tools = ["pay", "order", "commit"] as const
const approval = { require_approval: [...tools], timeout_seconds: 600 }

const firstQuestion = (accepted: Journal.Accepted) =>
  Approvals.use((approvals) =>
    Effect.andThen(Effect.yieldNow, approvals.waiting(accepted.threadId)).pipe(
      Effect.map(([question]) => question),
      Effect.repeat({ until: (question) => question !== undefined }),
      Effect.flatMap((question) => (question === undefined ? Effect.die("no question") : Effect.succeed(question)))
    )
  )

const decide = (accepted: Journal.Accepted, answer: Parameters<Conversations["Service"]["decide"]>[1]) =>
  Conversations.use((conversations) => conversations.decide(accepted.threadId, answer))

const accept = Troupe.use((troupe) => troupe.accept("go", { externalId: "one" }))

/** More time than passes in the test while a process ends. */
const patient = { ...approval, timeout_seconds: 86_400 }

/** Lives whose tool counts how often it ran. */
const counting = (tool: string, how = patient) => {
  const ran: Array<string> = []
  const life: Lives.Make = () => ({
    scripts: calling(tool),
    settings: { runtime: { agent_timeout_seconds: 86_400 }, tools: { approval: how } },
    tools: Fixtures.tools((call) => Effect.sync(() => (ran.push(call.callId), "ran")))
  })
  return { ran, life }
}

/** A life in which a question waits, and that then ends. */
const asking = (store: Lives.Store, life: Lives.Make, end: typeof Lives.killedAt) =>
  Effect.gen(function* () {
    let at: Lives.At = () => Effect.void
    const asked = yield* Effect.sync(() => ({ question: undefined as unknown }))
    const make: Lives.Make = (told) => {
      at = told
      return life(told)
    }
    yield* end(
      store,
      "asked",
      make,
      Effect.gen(function* () {
        const accepted = yield* accept
        const question = yield* firstQuestion(accepted)
        asked.question = question
        yield* at("asked")
      })
    )
    return asked.question
  })

describe("a process that ends while a question waits", () => {
  for (const [how, end] of [
    ["is killed", Lives.killedAt],
    ["is asked to end", Lives.endedAt]
  ] as const) {
    for (const tool of tools) {
      it.effect(`${how}: the same question is answerable after the restart, once, and ${tool} runs on a yes`, () =>
        Effect.gen(function* () {
          const store = yield* Lives.makeStore
          const { life, ran } = counting(tool)
          const before = yield* asking(store, life, end)
          yield* Lives.whole(
            store,
            life,
            Effect.gen(function* () {
              const accepted = yield* accept
              const question = yield* firstQuestion(accepted)
              assert.deepStrictEqual<unknown>(question, before)
              yield* Effect.orDie(decide(accepted, answerTo(question, "approved")))
              const again = yield* Effect.orDie(Effect.flip(decide(accepted, answerTo(question, "approved"))))
              assert.strictEqual(again._tag, "ApprovalDecided")
              const { answer, entries } = yield* (yield* Troupe).outcome(accepted)
              assert.strictEqual(answer, "done")
              assert.deepStrictEqual(Fixtures.results(entries), [[tool, "completed", ""]])
            })
          )
          assert.lengthOf(ran, 1)
        })
      )

      it.effect(`${how}: a no after the restart is a denial of ${tool}, and nothing is in doubt`, () =>
        Effect.gen(function* () {
          const store = yield* Lives.makeStore
          const { life, ran } = counting(tool)
          yield* asking(store, life, end)
          yield* Lives.whole(
            store,
            life,
            Effect.gen(function* () {
              const accepted = yield* accept
              yield* Effect.orDie(decide(accepted, answerTo(yield* firstQuestion(accepted), "denied")))
              const { entries } = yield* (yield* Troupe).outcome(accepted)
              assert.deepStrictEqual(Fixtures.results(entries), [[tool, "denied", "tool_approval:denied"]])
            })
          )
          assert.lengthOf(ran, 0)
        })
      )
    }

    it.effect(`${how}: its time goes on, and nobody's silence is a yes`, () =>
      Effect.gen(function* () {
        const store = yield* Lives.makeStore
        const { life, ran } = counting("pay", approval)
        yield* asking(store, life, end)
        yield* TestClock.adjust("11 minutes")
        yield* Lives.whole(
          store,
          life,
          Effect.gen(function* () {
            const accepted = yield* accept
            const { answer, entries } = yield* Fixtures.whileTimePasses((yield* Troupe).outcome(accepted))
            assert.strictEqual(answer, "done")
            assert.deepStrictEqual(Fixtures.results(entries), [["pay", "denied", "tool_approval:denied"]])
          })
        )
        assert.lengthOf(ran, 0)
      })
    )

    it.effect(`${how}: a stop after the restart says that the call did not run`, () =>
      Effect.gen(function* () {
        const store = yield* Lives.makeStore
        const { life, ran } = counting("pay")
        yield* asking(store, life, end)
        yield* Lives.whole(
          store,
          life,
          Effect.gen(function* () {
            const accepted = yield* accept
            yield* firstQuestion(accepted)
            const conversations = yield* Conversations
            assert.strictEqual(yield* Effect.orDie(conversations.stop(accepted.threadId, "tester")), "stopped")
            const { entries } = yield* (yield* Troupe).outcome(accepted)
            // It depends on whether the turn had come to the call again.
            for (const [, outcome] of Fixtures.results(entries)) assert.include(["cancelled", "skipped"], outcome)
            assert.deepStrictEqual((yield* Effect.orDie(conversations.inspect(accepted.threadId))).approvals, [])
          })
        )
        assert.lengthOf(ran, 0)
      })
    )
  }
})

describe("a process that is killed after a yes", () => {
  it.effect("at whatever point: the call runs once or its outcome is not known, and never on another yes", () =>
    Effect.gen(function* () {
      let ranAtOnce = 0
      let ranAfter = 0
      for (let point = 1; ; point++) {
        const store = yield* Lives.makeStore
        const ran: Array<string> = []
        let questions = 0
        let current: Lives.At = () => Effect.void
        const life: Lives.Make = (at) => {
          current = at
          return {
            scripts: calling("pay"),
            settings: { tools: { approval: patient } },
            tools: Fixtures.tools((call) =>
              Effect.gen(function* () {
                yield* at("before pay")
                ran.push(call.callId)
                yield* at("after pay")
                return "ran"
              })
            )
          }
        }
        const died = yield* Lives.killedAt(
          store,
          point,
          life,
          Effect.gen(function* () {
            const accepted = yield* accept
            const question = yield* firstQuestion(accepted)
            yield* current("before the yes")
            yield* Effect.orDie(decide(accepted, answerTo(question, "approved")))
            yield* current("after the yes")
            yield* (yield* Troupe).outcome(accepted)
          })
        )
        const inFirst = ran.length
        const results = yield* Lives.whole(
          store,
          life,
          Effect.gen(function* () {
            const accepted = yield* accept
            const troupe = yield* Troupe
            const answering = Effect.gen(function* () {
              const question = yield* firstQuestion(accepted)
              questions += 1
              yield* Effect.ignore(decide(accepted, answerTo(question, "approved")))
              return yield* Effect.never
            })
            const { entries } = yield* Effect.raceFirst(Fixtures.whileTimePasses(troupe.outcome(accepted)), answering)
            return Fixtures.results(entries)
          })
        )
        const [result] = results
        assert.lengthOf(results, 1, died)
        assert.isAtMost(ran.length, 1, died)
        assert.isAtMost(questions, 1, died)
        if (result?.[1] === "completed") assert.lengthOf(ran, 1, died)
        else assert.strictEqual(result?.[1], "unknown", died)
        if (inFirst > 0) ranAtOnce += 1
        else if (ran.length > 0) ranAfter += 1
        if (died === "after the yes") assert.strictEqual(questions, 0, "the yes was kept")
        if (died === undefined) break
        assert.isBelow(point, 100)
      }
      assert.isAbove(ranAtOnce, 1)
      assert.isAbove(ranAfter, 1)
    })
  )
})

describe("while a question waits", () => {
  const runtime = (settings: TestRuntime.Options["settings"] = {}) =>
    TestRuntime.layer({
      scripts: ({ prompt }) => {
        const last = JSON.stringify(prompt.content.at(-1))
        return last.includes("hello") || prompt.content.some(({ role }) => role === "tool")
          ? [text("done")]
          : [toolCall("pay", { text: "a" })]
      },
      tools: Fixtures.echo,
      settings: { tools: { approval }, ...settings }
    })

  it.effect(
    "others' turns go on, though only one may run at a time, and the turn has its place again after a yes",
    () =>
      Effect.gen(function* () {
        const troupe = yield* Troupe
        const accepted = yield* accept
        const question = yield* firstQuestion(accepted)
        for (const chat of ["x", "y", "z"]) {
          assert.strictEqual((yield* troupe.say("hello", { chat })).answer, "done")
        }
        // Another that waits as well takes nothing either.
        const second = yield* troupe.accept("go", { chat: "other" })
        const other = yield* firstQuestion(second)
        yield* Effect.orDie(decide(accepted, answerTo(question, "approved")))
        assert.deepStrictEqual(Fixtures.results((yield* troupe.outcome(accepted)).entries), [["pay", "completed", ""]])
        yield* Effect.orDie(decide(second, answerTo(other, "denied")))
        assert.strictEqual((yield* troupe.outcome(second)).state, "answered")
      }).pipe(Effect.provide(runtime({ runtime: { max_concurrent_turns: 1 } })))
  )

  it.effect(
    "the conversation takes messages, and tells what it waits for; a stop ends it, and what came is answered next",
    () =>
      Effect.gen(function* () {
        const troupe = yield* Troupe
        const conversations = yield* Conversations
        const accepted = yield* accept
        yield* firstQuestion(accepted)
        const late = yield* troupe.accept("hello", { delivery: "after-turn" })
        const activity = yield* Effect.orDie(conversations.inspect(accepted.threadId))
        assert.deepStrictEqual([activity.waiting, activity.approvals.length], [1, 1])
        assert.strictEqual(yield* Effect.orDie(conversations.stop(accepted.threadId, "tester")), "stopped")
        assert.strictEqual((yield* troupe.outcome(late)).state, "answered")
        assert.deepStrictEqual(yield* (yield* Approvals).waiting(), [])
      }).pipe(Effect.provide(runtime()))
  )

  it.effect("F030 its end is a denial of that call alone: the turn goes on to an answer", () =>
    Effect.gen(function* () {
      const accepted = yield* accept
      yield* firstQuestion(accepted)
      yield* TestClock.adjust("10 minutes")
      const { answer, entries, state } = yield* (yield* Troupe).outcome(accepted)
      assert.deepStrictEqual([state, answer], ["answered", "done"])
      assert.deepStrictEqual(Fixtures.results(entries), [["pay", "denied", "tool_approval:denied"]])
    }).pipe(Effect.provide(runtime()))
  )

  it.effect("F029 it ends by itself, whoever has left, and its conversation is never locked", () =>
    Effect.gen(function* () {
      const troupe = yield* Troupe
      const channels = yield* Channels.Channels
      const gone = yield* Effect.gen(function* () {
        yield* Effect.orDie(
          channels.register({ name: "gone", capabilities: { approval: true, formatting: ["text"], files: false } })
        )
        const accepted = yield* troupe.accept("go", { channel: "gone" })
        yield* firstQuestion(accepted)
        return accepted
      }).pipe(Effect.scoped)
      yield* TestClock.adjust("12 seconds")
      assert.deepStrictEqual(Fixtures.results((yield* troupe.outcome(gone)).entries), [
        ["pay", "denied", "tool_approval:denied"]
      ])
      assert.strictEqual((yield* troupe.say("hello", { channel: "gone" })).answer, "done")
    }).pipe(Effect.provide(runtime()))
  )

  for (const source of ["person", "schedule"] as const) {
    it.effect(`F033 every way in is asked, and denied where nobody can be: a message of a ${source}`, () =>
      Effect.gen(function* () {
        const troupe = yield* Troupe
        const channels = yield* Channels.Channels
        yield* Effect.orDie(
          channels.register({ name: "batch", capabilities: { approval: false, formatting: ["text"], files: false } })
        )
        for (const channel of ["batch", "nowhere"]) {
          const { entries } = yield* troupe.say("go", { channel, source })
          assert.deepStrictEqual(Fixtures.results(entries), [["pay", "denied", "tool_approval:denied"]])
        }
      }).pipe(Effect.scoped, Effect.provide(runtime()))
    )
  }
})
