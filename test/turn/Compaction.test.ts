import { assert, describe, it } from "@effect/vitest"
import type * as Prompt from "effect/ai/Prompt"
import * as Schema from "effect/Schema"
import * as PromptCheck from "../../src/model/PromptCheck.ts"
import type * as Entry from "../../src/thread/Entry.ts"
import * as Compaction from "../../src/turn/Compaction.ts"
import * as History from "../../src/turn/History.ts"
import * as Summary from "../../src/turn/Summary.ts"
import * as Entries from "./Entries.ts"

type Log = ReadonlyArray<Entry.StoredEntry>

const textOf = (message: Prompt.Message): string =>
  message.role === "system"
    ? message.content
    : message.content
        .map((part) => {
          if (part.type === "text") return part.text
          return part.type === "tool-result" ? String(part.result) : part.type
        })
        .join(" | ")

const prompt = (log: Log, turn = 1) => History.render(log, { system: "Be brief.", turnId: Entries.turn(turn) })

const lines = (log: Log, turn?: number) =>
  prompt(log, turn)
    .content.slice(1)
    .map((message) => `${message.role}: ${textOf(message)}`)

/** What a thread holds after these entries and a compaction as it is planned. */
const compact = (log: Log, planning: Partial<Compaction.Planning> = {}): Log => {
  const turnId = planning.turnId ?? Entries.turn(1)
  const plan = Compaction.plan(log, { keepTokens: 0, refused: false, ...planning, turnId })
  assert.isDefined(plan)
  const step = log.filter(({ entry }) => entry._tag === "AssistantMessage" && entry.turnId === turnId).length
  const entry = { ...Entries.compacted(1), ...plan, turnId, step }
  return loaded([...log, { seq: (log.at(-1)?.seq ?? 0) + 1, at: 0, entry }])
}

/** What a process reads of a thread. */
const loaded = (log: Log): Log => {
  const from = log.reduce((first, { entry }) => {
    if (entry._tag === "Compacted") return Math.max(first, entry.readFrom)
    return entry._tag === "HistoryTrimmed" ? Math.max(first, entry.keepFrom) : first
  }, 1)
  return log.filter(({ seq }) => seq >= from)
}

const then = (log: Log, ...entries: ReadonlyArray<Entry.Entry>): Log => [
  ...log,
  ...Entries.stored(entries, (log.at(-1)?.seq ?? 0) + 1)
]

/** What is said where nothing else can be answered. */
const goOn = "user: Go on."
const request = "user: Summarise our conversation so far, so that we can go on from there."
const summary = "assistant: what was said"

/** A turn that is over. */
const answered = (n: number): ReadonlyArray<Entry.Entry> => [
  Entries.user(n),
  Entries.started([n], { turnId: Entries.turn(n) }),
  Entries.response(1, [Entries.request(n)], { turnId: Entries.turn(n) }),
  Entries.result(n, { turnId: Entries.turn(n) }),
  Entries.response(2, [], { turnId: Entries.turn(n), text: `answer ${n}` }),
  Entries.ended("answered", { turnId: Entries.turn(n) })
]
const next = (n: number) => [Entries.user(n), Entries.started([n], { turnId: Entries.turn(n) })]

