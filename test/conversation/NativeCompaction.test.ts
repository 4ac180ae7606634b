/** Histories that a provider compacts itself where the settings want that, and a summary wherever it cannot. */
import { assert, describe, it } from "@effect/vitest"
import * as AiError from "effect/ai/AiError"
import type * as Prompt from "effect/ai/Prompt"
import * as Effect from "effect/Effect"
import * as TestRuntime from "../../layers/testing/TestRuntime.ts"
import * as ModelError from "../../src/model/ModelError.ts"
import * as NativeCompaction from "../../src/model/NativeCompaction.ts"
import * as Scripted from "../../src/testing/ScriptedModel.ts"
import * as Threads from "../../src/thread/Threads.ts"
import * as Fixtures from "./Fixtures.ts"

const { TestRuntime: Troupe } = TestRuntime
const { fail, finish, text } = Scripted

const long = "a long story, ".repeat(40)
const items = [{ type: "compaction", encrypted_content: "c2hvcnQ=" }]
const done = Effect.succeed({ items, inputTokens: 300, outputTokens: 20 })
const refused = Effect.fail(
  AiError.make({ module: "test", method: "compact", reason: new AiError.InvalidRequestError({ description: "no" }) })
)
const unreadable = fail(
  new AiError.InvalidRequestError({ constraint: ModelError.encryptedReasoning, description: "cannot be decrypted" })
)

const answer = (said: string, input = 10): Scripted.Script => [text(said), finish("stop", { input, output: 5 })]
const isForSummary = ({ prompt }: Pick<Scripted.Request, "prompt">): boolean => {
  const last = Scripted.lastUserText(prompt)
  return last._tag === "Some" && last.value.startsWith("<conversation>")
}

/** What a message says, or what it stands for. */
const sayingOf = (reader: Scripted.Route) => (message: Prompt.Message) => {
  if (message.role === "system") return message.content
  const opaque = message.role === "assistant" ? NativeCompaction.itemsOf(message, reader) : undefined
  return opaque ?? message.content.map((part) => (part.type === "text" ? part.text : part.type)).join(" | ")
}

const asked = Effect.map(
  Effect.flatMap(Scripted.ScriptedModel, (model) => model.requests),
  (all) =>
    all.map((request) => ({
      model: request.model,
      summary: isForSummary(request),
      said: request.prompt.content.slice(1).map(sayingOf(request))
    }))
)

interface Given {
  readonly compact?: NativeCompaction.Compact
  readonly wanted?: "summary" | "native"
  readonly model?: Scripted.Options
}

const layer = (scripts: Scripted.Scripts, { compact = () => done, model = {}, wanted = "native" }: Given = {}) =>
  TestRuntime.layer({
    scripts,
    tools: Fixtures.echo,
    model: { ...model, compact },
    settings: { memory: { max_history_tokens: 500, compaction: wanted } }
  })

/** Long answers, and summaries where they are asked for. */
const talk: Scripted.Scripts = (request) => (isForSummary(request) ? answer("in short") : answer("fine", 1000))

const hows = (outcome: TestRuntime.Outcome) =>
  outcome.entries.flatMap((entry) => (entry._tag === "Compacted" ? [entry.how] : []))

