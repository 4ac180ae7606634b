/** Answers that are not what they should be: a call written into one, and one that needed a tool and used none. */
import { assert, describe, it } from "@effect/vitest"
import * as AiError from "effect/ai/AiError"
import * as Effect from "effect/Effect"
import * as TestRuntime from "../../layers/testing/TestRuntime.ts"
import * as Channels from "../../src/channel/Channels.ts"
import { Outbox } from "../../src/channel/Outbox.ts"
import * as Scripted from "../../src/testing/ScriptedModel.ts"
import type * as Entry from "../../src/thread/Entry.ts"
import * as Fixtures from "./Fixtures.ts"
import * as Lives from "./Lives.ts"

const { TestRuntime: Troupe } = TestRuntime
const { fail, finish, never, text, toolCall } = Scripted

const written = '<tool_call>{"name": "look", "arguments": {"text": "a"}}</tool_call>'

const layer = (
  scripts: Scripted.Scripts,
  guardrail: "disabled" | "llm_classifier" = "disabled",
  options: Partial<TestRuntime.Options> = {}
) =>
  TestRuntime.layer({
    scripts,
    tools: Fixtures.echo,
    settings: { orchestration: { main_tool_use_guardrail: guardrail } },
    ...options
  })

const say = Effect.flatMap(Troupe, (troupe) => troupe.say("go"))
const of = <Tag extends Entry.EntryKind>(entries: ReadonlyArray<Entry.Entry>, tag: Tag) =>
  entries.filter((entry): entry is Extract<Entry.Entry, { _tag: Tag }> => entry._tag === tag)

/** What a push channel was sent. */
const sent = Effect.gen(function* () {
  const channels = yield* Channels.Channels
  const capabilities = { approval: false, formatting: ["text"], files: false } as const
  const texts: Array<string> = []
  yield* Effect.orDie(
    channels.register({
      name: "push",
      capabilities,
      deliver: (delivery) => Effect.sync(() => void texts.push(delivery.text))
    })
  )
  const troupe = yield* Troupe
  const outcome = yield* troupe.say("go", { channel: "push" })
  const outbox = yield* Outbox
  yield* Fixtures.whileTimePasses(
    Effect.repeat(Effect.andThen(Effect.yieldNow, outbox.pending), { until: (left) => left.length === 0 })
  )
  return { texts, outcome }
})

describe("an answer with a tool call written into it", () => {
  it.effect("is taken back, the model is told, and its next answer counts", () =>
    Effect.gen(function* () {
      const { outcome, texts } = yield* sent
      assert.deepStrictEqual([outcome.state, outcome.answer], ["answered", "done"])
      assert.deepStrictEqual(texts, ["done"])
      assert.include(of(outcome.entries, "Guidance")[0]?.text ?? "", "written as text")
      assert.deepStrictEqual(
        Fixtures.results(outcome.entries).map(([name]) => name),
        ["look"]
      )
    }).pipe(Effect.provide(layer([[text(written)], [toolCall("look", { text: "a" })], [text("done")]])))
  )

  it.effect("is given as it is when the model will have it so", () =>
    Effect.gen(function* () {
      const outcome = yield* say
      assert.deepStrictEqual([outcome.state, outcome.answer], ["answered", written])
      assert.strictEqual(of(outcome.entries, "AssistantMessage").length, 3)
    }).pipe(Effect.provide(layer(() => [text(written)])))
  )

  it.effect("is given as it is when no step is left", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* say).answer, written)
    }).pipe(Effect.provide(layer([[text(written)]], "disabled", { settings: { llm: { max_tool_iterations: 1 } } })))
  )
})

const isForVerdict = ({ prompt }: Scripted.Request): boolean => JSON.stringify(prompt.content).includes("<answer>")
const verdict = (needed: boolean, tool: string | null = "look") =>
  JSON.stringify({ requires_tools: needed, suggested_tool: tool, path: null, reason: "it says so" })

/** Answers and verdicts, each in order. */
const judging = (
  steps: ReadonlyArray<Scripted.Script>,
  verdicts: ReadonlyArray<string | Scripted.Script>
): Scripted.Scripts => {
  let step = 0
  let asked = 0
  return (request) => {
    if (!isForVerdict(request)) return steps[step++] ?? [text("no more steps")]
    const said = verdicts[asked++] ?? "no more verdicts"
    return typeof said === "string" ? [text(said), finish("stop", { input: 100, output: 7 })] : said
  }
}

const promised = [text("I have looked, all is well.")]
const requests = Effect.flatMap(Scripted.ScriptedModel, (model) => model.requests)

