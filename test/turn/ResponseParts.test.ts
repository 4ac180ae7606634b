import { assert, describe, it } from "@effect/vitest"
import * as Prompt from "effect/ai/Prompt"
import * as Schema from "effect/Schema"
import type * as Entry from "../../src/thread/Entry.ts"
import * as History from "../../src/turn/History.ts"
import * as ResponseParts from "../../src/turn/ResponseParts.ts"
import * as Entries from "./Entries.ts"

const own = { provider: "scripted", model: "scripted" }

/** What `reader` sees of one response with `fields`. */
const seenBy = (
  reader: { readonly provider: string; readonly model: string } | undefined,
  fields: Partial<Extract<Entry.Entry, { _tag: "AssistantMessage" }>>,
  calls: ReadonlyArray<Entry.ToolCallRequest> = []
) => {
  const entries = Entries.stored([
    Entries.user(1),
    Entries.started([1]),
    Entries.response(1, calls, fields),
    Entries.user(2),
    Entries.folded([2])
  ])
  const prompt = History.render(entries, { system: "Be brief.", turnId: Entries.turn(1), reader })
  const message = prompt.content.find(({ role }) => role === "assistant")
  return message?.role === "assistant"
    ? {
        options: message.options,
        parts: message.content.map((part) =>
          part.type === "text" || part.type === "reasoning"
            ? [part.type, part.text, part.options]
            : [part.type, part.options]
        )
      }
    : undefined
}

/** Gathers what a stream brings. */
const gathered = (...steps: ReadonlyArray<(gatherer: ResponseParts.Gatherer) => unknown>) => {
  const gatherer = ResponseParts.gather()
  for (const step of steps) step(gatherer)
  return gatherer.kept()
}
const add =
  (kind: "text" | "reasoning", id: string, delta: string, metadata: ResponseParts.Metadata = {}) =>
  (gatherer: ResponseParts.Gatherer) =>
    gatherer.add(kind, id, delta, metadata)
const call =
  (metadata: ResponseParts.Metadata = {}) =>
  (gatherer: ResponseParts.Gatherer) =>
    gatherer.call(metadata)

describe("what is kept of a response", () => {
  it("is no list of parts where nothing needs one", () => {
    assert.deepStrictEqual(
      gathered(add("reasoning", "r", "hm"), add("text", "t", "a"), add("text", "t", "b"), call()),
      {
        text: "ab",
        reasoning: [{ text: "hm" }]
      }
    )
  })

  it("joins the metadata that comes at the start, with the pieces and at the end of a part", () => {
    const kept = gathered(
      add("reasoning", "r", "", { one: { id: "r1" } }),
      add("reasoning", "r", "hm", { one: { signature: "s" } }),
      add("reasoning", "r", "", { one: { id: "r2" }, two: null })
    )
    assert.deepStrictEqual(kept.reasoning, [{ text: "hm", metadata: { one: { id: "r2", signature: "s" }, two: null } }])
  })

  it("keeps reasoning that is nothing but metadata, and drops parts that are nothing at all", () => {
    const kept = gathered(add("reasoning", "r", "", { one: { encrypted: "x" } }), add("reasoning", "q", ""), call())
    assert.deepStrictEqual(kept.reasoning, [{ text: "", metadata: { one: { encrypted: "x" } } }])
  })

  it("says how much of a kind came before", () => {
    const gatherer = ResponseParts.gather()
    const offsets = [
      gatherer.add("text", "a", "one", {}),
      gatherer.add("reasoning", "r", "hm", {}),
      gatherer.add("text", "b", "two", {})
    ]
    assert.deepStrictEqual(offsets, [0, 0, 3])
  })
})

describe("F080 reasoning and metadata", () => {
  const metadata = { vendor: { signature: "abc" } }
  const calls = [Entries.request(1), Entries.request(2)]
  const kept = gathered(
    add("reasoning", "r1", "first", metadata),
    add("text", "t1", "I look. ", { vendor: { item: "m1" } }),
    call({ vendor: { item: "c1" } }),
    add("reasoning", "r2", "second", metadata),
    call({ vendor: { item: "c2" } }),
    add("text", "t2", "And again.")
  )

  it("go back to the model that wrote them, in their order, untouched", () => {
    const message = seenBy(own, { ...kept, metadata: { vendor: { response: "r" } } }, calls)
    assert.deepStrictEqual(message, {
      options: { vendor: { response: "r" } },
      parts: [
        ["reasoning", "first", metadata],
        ["text", "I look. ", { vendor: { item: "m1" } }],
        ["tool-call", { vendor: { item: "c1" } }],
        ["reasoning", "second", metadata],
        ["tool-call", { vendor: { item: "c2" } }],
        ["text", "And again.", {}]
      ]
    })
  })

  for (const [who, reader] of [
    ["another model", { ...own, model: "other" }],
    ["another provider", { ...own, provider: "other" }],
    ["nobody in particular", undefined]
  ] as const) {
    it(`do not go to ${who}`, () => {
      const message = seenBy(reader, { ...kept, metadata: { vendor: { response: "r" } } }, calls)
      assert.deepStrictEqual(message, {
        options: {},
        parts: [
          ["text", "I look. And again.", {}],
          ["tool-call", {}],
          ["tool-call", {}]
        ]
      })
    })
  }

  it("do not go back where they were never signed", () => {
    assert.deepStrictEqual(seenBy(own, { reasoning: [{ text: "hm" }] })?.parts, [["text", "answer 1", {}]])
  })

  it("are left out of a list that does not fit the response any more", () => {
    const { parts, text } = kept
    const fewer = seenBy(own, { text, reasoning: [], ...(parts === undefined ? {} : { parts }) }, [Entries.request(1)])
    assert.deepStrictEqual(fewer?.parts, [
      ["text", "I look. And again.", {}],
      ["tool-call", {}]
    ])
  })

  it("cannot make an answer that says nothing part of the history", () => {
    assert.strictEqual(seenBy(own, { text: " ", reasoning: [{ text: "hm", metadata }] }), undefined)
  })

  const Metadata = Schema.Record(Schema.String, Schema.NullOr(Schema.Json))
  it.prop(
    "survive the journal whatever they are",
    { metadata: Metadata, text: Schema.NonEmptyString },
    ({ metadata, text }) => {
      const message = seenBy(
        own,
        gathered(add("reasoning", "r", text, { ...metadata, vendor: 1 }), add("text", "t", "a"))
      )
      const [reasoning] = message?.parts ?? []
      assert.deepStrictEqual(reasoning, [
        "reasoning",
        text.toWellFormed().replaceAll("\0", "\u{FFFD}"),
        { ...metadata, vendor: 1 }
      ])
    }
  )

  it("make a prompt that can be written down and read again", () => {
    const entries = Entries.stored([Entries.user(1), Entries.started([1]), Entries.response(1, calls, kept)])
    const prompt = History.render(entries, { system: "", turnId: Entries.turn(1), reader: own })
    const codec = Schema.fromJsonString(Schema.toCodecJson(Prompt.Prompt))
    assert.deepStrictEqual(Schema.decodeSync(codec)(Schema.encodeSync(codec)(prompt)), prompt)
  })
})
