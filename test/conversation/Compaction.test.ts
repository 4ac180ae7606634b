/** Histories that outgrow their model are summarised, whatever happens meanwhile. */
import { assert, describe, it } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as AiError from "effect/ai/AiError"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Metric from "effect/Metric"
import * as TestRuntime from "../../layers/testing/TestRuntime.ts"
import * as ChatHistory from "../../layers/tools/history/ChatHistory.ts"
import * as Channels from "../../src/channel/Channels.ts"
import type * as Settings from "../../src/config/Settings.ts"
import * as Conversations from "../../src/conversation/Conversations.ts"
import type * as Event from "../../src/event/Event.ts"
import * as ModelError from "../../src/model/ModelError.ts"
import * as PromptCheck from "../../src/model/PromptCheck.ts"
import * as Scripted from "../../src/testing/ScriptedModel.ts"
import type * as Entry from "../../src/thread/Entry.ts"
import * as Threads from "../../src/thread/Threads.ts"
import * as Fixtures from "./Fixtures.ts"
import * as Lives from "./Lives.ts"

const { TestRuntime: Troupe } = TestRuntime
const { fail, finish, text, toolCall } = Scripted

const long = "a long story, ".repeat(40)
const summaryText = "The person told a long story."

/** An answer that was given to a history of so many tokens. */
const answer = (said: string, input = 10): Scripted.Script => [text(said), finish("stop", { input, output: 5 })]
const called = (what: string, input: number): Scripted.Script => [
  toolCall("look", { text: what }),
  finish("tool-calls", { input, output: 5 })
]

const tooLong = fail(
  new AiError.InvalidRequestError({
    parameter: "messages",
    constraint: ModelError.contextLength,
    description: 'The conversation is longer than model "scripted" can read'
  })
)

const isForSummary = ({ prompt }: Pick<Scripted.Request, "prompt">): boolean => {
  const last = Scripted.lastUserText(prompt)
  return last._tag === "Some" && last.value.startsWith("<conversation>")
}

/** What each request said, and which were for a summary. */
const requests = Effect.map(
  Effect.flatMap(Scripted.ScriptedModel, (model) => model.requests),
  (all) =>
    all.map((request) => ({
      ...request,
      summary: isForSummary(request),
      said: request.prompt.content.slice(1).map((message) => {
        if (message.role === "system") return message.content
        return message.content
          .map((part) => {
            if (part.type === "text") return part.text
            return part.type === "tool-result" ? JSON.stringify(part.result) : part.type
          })
          .join(" | ")
      })
    }))
)

const shape = Effect.map(requests, (all) => all.map(({ summary }) => (summary ? "summary" : "step")))

const compacted = (entries: ReadonlyArray<Entry.Entry>) =>
  entries.flatMap((entry) => (entry._tag === "Compacted" ? [entry] : []))

const phases = (seen: ReadonlyArray<Event.Event>) =>
  seen.flatMap((event) => (event._tag === "Compaction" ? [event.phase] : []))

const layer = (
  scripts: Scripted.Scripts,
  memory: Settings.SettingsInput["memory"] = { max_history_tokens: 500 },
  options: Partial<TestRuntime.Options> = {}
) => TestRuntime.layer({ scripts, tools: Fixtures.echo, settings: { memory }, ...options })

const request = "Summarise our conversation so far, so that we can go on from there."