describe("a compacted history", () => {
  it("is a request, the summary, and what has no answer yet", () => {
    const log = compact(Entries.stored([...answered(1), ...answered(2), ...next(3)]), { turnId: Entries.turn(3) })
    assert.deepStrictEqual(lines(log, 3), [request, summary, "user: message 3"])
    // And is read from where it is needed.
    assert.strictEqual(log[0]?.entry._tag, "UserMessage")
    assert.strictEqual(log.length, 3)
  })

  it("goes on behind the summary", () => {
    const log = compact(Entries.stored([...answered(1), ...next(2)]), { turnId: Entries.turn(2) })
    const later = then(log, Entries.response(1, [], { turnId: Entries.turn(2), text: "answer 2" }), ...next(3))
    assert.deepStrictEqual(lines(later, 3), [
      request,
      summary,
      "user: message 2",
      "assistant: answer 2",
      "user: message 3"
    ])
  })

  it("keeps the latest responses that fit as they are", () => {
    const log = compact(Entries.stored([...answered(1), ...answered(2), ...next(3)]), {
      turnId: Entries.turn(3),
      keepTokens: 4
    })
    assert.deepStrictEqual(lines(log, 3), [request, summary, "assistant: answer 2", "user: message 3"])
  })

  it("keeps a message that waited since long before, and one that folded in", () => {
    const log = Entries.stored([
      Entries.user(1),
      Entries.started([1]),
      Entries.user(7),
      Entries.user(8, { delivery: "after-turn" }),
      Entries.response(1, [Entries.request(1)]),
      Entries.result(1),
      Entries.folded([7])
    ])
    const short = compact(log)
    assert.deepStrictEqual(lines(short).slice(0, 2), [request, summary])
    assert.deepStrictEqual([lines(short)[2], lines(short).at(-1)], ["user: message 1", "user: message 7"])
    const ended = then(short, Entries.response(2), Entries.ended(), Entries.started([8], { turnId: Entries.turn(2) }))
    assert.strictEqual(lines(ended, 2).at(-1), "user: message 8")
    // Even when it is compacted once more before it was taken up.
    const again = compact(then(short, Entries.response(2), Entries.ended(), ...next(2)), { turnId: Entries.turn(2) })
    assert.strictEqual(lines(then(again, Entries.folded([8])), 1).at(-1), "user: message 8")
  })

  it("in the middle of a turn begins with its messages, and says that some of the work is done", () => {
    const log = Entries.stored([
      ...answered(2),
      Entries.user(1),
      Entries.started([1]),
      Entries.response(1, [Entries.request(5)]),
      Entries.result(5)
    ])
    const short = compact(log)
    const shown = lines(short)
    assert.deepStrictEqual(shown.slice(0, 3), [request, summary, "user: message 1"])
    assert.include(shown[3], "done already")
    assert.strictEqual(shown.length, 4)
    const later = then(short, Entries.response(2, [Entries.request(6)]), Entries.result(6))
    assert.deepStrictEqual(lines(later), [...shown, "assistant: tool-call", "tool: result 6"])
  })

  it("F071 parts no call from its result, wherever a compaction stands and wherever the next one begins", () => {
    const inside = Entries.stored([
      Entries.user(1),
      Entries.started([1]),
      Entries.response(1, [Entries.request(1), Entries.request(2)]),
      Entries.result(1),
      Entries.compacted(1, { readFrom: 1 }),
      Entries.result(2),
      Entries.response(2, [Entries.request(3)]),
      Entries.result(3)
    ])
    for (let keepFrom = 1; keepFrom <= inside.length + 1; keepFrom++) {
      const again = then(inside, Entries.compacted(keepFrom, { readFrom: 1, step: 2 }))
      assert.deepStrictEqual(PromptCheck.problems(prompt(again)), [], `again from ${keepFrom}`)
      // What the first hid stays hidden when the second begins before it.
      const earlier = then(again, Entries.compacted(1, { readFrom: 1, step: 2 }))
      assert.deepStrictEqual(lines(earlier), lines(again))
    }
  })

  it("replaces nothing where there is nothing: no second summary of the first, no summary of a question", () => {
    const planning = { keepTokens: 0, refused: false, turnId: Entries.turn(2) }
    const log = compact(Entries.stored([...answered(1), ...next(2)]), planning)
    assert.isUndefined(Compaction.plan(log, planning))
    assert.isUndefined(Compaction.plan(log, { ...planning, refused: true }))
    assert.isUndefined(Compaction.plan(Entries.stored(next(2)), { ...planning, refused: true }))
    assert.isUndefined(Compaction.plan([], planning))
    const all = Entries.stored([...answered(1), ...next(2)])
    assert.isUndefined(Compaction.plan(all, { ...planning, keepTokens: 1000 }))
  })

  it("keeps questions that failed, but for those that may be what the provider refuses", () => {
    const turn = { turnId: Entries.turn(2) }
    const log = Entries.stored([
      ...answered(1),
      Entries.user(2),
      Entries.started([2], turn),
      Entries.notice("It failed.", turn),
      Entries.ended("failed", turn),
      ...next(3)
    ])
    const shown = (refused: boolean) => lines(compact(log, { refused, turnId: Entries.turn(3) }), 3)
    assert.deepStrictEqual(shown(false), [
      request,
      summary,
      "user: message 2",
      "assistant: It failed.",
      "user: message 3"
    ])
    assert.deepStrictEqual(shown(true), [request, summary, "user: message 3"])
  })

  it("is counted as the model sees it", () => {
    const log = Entries.stored([...answered(1), ...answered(2), ...next(3)])
    assert.deepStrictEqual([History.countMessages(log), History.isSummarised(log)], [7, false])
    const short = compact(log, { turnId: Entries.turn(3) })
    assert.deepStrictEqual([History.countMessages(short), History.isSummarised(short)], [2, true])
    const trimmed = then(short, { _tag: "HistoryTrimmed", turnId: Entries.turn(3), keepFrom: 1, removedMessages: 1 })
    assert.deepStrictEqual([History.countMessages(trimmed), History.isSummarised(trimmed)], [1, false])
    assert.deepStrictEqual(lines(trimmed, 3), ["user: message 3"])
  })
})