describe("an answer without a tool, where the settings have it judged", () => {
  it.effect("is given when it needed none, and what the judgement took is counted", () =>
    Effect.gen(function* () {
      const events = yield* Fixtures.recordEvents
      const outcome = yield* say
      assert.deepStrictEqual([outcome.state, outcome.answer], ["answered", "Hello!"])
      assert.deepInclude(of(outcome.entries, "ToolUseJudged")[0], { needed: false, reason: "it says so", step: 1 })
      yield* events.until(({ _tag }) => _tag === "TurnCompleted")
      const completed = events.seen.find((event) => event._tag === "TurnCompleted")
      assert.deepInclude(completed?.usage, { inputTokens: 110, outputTokens: 12 })
      const question = (yield* requests)[1]
      assert.deepStrictEqual(question?.tools, [])
      const put = JSON.stringify(question?.prompt.content)
      for (const part of ["<request>\\ngo", "Hello!", "look"]) assert.include(put, part)
    }).pipe(Effect.provide(layer(judging([[text("Hello!")]], [verdict(false)]), "llm_classifier")))
  )

  it.effect("is asked for once more when it needed one, and is not sent", () =>
    Effect.gen(function* () {
      const { outcome, texts } = yield* sent
      assert.deepStrictEqual([outcome.state, outcome.answer], ["answered", "now it is done"])
      assert.deepStrictEqual(texts, ["now it is done"])
      assert.include(of(outcome.entries, "Guidance")[0]?.text ?? "", "look may be the one")
    }).pipe(
      Effect.provide(
        layer(
          judging([promised, [toolCall("look", { text: "a" })], [text("now it is done")]], [verdict(true)]),
          "llm_classifier"
        )
      )
    )
  )

  it.effect("is not given when the next one needed a tool as well, and used none", () =>
    Effect.gen(function* () {
      const { outcome, texts } = yield* sent
      assert.deepStrictEqual([outcome.state, outcome.failure?.code], ["failed", "turn:unverified_answer"])
      assert.strictEqual(texts.length, 1)
      assert.include(texts[0] ?? "", "could not verify")
    }).pipe(Effect.provide(layer(judging([promised, promised], [verdict(true), verdict(true)]), "llm_classifier")))
  )

  it.effect("is given when the next one says plainly what is not possible", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* say).answer, "I cannot look.")
    }).pipe(
      Effect.provide(
        layer(judging([promised, [text("I cannot look.")]], [verdict(true), verdict(false)]), "llm_classifier")
      )
    )
  )

  it.effect("is given when nobody can judge it: bad verdicts, three at most, or a model that fails", () =>
    Effect.gen(function* () {
      const extra = JSON.stringify({ requires_tools: true, confidence: 1 })
      const broken = [fail(new AiError.InternalProviderError({ description: "broken" }))]
      for (const verdicts of [
        ["yes", extra, "{}", verdict(true)],
        [broken, broken, broken, broken, broken]
      ]) {
        const outcome = yield* Fixtures.whileTimePasses(say).pipe(
          Effect.provide(layer(judging([promised], verdicts), "llm_classifier"))
        )
        assert.deepStrictEqual([outcome.state, outcome.answer], ["answered", "I have looked, all is well."])
        assert.deepStrictEqual(of(outcome.entries, "ToolUseJudged"), [])
      }
    })
  )

  it.effect("is given when the verdict does not come, and when the time of the turn is up meanwhile", () =>
    Effect.gen(function* () {
      for (const before of ["1 second", "100 seconds"] as const) {
        const outcome = yield* Fixtures.whileTimePasses(say, "1 second").pipe(
          Effect.provide(layer(judging([[Scripted.delay(before), ...promised]], [[never]]), "llm_classifier"))
        )
        assert.deepStrictEqual([outcome.state, outcome.answer], ["answered", "I have looked, all is well."])
      }
    })
  )

  it.effect("is not judged when a tool was used, though not for declaring how it is shown", () =>
    Effect.gen(function* () {
      const used = yield* Effect.provide(
        Effect.andThen(say, requests),
        layer(judging([[toolCall("look", { text: "a" })], promised], []), "llm_classifier")
      )
      assert.deepStrictEqual(used.map(isForVerdict), [false, false])
      const declared = yield* Effect.provide(
        Effect.andThen(say, requests),
        layer(judging([[toolCall("pre_response", { kind: "text" })], promised], [verdict(false)]), "llm_classifier")
      )
      assert.deepStrictEqual(declared.map(isForVerdict), [false, false, true])
    })
  )

  it.effect("is judged in the next life when the process died before the verdict", () =>
    Effect.gen(function* () {
      const store = yield* Lives.makeStore
      const life: Lives.Make = (at) => ({
        scripts: (request) =>
          isForVerdict(request) ? [Scripted.run(at("verdict")), text(verdict(false))] : [text("Hello!")],
        tools: Fixtures.echo,
        settings: { orchestration: { main_tool_use_guardrail: "llm_classifier" } }
      })
      const once = Effect.flatMap(Troupe, (troupe) => troupe.say("go", { externalId: "one" }))
      assert.strictEqual(yield* Lives.killedAt(store, "verdict", life, once), "verdict")
      const outcome = yield* Lives.whole(store, life, once)
      assert.strictEqual(outcome.answer, "Hello!")
      assert.strictEqual(of(outcome.entries, "AssistantMessage").length, 1)
    })
  )
})