describe("a history that has reached its limit", () => {
  it.effect("is summarised before the next turn asks, and the log keeps everything", () =>
    Effect.gen(function* () {
      const troupe = yield* Troupe
      const events = yield* Fixtures.recordEvents
      const first = yield* troupe.say(long)
      assert.deepStrictEqual(compacted(first.entries), [])
      const second = yield* troupe.say("and now?")
      assert.strictEqual(second.answer, "now this")
      const [one, summary, two] = yield* requests
      assert.deepStrictEqual(summary?.tools, [])
      assert.include(summary?.said[0], `Person: ${long}`)
      // The last answer is short enough to stay as it is.
      assert.notInclude(summary?.said[0], "I see")
      assert.notInclude(summary?.said[0], "and now?")
      assert.deepStrictEqual(two?.said, [request, summaryText, "I see", "and now?"])
      assert.deepStrictEqual(two?.tools, one?.tools)
      const [entry, ...more] = compacted(second.entries)
      assert.deepStrictEqual(more, [])
      assert.deepInclude(entry, {
        how: "summary",
        summary: summaryText,
        step: 0,
        tokensBefore: 1005,
        model: "scripted"
      })
      assert.deepStrictEqual(second.entries.slice(0, first.entries.length), first.entries)
      // The next process reads no more than it needs.
      const thread = yield* (yield* Threads.Threads).get(second.threadId)
      assert.strictEqual(first.entries[thread.historyFrom - 1]?._tag, "AssistantMessage")
      // And it is not compacted again, since the next measurement is below the limit.
      assert.strictEqual((yield* troupe.say("go on")).answer, "and that")
      assert.deepStrictEqual((yield* requests).at(-1)?.said, [
        request,
        summaryText,
        "I see",
        "and now?",
        "now this",
        "go on"
      ])
      assert.deepStrictEqual(phases(events.seen), ["started", "completed"])
      assert.deepStrictEqual(
        events.seen.flatMap((event) =>
          event._tag === "TurnCompleted" ? [[event.compactionPerformed, event.tokenTrace]] : []
        ),
        [
          [false, { turn: 1005, session: 1005 }],
          [true, { turn: 60 + 25, session: 25, sessionBeforeCompaction: 1005, sessionAfterCompaction: 25 }],
          [false, { turn: 15, session: 15 }]
        ]
      )
    }).pipe(
      Effect.provide(
        layer([
          answer("I see", 1000),
          [text(summaryText), finish("stop", { input: 50, output: 10 })],
          answer("now this", 20),
          answer("and that")
        ])
      )
    )
  )

  it.effect("is summarised in the middle of a turn, with all results in, and the turn goes on", () =>
    Effect.gen(function* () {
      const outcome = yield* (yield* Troupe).say("look at three things")
      assert.strictEqual(outcome.answer, "done")
      assert.deepStrictEqual(yield* shape, ["step", "step", "summary", "step", "step"])
      const all = yield* requests
      assert.include(all[2]?.said[0], `two${long}`)
      assert.deepStrictEqual(all[3]?.said.slice(0, 3), [request, summaryText, "look at three things"])
      assert.include(all[3]?.said[3], "done already")
      assert.strictEqual(all[3]?.said.length, 4)
      assert.strictEqual(all[4]?.said.length, 6)
      assert.strictEqual(compacted(outcome.entries)[0]?.step, 2)
      assert.strictEqual(Fixtures.results(outcome.entries).length, 3)
    }).pipe(
      Effect.provide(
        layer([called("one", 300), called(`two${long}`, 600), answer(summaryText), called("three", 20), answer("done")])
      )
    )
  )

  it.effect("is known from the model and the ratio, and is never reached where nothing is known", () =>
    Effect.gen(function* () {
      const memory = { context_ratio_before_compact: 0.5 }
      const story = Effect.gen(function* () {
        const troupe = yield* Troupe
        yield* troupe.say(long)
        yield* troupe.say("and now?")
        return yield* shape
      })
      const scripts: Scripted.Scripts = (asked) => (isForSummary(asked) ? answer(summaryText) : answer("fine", 995))
      const summarised = ["step", "summary", "step"]
      const known = (contextTokens: number | undefined) =>
        Effect.provide(story, layer(scripts, memory, { model: { contextTokens } }))
      assert.deepStrictEqual(yield* known(2000), summarised)
      assert.deepStrictEqual(yield* known(2002), ["step", "step"])
      assert.deepStrictEqual(yield* known(undefined), ["step", "step"])
    })
  )

  it.effect("is estimated where the provider counts nothing", () =>
    Effect.gen(function* () {
      const troupe = yield* Troupe
      yield* troupe.say("short")
      yield* troupe.say(long.repeat(10))
      yield* troupe.say("and now?")
      assert.deepStrictEqual(yield* shape, ["step", "step", "summary", "step"])
    }).pipe(
      Effect.provide(
        layer(
          (asked) =>
            isForSummary(asked) ? answer(summaryText, 0) : [text("fine"), finish("stop", { input: 0, output: 0 })],
          { max_history_tokens: 1200 }
        )
      )
    )
  )

  it.effect("is not compacted again before a response has measured it, and only so often in one turn", () =>
    Effect.gen(function* () {
      const outcome = yield* (yield* Troupe).say(long)
      assert.strictEqual(outcome.failure?.code, "turn:max_steps")
      const all = yield* shape
      assert.strictEqual(all.filter((kind) => kind === "summary").length, 5)
      assert.isFalse(all.some((kind, index) => kind === "summary" && all[index + 1] === "summary"))
      assert.strictEqual(compacted(outcome.entries).length, 5)
    }).pipe(
      Effect.provide(
        layer((asked) => (isForSummary(asked) ? answer(`${asked.index}`) : called(`${asked.index} ${long}`, 10_000)))
      )
    )
  )
})

