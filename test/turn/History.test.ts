import { assert, describe, it } from "@effect/vitest"
import type * as Prompt from "effect/ai/Prompt"
import * as Schema from "effect/Schema"
import * as PromptCheck from "../../src/model/PromptCheck.ts"
import type * as Entry from "../../src/thread/Entry.ts"
import * as History from "../../src/turn/History.ts"
import * as Entries from "./Entries.ts"

const render = (entries: ReadonlyArray<Entry.Entry>, maxMessages?: number, turn = 1) =>
  History.render(Entries.stored(entries), { system: "Be brief.", maxMessages, turnId: Entries.turn(turn) })

/** What a message says, in one line. */
const line = (message: Prompt.Message): string => {
  if (message.role === "system") return `system: ${message.content}`
  const parts = message.content.map((part) => {
    if (part.type === "text") return part.text
    if (part.type === "tool-call") return `${part.name}(${JSON.stringify(part.params)})`
    return part.type === "tool-result" ? `${part.name} = ${JSON.stringify(part.result)}` : part.type
  })
  return `${message.role}: ${parts.join(" | ")}`
}

const lines = (entries: ReadonlyArray<Entry.Entry>, maxMessages?: number, turn?: number) =>
  render(entries, maxMessages, turn).content.map(line).slice(1)

describe("the history that a model sees", () => {
  it("has messages where a turn took them up, and every result right behind its call", () => {
    assert.deepStrictEqual(
      lines([
        Entries.user(1),
        Entries.started([1]),
        Entries.response(1, [Entries.request(1), Entries.request(2)], { text: "Let me look." }),
        Entries.user(2),
        Entries.result(1),
        Entries.result(2, { outcome: "skipped" }),
        Entries.folded([2]),
        Entries.response(2)
      ]),
      [
        "user: message 1",
        "assistant: Let me look. | look({}) | look({})",
        'tool: look = "result 1" | look = "result 2"',
        "user: message 2",
        "assistant: answer 2",
        "user: Go on."
      ]
    )
  })

  it("leaves out messages that no turn has taken up", () => {
    assert.deepStrictEqual(lines([Entries.user(1), Entries.user(2), Entries.started([2])]), ["user: message 2"])
  })

  it("says that a call without a result was interrupted", () => {
    const [, , results] = lines([Entries.user(1), Entries.started([1]), Entries.response(1, [Entries.request(1)])])
    assert.include(results, "interrupted")
  })

  it.prop(
    "is sound for any sequence of entries",
    {
      garbage: Schema.Array(Entries.Garbage).check(Schema.isMaxLength(14)),
      max: Schema.Literals([0, 1, 3, 99])
    },
    ({ garbage, max }) => {
      const entries = garbage.map(Entries.fromGarbage)
      for (let length = 0; length <= entries.length; length++) {
        const prompt = render(entries.slice(0, length), max)
        assert.deepStrictEqual(PromptCheck.problems(prompt), [], prompt.content.map(line).join("\n"))
      }
      for (let from = 0; from <= entries.length; from++) {
        assert.deepStrictEqual(PromptCheck.problems(render(entries.slice(from), max)), [])
      }
    }
  )

  it("F044 F045 is sound whatever a person, a model, a tool or a prompt file wrote", () => {
    for (const text of ["", "  ", "\0", "\ud83d", "half \ude00 of it", "\0\ud800\0"]) {
      const entries = [
        Entries.user(1, { text, attachments: [{ name: text, mediaType: text, bytes: 1, sha256: text }] }),
        Entries.started([1]),
        Entries.response(1, [Entries.request(1, { name: text, arguments: text })], { text }),
        Entries.result(1, { name: text, text })
      ]
      const prompt = History.render(Entries.stored(entries), { system: text, turnId: Entries.turn(1) })
      assert.deepStrictEqual(PromptCheck.problems(prompt), [], JSON.stringify(text))
    }
  })

  it("F074 keeps no pile of failures: how the last turn ended, and each unanswered question once", () => {
    const failed = Array.from({ length: 1000 }, (_, n): ReadonlyArray<Entry.Entry> => {
      const turnId = Entries.turn(n + 2)
      return [
        Entries.user(n + 2, { text: n % 2 === 0 ? "are you there?" : "hello?" }),
        Entries.started([n + 2], { turnId }),
        Entries.notice(`failure ${n}`, { turnId }),
        Entries.ended("failed", { turnId })
      ]
    })
    const log = [
      Entries.user(0),
      Entries.started([0], { turnId: Entries.turn(1002) }),
      Entries.response(1, [], { turnId: Entries.turn(1002), text: "a fine answer" }),
      Entries.ended("answered", { turnId: Entries.turn(1002) }),
      ...failed.flat(),
      Entries.user(1),
      Entries.started([1])
    ]
    assert.deepStrictEqual(lines(log), [
      "user: message 0",
      "assistant: a fine answer",
      "user: are you there?",
      "user: hello?",
      "assistant: failure 999",
      "user: message 1"
    ])
    assert.deepStrictEqual(PromptCheck.problems(render(log)), [])
    // Once something was answered, no failure before it is seen any more.
    const answeredLater = [...log, Entries.response(1, [], { text: "back" }), Entries.ended("answered")]
    const next = [...answeredLater, Entries.user(2000), Entries.started([2000], { turnId: Entries.turn(2000) })]
    assert.isFalse(lines(next, undefined, 2000).some((one) => one.includes("failure")))
  })

  it("is readable however deep a model nests its arguments, and whatever brackets are in their texts", () => {
    const deep = `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`
    const arrays = `{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`
    const texts = JSON.stringify({ a: "[".repeat(1000) })
    const shown = [deep, arrays, texts].map(
      (written) =>
        lines([
          Entries.user(1),
          Entries.started([1]),
          Entries.response(1, [Entries.request(1, { arguments: written })])
        ])[1]
    )
    assert.strictEqual(shown[0], `assistant: look({"unreadable_arguments":${JSON.stringify(deep.slice(0, 220))}})`)
    assert.strictEqual(shown[1], `assistant: look({"unreadable_arguments":${JSON.stringify(arrays.slice(0, 220))}})`)
    assert.strictEqual(shown[2], `assistant: look(${texts})`)
  })

  it("repeats arguments that are no object inside one", () => {
    const shown = ["{}", '{"a":[1,null]}', "{'a': True}", "", "[1]", "null", '"x"', '{"a":'].map(
      (written) =>
        lines([
          Entries.user(1),
          Entries.started([1]),
          Entries.response(1, [Entries.request(1, { arguments: written })])
        ])[1]
    )
    assert.deepStrictEqual(shown, [
      "assistant: look({})",
      'assistant: look({"a":[1,null]})',
      'assistant: look({"a":true})',
      "assistant: look({})",
      'assistant: look({"unreadable_arguments":"[1]"})',
      'assistant: look({"unreadable_arguments":"null"})',
      'assistant: look({"unreadable_arguments":"\\"x\\""})',
      'assistant: look({"unreadable_arguments":"{\\"a\\":"})'
    ])
  })
})

