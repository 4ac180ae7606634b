/** Text that breaks what reads it, from tools, models and people: it is made fit once, and the conversation goes on. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as TestRuntime from "../../layers/testing/TestRuntime.ts"
import * as Scripted from "../../src/testing/ScriptedModel.ts"
import * as Tool from "../../src/tool/Tool.ts"
import * as ToolRegistry from "../../src/tool/ToolRegistry.ts"
import * as Fixtures from "./Fixtures.ts"

const { TestRuntime: Troupe } = TestRuntime
const { text, toolCall } = Scripted

const controls = Array.from({ length: 32 }, (_, code) => String.fromCharCode(code)).join("")
/** Every byte and every code unit, as a program that is no text prints them. */
const noise = (size: number) => {
  let state = 7
  return Array.from({ length: size }, () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return String.fromCharCode(state % 65_536)
  }).join("")
}
/** What is left of a text in another encoding when it was read byte by byte. */
const asBytes = (...bytes: ReadonlyArray<number>) => String.fromCharCode(...bytes)

/** What it gives is read as it is, like what a program prints. */
const Print = Tool.make("print", {
  description: "Prints.",
  parameters: Schema.Struct({}),
  success: Schema.Struct({ output: Schema.String }),
  failure: Schema.Struct({ code: Schema.String, message: Schema.String }),
  limits: { timeout: "1 minute", output: { maxChars: 1000 } },
  cancellation: "interruptible",
  replay: "safe",
  capabilities: [],
  text: ({ output }) => output
})

const strings = (value: unknown): ReadonlyArray<string> => {
  if (typeof value === "string") return [value]
  return typeof value === "object" && value !== null
    ? [...Object.keys(value), ...Object.values(value).flatMap(strings)]
    : []
}
const assertSound = (value: unknown) => {
  for (const found of strings(value)) {
    assert.isTrue(found.isWellFormed())
    assert.notInclude(found, "\0")
  }
}

/** A turn in which a tool says this, and a next one, before a model that refuses what the pickiest provider refuses. */
const told = (said: string) =>
  Effect.gen(function* () {
    const troupe = yield* Troupe
    const first = yield* troupe.say("go")
    assert.strictEqual(first.answer, "seen")
    assertSound(first.entries)
    assert.strictEqual((yield* troupe.say("and now?")).answer, "fine")
    const prompts = yield* (yield* Scripted.ScriptedModel).received
    for (const prompt of prompts) assertSound(prompt.content)
    const result = first.entries.find((entry) => entry._tag === "ToolResult")
    return result?._tag === "ToolResult" ? result.text : ""
  }).pipe(
    Effect.provide(
      TestRuntime.layer({
        scripts: [[toolCall("print")], [text("seen")], [text("fine")]],
        tools: Layer.orDie(ToolRegistry.layer([Print], { print: () => Effect.succeed({ output: said }) }))
      })
    )
  )

describe("what a tool says", () => {
  for (const [name, said] of [
    ["NUL", "\0"],
    ["every control character", controls],
    ["a megabyte of noise", noise(1_000_000)]
  ] as const) {
    it.effect(`F044: may be ${name}; it is stored and sent clean, and the next turn works`, () =>
      Effect.map(told(`begin ${said} end`), (stored) => {
        assert.include(stored, "begin")
        assert.include(stored, "end")
      })
    )
  }

  it.effect("F045: may be cut in the middle of an emoji, at every length", () =>
    // A result may have 8000 characters: the cuts on both sides of what is left out fall somewhere into these.
    Effect.forEach(
      Array.from({ length: 8 }, (_, extra) => extra),
      (extra) =>
        Effect.map(told(`${"x".repeat(extra)}${"😀".repeat(5000)}`), (stored) => {
          assert.isAtMost(stored.length, 8000)
          assert.include(stored, "left out")
          assert.notInclude(stored, "\ufffd")
        })
    )
  )

  for (const [name, said, kept] of [
    ["UTF-16 with its mark, read as bytes", asBytes(0xff, 0xfe, 0x48, 0, 0x69, 0), "ÿþH"],
    ["GBK, read as bytes", asBytes(0xc4, 0xe3, 0xba, 0xc3), "Äãº"],
    ["Latin-1, read as UTF-8", "Gr\ufffd\ufffde", "Gr"]
  ] as const) {
    it.effect(`F048: may be ${name}, and the conversation goes on`, () =>
      Effect.map(told(said), (stored) => assert.include(stored, kept))
    )
  }
})