describe("a summary that comes to nothing leaves the history as it was, and the turn goes on", () => {
  const refused = fail(new AiError.InvalidRequestError({ description: "no" }))
  const cases: ReadonlyArray<readonly [name: string, outcome: string, summary: Scripted.Script]> = [
    ["blank", "blank", [toolCall("look", { text: "x" })]],
    ["silent", "blank", [finish("stop")]],
    ["longer than what it replaces", "longer", [text(long, long, long)]],
    ["cut off", "failed", [text("The pers"), finish("length")]],
    ["refused", "failed", [refused]],
    ["broken off", "failed", [text("The pers"), Scripted.cut]],
    ["without an end", "timeout", [text("The pers"), Scripted.never]]
  ]
  for (const [name, outcome, script] of cases) {
    it.effect(`when it is ${name}`, () =>
      Effect.gen(function* () {
        const troupe = yield* Troupe
        const events = yield* Fixtures.recordEvents
        yield* troupe.say(long)
        const second = yield* Fixtures.whileTimePasses(troupe.say("and now?"), "1 second")
        assert.strictEqual(second.answer, "fine")
        assert.deepStrictEqual(compacted(second.entries), [])
        const all = yield* requests
        assert.deepStrictEqual(all.at(-1)?.said, [long, "fine", "and now?"])
        assert.deepStrictEqual(phases(events.seen), ["started", "failed"])
        const metrics = yield* Metric.snapshot
        assert.isTrue(
          metrics.some(({ attributes, id }) => id === "troupe_compactions_total" && attributes?.["outcome"] === outcome)
        )
        // It is tried again when the next response says that it is still time.
        yield* Fixtures.whileTimePasses(troupe.say("still?"), "1 second")
        assert.deepStrictEqual(phases(events.seen), ["started", "failed", "started", "failed"])
      }).pipe(
        Effect.provide(
          layer((asked) => (isForSummary(asked) ? script : answer("fine", 1000)), { max_history_tokens: 500 })
        )
      )
    )
  }
})