// ---------------------------------------------------------------------------------------------------------------------
// Any conversation

const Act = Schema.Union([
  Schema.Struct({ do: Schema.Literals(["say", "begin", "fold", "result", "guide", "fail", "end"]) }),
  Schema.Struct({ do: Schema.Literal("respond"), calls: Schema.Literals([0, 1, 2]) }),
  Schema.Struct({ do: Schema.Literal("compact"), keepTokens: Schema.Literals([0, 4, 12]), refused: Schema.Boolean }),
  Schema.Struct({ do: Schema.Literal("trim"), keep: Schema.Literals([0, 1, 3]) })
])

describe("any conversation with any compactions", () => {
  it.prop(
    "stays sound, shows every message that has no answer, and loses none that no summary was told of",
    { acts: Schema.Array(Act).check(Schema.isMinLength(12), Schema.isMaxLength(60)) },
    ({ acts }) => {
      let log: Log = []
      let seq = 0
      let messages = 0
      let calls = 0
      let turns = 0
      let steps = 0
      let running = false
      let trimmed = false
      const waiting: Array<number> = []
      /** Calls without a result, messages of the running turn, and what was asked since the last response. */
      let open: Array<number> = []
      let asked: Array<number> = []
      let unheard: Array<number> = []
      const turnId = () => Entries.turn(turns)
      const add = (entry: Entry.Entry) => {
        log = loaded([...log, { seq: ++seq, at: 0, entry }])
      }
      const say = () => {
        waiting.push(++messages)
        add(Entries.user(messages))
      }
      const settle = () => {
        for (const n of open) add(Entries.result(n, { turnId: turnId() }))
        open = []
      }
      const begin = () => {
        if (running) return
        if (waiting.length === 0) say()
        running = true
        turns++
        steps = 0
        asked = waiting.splice(0, 1)
        unheard.push(...asked)
        add(Entries.started(asked, { turnId: turnId() }))
      }
      const respond = (count: number) => {
        unheard = []
        open = Array.from({ length: count }, () => ++calls)
        const requests = open.map((n) => Entries.request(n))
        add(Entries.response(++steps, requests, { turnId: turnId(), text: `response ${seq}` }))
      }
      const fold = () => {
        if (waiting.length === 0) say()
        const joining = waiting.splice(0)
        asked.push(...joining)
        unheard.push(...joining)
        add({ ...Entries.folded(joining), turnId: turnId() })
      }
      const end = (state: "answered" | "failed") => {
        if (state === "failed") add(Entries.notice("It failed.", { turnId: turnId() }))
        add(Entries.ended(state, { turnId: turnId() }))
        running = false
      }
      const trim = (keep: 0 | 1 | 3) => {
        trimmed = true
        unheard = []
        const keepFrom = History.keepFrom(log, keep, turnId())
        add({ _tag: "HistoryTrimmed", turnId: turnId(), keepFrom, removedMessages: 1 })
      }
      const summarise = (given: Pick<Compaction.Planning, "keepTokens" | "refused">) => {
        const planning = { ...given, turnId: turnId() }
        const plan = Compaction.plan(log, planning)
        if (plan === undefined) return
        const before = lines(log, turns)
        const told = Summary.material(log, plan)
        const entry = { ...Entries.compacted(1), ...plan, turnId: turnId(), step: steps }
        const whole = [...log, { seq: seq + 1, at: 0, entry }]
        add(entry)
        const after = new Set(lines(log, turns))
        // What is read no more made no difference.
        assert.deepStrictEqual([...after], [...new Set(lines(whole, turns))])
        const material = new Set(told.messages.map((message) => `${message.role}: ${textOf(message)}`))
        const frame = new Set([request, summary, goOn])
        for (const line of before) {
          assert.isTrue(frame.has(line) || after.has(line) || material.has(line), `lost: ${line}`)
        }
        assert.isUndefined(Compaction.plan(log, planning), "the same again")
        if (given.refused) unheard = []
      }
      for (const act of acts) {
        if (act.do === "say") say()
        else {
          begin()
          if (act.do !== "begin" && act.do !== "result") settle()
        }
        if (act.do === "fold") fold()
        if (act.do === "respond") respond(act.calls)
        if (act.do === "result") {
          for (const n of open.splice(0, 1)) add(Entries.result(n, { turnId: turnId() }))
        }
        if (act.do === "guide") add({ _tag: "Guidance", turnId: turnId(), text: "Try something else." })
        if (act.do === "trim") trim(act.keep)
        if (act.do === "compact") summarise(act)
        if (act.do === "end") end("answered")
        if (act.do === "fail") end("failed")
        if (!running || open.length > 0) continue
        const shown = lines(log, turns)
        assert.deepStrictEqual(PromptCheck.problems(prompt(log, turns)), [], shown.join("\n"))
        const shows = (n: number) => shown.filter((line) => line === `user: message ${n}`).length
        for (const n of asked) assert.strictEqual(shows(n), 1, `message ${n} of the turn`)
        for (const n of unheard) assert.strictEqual(shows(n), 1, `message ${n} without an answer`)
        for (const n of waiting) {
          assert.strictEqual(shows(n), 0, `message ${n}, which waits`)
          const isThere = log.some(({ entry }) => entry._tag === "UserMessage" && entry.text === `message ${n}`)
          assert.isTrue(trimmed || isThere, `message ${n}, which waits`)
        }
      }
    }
  )
})