describe("a provider's own compaction", () => {
  it.effect("stands for what was said before, is on disk, and the log keeps everything", () => {
    const prompts: Array<ReadonlyArray<unknown>> = []
    const reader = { provider: "scripted", model: "scripted" }
    const compact: NativeCompaction.Compact = (prompt) =>
      Effect.suspend(() => {
        prompts.push(prompt.content.map(sayingOf(reader)))
        return done
      })
    return Effect.gen(function* () {
      const troupe = yield* Troupe
      const events = yield* Fixtures.recordEvents
      yield* troupe.say(long)
      const second = yield* troupe.say(`more: ${long}`)
      assert.strictEqual(second.answer, "fine")
      assert.deepStrictEqual(prompts, [[long]])
      assert.deepStrictEqual((yield* asked).at(-1)?.said, [items, "fine", `more: ${long}`])
      const entry = second.entries.find(({ _tag }) => _tag === "Compacted")
      assert.deepInclude(entry, { how: "native", summary: "", items, usage: { inputTokens: 300, outputTokens: 20 } })
      // Another model may still have to read all of it.
      assert.strictEqual((yield* (yield* Threads.Threads).get(second.threadId)).historyFrom, 1)
      assert.deepStrictEqual(
        events.seen.flatMap((event) => (event._tag === "Compaction" ? [event.phase] : [])),
        ["started", "completed"]
      )
      // The next one is of what stands there and what came after it.
      yield* troupe.say("go on")
      assert.deepStrictEqual(prompts[1], [items, "fine", `more: ${long}`])
      assert.deepStrictEqual((yield* asked).at(-1)?.said, [items, "fine", "go on"])
    }).pipe(Effect.provide(layer(talk, { compact })))
  })

  it.effect("is not asked for when the settings do not want it", () =>
    Effect.gen(function* () {
      const troupe = yield* Troupe
      yield* troupe.say(long)
      assert.deepStrictEqual(hows(yield* troupe.say("and now?")), ["summary"])
    }).pipe(Effect.provide(layer(talk, { wanted: "summary" })))
  )

  for (const [name, compact] of [
    ["is refused", () => refused],
    ["does not come", () => Effect.never]
  ] as const) {
    it.effect(`gives way to a summary when it ${name}`, () =>
      Effect.gen(function* () {
        const troupe = yield* Troupe
        yield* troupe.say(long)
        const second = yield* Fixtures.whileTimePasses(troupe.say("and now?"), "1 second")
        assert.deepStrictEqual([second.answer, ...hows(second)], ["fine", "summary"])
        assert.isTrue((yield* asked).at(-1)?.said.includes("in short"))
      }).pipe(Effect.provide(layer(talk, { compact })))
    )
  }

  it.effect("is read by nobody else: another model is shown what was said", () =>
    Effect.gen(function* () {
      const troupe = yield* Troupe
      yield* troupe.say(long)
      assert.strictEqual((yield* troupe.say("and now?")).answer, "spare")
      const all = yield* asked
      assert.deepStrictEqual(all.at(-2), { model: "scripted", summary: false, said: [items, "fine", "and now?"] })
      assert.deepStrictEqual(all.at(-1), { model: "spare", summary: false, said: [long, "fine", "and now?"] })
    }).pipe(
      Effect.provide(
        layer(
          ({ index, model }) => {
            if (model === "spare") return answer("spare")
            return index === 0 ? answer("fine", 1000) : [fail(new AiError.QuotaExhaustedError({}))]
          },
          { model: { fallback: [{ provider: "scripted", model: "spare" }] } }
        )
      )
    )
  )

  it.effect("that can be read no longer is shown as it was said", () =>
    Effect.gen(function* () {
      const troupe = yield* Troupe
      yield* troupe.say(long)
      assert.strictEqual((yield* troupe.say("and now?")).answer, "still here")
      assert.deepStrictEqual((yield* asked).at(-1)?.said, [long, "fine", "and now?"])
    }).pipe(Effect.provide(layer([answer("fine", 1000), [unreadable], answer("still here")])))
  )

  it.effect("is followed by a summary after a few, so that the log in memory does not grow for ever", () =>
    Effect.gen(function* () {
      const troupe = yield* Troupe
      let last = yield* troupe.say(long)
      for (let turn = 0; turn < 5; turn++) last = yield* troupe.say(`${turn} ${long}`)
      assert.deepStrictEqual(hows(last), ["native", "native", "native", "native", "summary"])
      assert.isAbove((yield* (yield* Threads.Threads).get(last.threadId)).historyFrom, 1)
    }).pipe(Effect.provide(layer(talk)))
  )
})