describe("a history that the provider refuses as too long", () => {
  it.effect("is summarised and sent once more", () =>
    Effect.gen(function* () {
      const troupe = yield* Troupe
      yield* troupe.say(long)
      const second = yield* troupe.say("and now?")
      assert.strictEqual(second.answer, "now this")
      assert.deepStrictEqual(yield* shape, ["step", "step", "summary", "step"])
      assert.deepStrictEqual((yield* requests).at(-1)?.said, [request, summaryText, "and now?"])
    }).pipe(Effect.provide(layer([answer("I see"), [tooLong], answer(summaryText), answer("now this")], {})))
  )

  it.effect("is summarised from less when the summary is refused for the same reason", () =>
    Effect.gen(function* () {
      const troupe = yield* Troupe
      for (let n = 0; n < 3; n++) {
        assert.strictEqual((yield* troupe.say(`${n} ${"word ".repeat(1600)}`)).answer, "fine")
      }
      const sizes = (yield* requests).flatMap(({ said, summary }) => (summary ? [said.join("").length] : []))
      assert.strictEqual(sizes.length, 2)
      assert.isBelow(sizes[1] ?? 0, sizes[0] ?? 0)
    }).pipe(
      Effect.provide(
        layer((asked) => {
          const size = JSON.stringify(asked.prompt.content).length
          if (size > (isForSummary(asked) ? 3500 : 20_000)) return [tooLong]
          return answer(isForSummary(asked) ? summaryText : "fine")
        }, {})
      )
    )
  )

  it.effect("F072 once more after a compaction ends the turn with a clear failure, and the next message works", () =>
    Effect.gen(function* () {
      const troupe = yield* Troupe
      yield* troupe.say(long)
      const second = yield* troupe.say("and now?")
      assert.strictEqual(second.state, "failed")
      assert.strictEqual(second.failure?.code, "model:context-length")
      assert.include(second.answer, "longer than model")
      // Refused, it was made shorter by what had been kept as it was, and sent once more.
      assert.deepStrictEqual(yield* shape, ["step", "summary", "step", "summary", "step"])
      const third = yield* troupe.say("and then?")
      assert.strictEqual(third.answer, "then that")
      assert.deepStrictEqual((yield* requests).at(-1)?.said.slice(0, 3), [request, "short", "and now?"])
    }).pipe(
      Effect.provide(
        layer([answer("I see", 1000), answer(summaryText), [tooLong], answer("short"), [tooLong], answer("then that")])
      )
    )
  )

  it.effect("F072 because of one message does not block those after it", () =>
    Effect.gen(function* () {
      const troupe = yield* Troupe
      const huge = yield* troupe.say("word ".repeat(20_000))
      assert.strictEqual(huge.failure?.code, "model:context-length")
      const next = yield* troupe.say("sorry, that was too much")
      assert.strictEqual(next.answer, "never mind")
      assert.deepStrictEqual(yield* shape, ["step", "step", "summary", "step"])
    }).pipe(
      Effect.provide(
        layer((asked) => {
          if (JSON.stringify(asked.prompt.content).length > 20_000) return [tooLong]
          return answer(isForSummary(asked) ? summaryText : "never mind")
        }, {})
      )
    )
  )

  it.effect("F072 always does not loop", () =>
    Effect.gen(function* () {
      const troupe = yield* Troupe
      for (let n = 0; n < 4; n++) {
        assert.strictEqual((yield* troupe.say(`${n} ${long}`)).failure?.code, "model:context-length")
      }
      assert.isAtMost((yield* requests).length, 4 * 3)
    }).pipe(Effect.provide(layer((asked) => (isForSummary(asked) ? answer("short") : [tooLong]), {})))
  )
})