/** Three turns of a question, a call and an answer; the third is running. */
const threeTurns = [1, 2, 3].flatMap((n): ReadonlyArray<Entry.Entry> => [
  Entries.user(n),
  Entries.started([n], { turnId: Entries.turn(n) }),
  Entries.response(1, [Entries.request(n)], { turnId: Entries.turn(n) }),
  Entries.result(n, { turnId: Entries.turn(n) }),
  ...(n === 3 ? [] : [Entries.response(2, [], { turnId: Entries.turn(n), text: `answer ${n}` })])
])

describe("a shortened history", () => {
  it("keeps the last messages of earlier turns, and the running turn whole", () => {
    const running = ["user: message 3", "assistant: look({})", 'tool: look = "result 3"']
    assert.deepStrictEqual(lines(threeTurns, 0, 3), running)
    assert.deepStrictEqual(lines(threeTurns, 1, 3), ["assistant: answer 2", ...running])
    assert.deepStrictEqual(lines(threeTurns, 2, 3), [
      "assistant: look({})",
      'tool: look = "result 2"',
      "assistant: answer 2",
      ...running
    ])
    assert.deepStrictEqual(lines(threeTurns, 99, 3), lines(threeTurns, undefined, 3))
  })

  it("begins where the kept messages begin, and never inside the running turn", () => {
    const stored = Entries.stored(threeTurns)
    const seqs = [0, 1, 2, 3, 4, 5, 99].map((keep) => History.keepFrom(stored, keep, Entries.turn(3)))
    const begins = (tag: Entry.EntryKind, nth: number) =>
      stored.filter(({ entry }) => entry._tag === tag)[nth]?.seq ?? -1
    const third = begins("UserMessage", 2)
    assert.deepStrictEqual(seqs.slice(0, 3), [third, third, third])
    assert.isTrue(seqs.every((seq, index) => seq <= (seqs[index - 1] ?? third)))
    assert.strictEqual(seqs.at(-1), 1)
  })

  it.prop(
    "never begins inside the running turn, whatever is kept",
    { garbage: Schema.Array(Entries.Garbage).check(Schema.isMaxLength(14)), keep: Schema.Literals([0, 1, 2, 5]) },
    ({ garbage, keep }) => {
      const stored = Entries.stored(garbage.map(Entries.fromGarbage))
      const keepFrom = History.keepFrom(stored, keep, Entries.turn(1))
      const own = stored.find(({ entry }) => entry._tag !== "UserMessage" && entry.turnId === Entries.turn(1))
      assert.isAtMost(keepFrom, own?.seq ?? stored.length + 1)
      assert.isAtLeast(keepFrom, 1)
    }
  )
})