describe("when a history is compacted", () => {
  it("is for the settings to say, or for what is known of the model; else never", () => {
    const limit = { maxHistoryTokens: undefined, ratio: 0.95, contextTokens: undefined }
    assert.isUndefined(Compaction.budget(limit))
    assert.strictEqual(Compaction.budget({ ...limit, contextTokens: 8192 }), 7782)
    assert.strictEqual(Compaction.budget({ ...limit, contextTokens: 1, ratio: 0.1 }), 1)
    assert.strictEqual(Compaction.budget({ ...limit, contextTokens: 8192, maxHistoryTokens: 500 }), 500)
  })

  it("is measured by the last response alone, and not at all once it has been shortened", () => {
    const usage = (inputTokens: number) => ({ usage: { inputTokens, outputTokens: 5 } })
    const log = Entries.stored([
      Entries.user(1),
      Entries.started([1]),
      Entries.response(1, [Entries.request(1)], usage(100)),
      Entries.result(1),
      Entries.response(2, [], usage(200))
    ])
    const by = { provider: "scripted", model: "scripted" }
    assert.deepStrictEqual(Compaction.measured(log), { seq: 5, by, tokens: 205 })
    assert.isUndefined(Compaction.measured(then(log, Entries.compacted(5))))
    const trim = { _tag: "HistoryTrimmed", turnId: Entries.turn(1), keepFrom: 1, removedMessages: 1 } as const
    assert.isUndefined(Compaction.measured(then(log, trim)))
    assert.isUndefined(Compaction.measured([]))
    assert.deepStrictEqual(Compaction.measured(then(log, Entries.response(3, [], usage(0)))), {
      seq: 6,
      by,
      tokens: undefined
    })
  })
})