describe("while a history is summarised", () => {
  it.effect("a message that comes in joins behind the summary", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const scripts: Scripted.Scripts = (asked) =>
        isForSummary(asked)
          ? [Scripted.gate(gate), ...answer(summaryText)]
          : answer("fine", asked.index === 0 ? 1000 : 10)
      yield* Effect.gen(function* () {
        const troupe = yield* Troupe
        yield* troupe.say(long)
        const asked = yield* troupe.accept("and now?")
        yield* (yield* Scripted.ScriptedModel).awaitRequests(2)
        const meanwhile = yield* troupe.accept("or later?")
        yield* Deferred.succeed(gate, undefined)
        const outcome = yield* troupe.outcome(asked)
        assert.strictEqual((yield* troupe.outcome(meanwhile)).state, "answered")
        assert.strictEqual(outcome.entries.filter((entry) => entry._tag === "TurnStarted").length, 2)
        const last = (yield* requests).at(-1)?.said
        assert.deepStrictEqual(last, [request, summaryText, "fine", "and now?", "or later?"])
      }).pipe(Effect.provide(layer(scripts)))
    })
  )

  it.effect("F113 a stop ends the turn, and the next message is served", () =>
    Effect.gen(function* () {
      const troupe = yield* Troupe
      yield* troupe.say(long)
      const asked = yield* troupe.accept("and now?")
      yield* (yield* Scripted.ScriptedModel).awaitRequests(2)
      yield* (yield* Conversations.Conversations).stop(asked.threadId, "tester")
      const outcome = yield* troupe.outcome(asked)
      assert.strictEqual(outcome.state, "stopped")
      assert.deepStrictEqual(compacted(outcome.entries), [])
      assert.strictEqual((yield* troupe.say("and then?")).answer, "then that")
    }).pipe(
      Effect.provide(
        layer([answer("I see", 1000), [text("The"), Scripted.never], answer(summaryText), answer("then that")])
      )
    )
  )

  it.effect(
    "a process that dies at any point neither loses what was said nor summarises it twice",
    () =>
      Effect.gen(function* () {
        const make: Lives.Make = (at) => ({
          settings: { memory: { max_history_tokens: 500 } },
          tools: Fixtures.tools(({ text: said }) => Effect.as(at("look"), said)),
          scripts: (asked) => {
            if (isForSummary(asked)) return [Scripted.run(at("summary")), ...answer(summaryText)]
            const problems = PromptCheck.problems(asked.prompt)
            const shown = JSON.stringify(asked.prompt.content)
            if (problems.length > 0) return answer(problems.join())
            if (!shown.includes(long) && !shown.includes(summaryText)) return answer("forgotten")
            if (shown.includes("and now?") && !shown.includes("looked")) {
              return [Scripted.run(at("ask")), ...called("looked", shown.includes(long) ? 900 : 30)]
            }
            return answer("fine", shown.includes(long) ? 900 : 30)
          }
        })
        const tell = Effect.gen(function* () {
          const troupe = yield* Troupe
          const first = yield* troupe.accept(long, { externalId: "one" })
          yield* Fixtures.whileTimePasses(troupe.outcome(first))
          const second = yield* troupe.accept("and now?", { externalId: "two" })
          return yield* Fixtures.whileTimePasses(troupe.outcome(second))
        })
        const points: Array<string> = []
        for (let nth = 1; points.length === nth - 1; nth++) {
          const store = yield* Lives.makeStore
          const point = yield* Lives.killedAt(store, nth, make, tell)
          if (point === undefined) break
          points.push(point)
          const told = yield* Lives.whole(store, make, tell)
          assert.strictEqual(told.answer, "fine", `killed at ${nth}: ${point}`)
          assert.strictEqual(compacted(told.entries).length, 1, `killed at ${nth}: ${point}`)
        }
        assert.include(points, "summary")
        assert.isAbove(points.length, 15)
      }),
    120_000
  )
})

describe("a summary is asked for", () => {
  it.effect("of the next model when the first cannot answer, and never of the offline helper", () =>
    Effect.gen(function* () {
      const troupe = yield* Troupe
      yield* troupe.say(long)
      assert.strictEqual((yield* troupe.say("and now?")).answer, "fine")
      const asked = (yield* requests).flatMap(({ model, summary }) => (summary ? [model] : []))
      assert.deepStrictEqual(asked, ["scripted", "spare"])
    }).pipe(
      Effect.provide(
        layer(
          (asked) => {
            if (!isForSummary(asked)) return answer("fine", 1000)
            return asked.model === "spare" ? answer(summaryText) : [fail(new AiError.QuotaExhaustedError({}))]
          },
          { max_history_tokens: 500 },
          {
            model: {
              fallback: [
                { provider: "offline", model: "helper" },
                { provider: "scripted", model: "spare" }
              ]
            }
          }
        )
      )
    )
  )

  it.effect("in the words of compact.md, where there is one", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const directory = yield* fs.makeTempDirectoryScoped({ prefix: "troupe-prompts-" })
      const systems = (settings: Settings.SettingsInput) =>
        Effect.gen(function* () {
          const troupe = yield* Troupe
          yield* troupe.say(long)
          yield* troupe.say("and now?")
          return (yield* requests).flatMap(({ prompt, summary }) => (summary ? [prompt.content[0]?.content] : []))
        }).pipe(
          Effect.provide(
            TestRuntime.layer({
              scripts: (asked) => (isForSummary(asked) ? answer(summaryText) : answer("fine", 1000)),
              settings: { ...settings, memory: { max_history_tokens: 500 } }
            })
          )
        )
      const [built] = yield* systems({ llm: { prompts_dir: directory } })
      assert.include(built, "Give only the summary")
      yield* fs.writeFileString(`${directory}/compact.md`, "Sum it up.")
      assert.deepStrictEqual(yield* systems({ llm: { prompts_dir: directory } }), ["Sum it up."])
    }).pipe(Effect.provide(NodeServices.layer))
  )
})