describe("what a model says", () => {
  it.effect("F045: may be cut in the middle of an emoji: what is shown of it is whole", () => {
    const pieces = ["a\ud83d", "\ude00b", "\ud83d", "", "\ude00", "lone \ude00", " end \ud83d"]
    return Effect.gen(function* () {
      const events = yield* Fixtures.recordEvents
      const outcome = yield* (yield* Troupe).say("go")
      assertSound(outcome.entries)
      const shown = events.seen.flatMap((event) => (event._tag === "ModelDelta" ? [event] : []))
      for (const kind of ["text", "reasoning"] as const) {
        const deltas = shown.filter((delta) => delta.kind === kind)
        assertSound(deltas)
        let offset = 0
        for (const delta of deltas) {
          assert.strictEqual(delta.offset, offset)
          offset += delta.text.length
        }
        assert.strictEqual(deltas.map((delta) => delta.text).join(""), "a😀b😀lone \ufffd end \ufffd")
      }
      assert.strictEqual(outcome.answer, "a😀b😀lone \ufffd end \ufffd")
    }).pipe(
      Effect.provide(
        TestRuntime.layer({ scripts: [[Scripted.reasoning(...pieces), text(...pieces)]], tools: Fixtures.echo })
      )
    )
  })

  it.effect("may hold NUL and halves of characters: what is shown, stored and followed is the same", () => {
    const pieces = ["a\0", "b\ud83d", "\0c", "\ude00d", "\0", "e \ud83d", "\ude00"]
    const clean = "ab\ufffdc\ufffdde 😀"
    return Effect.gen(function* () {
      const events = yield* Fixtures.recordEvents
      const outcome = yield* (yield* Troupe).say("go")
      const shown = events.seen.flatMap((event) => (event._tag === "ModelDelta" ? [event] : []))
      for (const kind of ["text", "reasoning"] as const) {
        const deltas = shown.filter((delta) => delta.kind === kind)
        let whole = ""
        for (const delta of deltas) {
          assert.strictEqual(delta.offset, whole.length)
          whole += delta.text
        }
        assert.strictEqual(whole, clean)
      }
      const stored = outcome.entries.find((entry) => entry._tag === "AssistantMessage")
      assert.strictEqual(stored?._tag === "AssistantMessage" ? stored.text : "", clean)
      assert.deepStrictEqual(stored?._tag === "AssistantMessage" ? stored.reasoning.map(({ text }) => text) : [], [
        clean
      ])
    }).pipe(
      Effect.provide(
        TestRuntime.layer({ scripts: [[Scripted.reasoning(...pieces), text(...pieces)]], tools: Fixtures.echo })
      )
    )
  })
})

describe("separators that are no line breaks", () => {
  const words = "one\u2028two\u2029three"

  it.effect("F047: stay in their record, in the thread and in one line of JSON", () =>
    Effect.gen(function* () {
      const outcome = yield* (yield* Troupe).say(words)
      assert.strictEqual(outcome.answer, words)
      const [first] = outcome.entries
      assert.strictEqual(first?._tag === "UserMessage" ? first.text : "", words)
      const prompts = yield* (yield* Scripted.ScriptedModel).received
      assert.include(
        JSON.stringify(prompts[0]?.content),
        Schema.encodeSync(Schema.fromJsonString(Schema.String))(words)
      )
    }).pipe(Effect.provide(TestRuntime.layer({ scripts: [[text(words)]], tools: Fixtures.echo })))
  )
})