describe("the request for a summary", () => {
  const material = (texts: ReadonlyArray<string>, earlier?: string): Summary.Material => ({
    earlier,
    messages: History.shownBefore(
      Entries.stored(
        texts.flatMap((text, n): ReadonlyArray<Entry.Entry> => [
          Entries.user(n, { text }),
          Entries.started([n], { turnId: Entries.turn(n) }),
          Entries.response(1, [], { turnId: Entries.turn(n), text: `answer ${n}` })
        ])
      ),
      Number.MAX_SAFE_INTEGER
    )
  })
  const written = (given: Summary.Material, tokens = 100_000) =>
    textOf(Summary.request("Summarise.", given, tokens).content[1] ?? assert.fail("no second message"))

  it("F045 cuts messages between characters, at every length", () => {
    for (let extra = 0; extra < 4; extra++) {
      const text = `${"x".repeat(1998 + extra)}${"😀".repeat(10)}\ud83d`
      const asked = Summary.request("Summarise.", material([text]), 100_000)
      assert.deepStrictEqual(PromptCheck.problems(asked), [])
      assert.isFalse(textOf(asked.content[1] ?? assert.fail()).includes("\u{FFFD}"), "half a character")
    }
    const emojis = "😀".repeat(2000)
    assert.include(written(material([emojis])), `Person: ${emojis}\n`)
    assert.include(written(material([`${emojis}ab`])), `Person: ${emojis}… [2 more characters]\n`)
  })

  it("stays within its bound, with less of each message, then with the latest ones, and always the summary before", () => {
    const texts = Array.from({ length: 200 }, (_, n) => `${n}: ${"word ".repeat(500)}`)
    for (const tokens of [1000, 6000, 24_000]) {
      const text = written(material(texts, "what was said before"), tokens)
      assert.isAtMost(Compaction.estimate(text), tokens + 100)
      assert.include(text, "what was said before")
      assert.include(text, "answer 199")
    }
    assert.include(written(material(texts), 24_000), "Person: 0: word")
    assert.include(written(material(texts), 1000), "earlier messages are left out]")
  })

  it("tells calls and results, but not how an answer was to be shown", () => {
    const log = Entries.stored([
      Entries.user(1),
      Entries.started([1]),
      Entries.response(1, [
        Entries.request(1, { arguments: '{"at":1}' }),
        Entries.request(2, { name: "pre_response" })
      ]),
      Entries.result(1),
      Entries.result(2, { name: "pre_response", text: "noted" }),
      Entries.response(2)
    ])
    const text = written({ earlier: undefined, messages: History.shownBefore(log, 99) })
    assert.include(text, 'Assistant calls look: {"at":1}')
    assert.include(text, "Result of look: result 1")
    assert.notInclude(text, "pre_response")
    assert.notInclude(text, "noted")
  })

  it("is worth its answer only if that is shorter", () => {
    assert.isTrue(Summary.saves("short", material(["a longer message"])))
    assert.isFalse(Summary.saves("x".repeat(100), material(["a longer message"])))
    assert.isTrue(Summary.saves("x".repeat(100), material(["a longer message"], "y".repeat(100))))
  })
})