describe("the agent", () => {
  const toolData = (entries: ReadonlyArray<Entry.Entry>) =>
    entries.flatMap((entry) => (entry._tag === "ToolResult" ? [entry.data] : []))

  it.effect("can ask what it still sees, and takes out the summary as the oldest message", () =>
    Effect.gen(function* () {
      const troupe = yield* Troupe
      yield* troupe.say(long)
      const second = yield* troupe.say("and now?")
      const told = { session_id: "test:main", total_messages: 4, summarised: true, max_history_messages: 200 }
      const trimmed = { removed_messages: 1, remaining_messages: 4 }
      const left = { total_messages: 5, summarised: false }
      const [info, trim, then] = toolData(second.entries)
      assert.deepStrictEqual(info, told)
      assert.deepInclude(trim, trimmed)
      assert.deepInclude(then, left)
      const last = (yield* requests).at(-1)?.said
      assert.notInclude(last ?? [], summaryText)
      assert.deepStrictEqual(last?.slice(0, 2), ["I see", "and now?"])
    }).pipe(
      Effect.provide(
        layer(
          [
            answer("I see", 1000),
            answer(summaryText),
            [toolCall("chat_history_info")],
            [toolCall("chat_history_trim", { keep_latest: 4 })],
            [toolCall("chat_history_info")],
            answer("fine")
          ],
          { max_history_tokens: 500, max_history_messages: 200 },
          { tools: ChatHistory.layer }
        )
      )
    )
  )
})

describe("people are told of a compaction", () => {
  const told = (notify: "off" | "brief" | "full", summary = answer(summaryText)) =>
    Effect.gen(function* () {
      const troupe = yield* Troupe
      const events = yield* Fixtures.recordEvents
      const replies: Array<string> = []
      const done = yield* Deferred.make<void>()
      yield* (yield* Channels.Channels).register({
        name: "push",
        capabilities: { approval: false, formatting: ["text"], files: false },
        deliver: (reply) =>
          Effect.suspend(() => {
            replies.push(reply.text)
            return replies.length < (notify === "off" ? 2 : 3) ? Effect.void : Deferred.succeed(done, undefined)
          })
      })
      yield* troupe.say(long, { channel: "push" })
      yield* Fixtures.whileTimePasses(troupe.say("and now?", { channel: "push" }))
      yield* Fixtures.whileTimePasses(Deferred.await(done))
      const seen = events.seen.flatMap((event) => (event._tag === "Compaction" ? [event] : []))
      assert.isTrue(seen.every((event) => event.notify === notify))
      return { replies: replies.slice(2), summaries: seen.map((event) => event.summary) }
    }).pipe(
      Effect.provide(
        layer((asked) => (isForSummary(asked) ? summary : answer("fine", 1000)), {
          max_history_tokens: 500,
          notify_compaction_updates: notify
        })
      )
    )

  it.effect("as little or as much as the settings say", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* told("off"), { replies: [], summaries: [undefined, undefined] })
      const brief = yield* told("brief")
      assert.deepStrictEqual(brief.summaries, [undefined, undefined])
      assert.include(brief.replies[0], "summarised the older part")
      assert.notInclude(brief.replies[0], summaryText)
      const full = yield* told("full")
      assert.deepStrictEqual(full.summaries, [undefined, summaryText])
      assert.include(full.replies[0], summaryText)
      const blank = [finish("stop")]
      const failed = yield* told("brief", blank)
      assert.strictEqual(failed.replies.length, 1)
      assert.include(failed.replies[0], "could not be summarised: The model gave an empty response")
      assert.deepStrictEqual((yield* told("off", blank)).replies, [])
    })
  )
})
