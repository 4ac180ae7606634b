/** Files that were not written by a person who means well: the answer is a report, soon, and never a defect. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { ConfigError } from "../../src/config/ConfigError.ts"
import { Settings } from "../../src/config/Settings.ts"
import * as Suggest from "../../src/config/Suggest.ts"
import { read, refuse } from "./Files.ts"

/** Settings or a report: whatever else happens is a defect. */
const isAnswered = (text: string) =>
  Effect.map(Effect.exit(Effect.result(read(text, { SET: "value" }))), (exit) => {
    assert.isTrue(Exit.isSuccess(exit), `${JSON.stringify(text.slice(0, 200))}: ${String(exit)}`)
    if (Exit.isSuccess(exit) && Result.isFailure(exit.value)) assert.instanceOf(exit.value.failure, ConfigError)
  })

const unknownKeys = (count: number) => Array.from({ length: count }, (_, index) => `k${index} = 1`).join("\n")

describe("hostile files", () => {
  it.effect("thousands of unknown keys are one report, of a length that can be read", () =>
    Effect.gen(function* () {
      const error = yield* refuse(`[memory]\n${unknownKeys(20_000)}\nmax_history_messages = 0`)
      assert.strictEqual(error.problems.length, 20_001)
      const lines = error.message.split("\n")
      assert.strictEqual(lines[0], "config.toml: 20001 problems")
      assert.strictEqual(lines.at(-1), "  … and 19901 more")
      assert.isBelow(lines.length, 300)
    })
  )

  it("a long word is not compared with the known ones, letter by letter", () => {
    assert.isUndefined(Suggest.nearest("a".repeat(5_000_000), ["provider", "model"]))
  })

  const deep: ReadonlyArray<readonly [name: string, text: string]> = [
    ["dotted keys", `${"a.".repeat(5000)}b = 1`],
    ["dotted headers", `[${"a.".repeat(5000)}b]`],
    ["lists of tables", `[[${"a.".repeat(5000)}b]]`],
    ["lists", `a = ${"[".repeat(900)}${"]".repeat(900)}`],
    ["more lists than the parser takes", `a = ${"[".repeat(100_000)}`],
    ["tables in a line", `a = ${"{a=".repeat(900)}1${"}".repeat(900)}`],
    ["a path inside a known section", `[providers.openai.headers]\n${"x.".repeat(5000)}y = "1"`]
  ]
  for (const [name, text] of deep) {
    it.effect(`${name}, thousands deep`, () =>
      Effect.gen(function* () {
        const error = yield* refuse(text)
        assert.isBelow(error.message.length, 2000)
      })
    )
  }

  it.effect("settings given in code that contain themselves", () =>
    Effect.gen(function* () {
      const loop: Record<string, unknown> = {}
      loop["loop"] = loop
      const error = yield* Effect.flip(Effect.provide(Settings, Settings.layer(loop)))
      assert.include(error.message, "more than 16 deep")
    })
  )

  it.effect("references without end", () =>
    Effect.gen(function* () {
      yield* isAnswered(`a = "${"$${".repeat(100_000)}"`)
      yield* isAnswered(`a = "${"${".repeat(100_000)}"`)
      yield* isAnswered(`a = "${"${SET}".repeat(50_000)}"`)
    })
  )

  // Pieces of TOML and of the settings, in any order: most of it is broken in some way, much of it only in its meaning.
  const Piece = Schema.Literals([
    "\n",
    "[http]\n",
    "[providers.openai]\n",
    "[[llm]]\n",
    "[__proto__]\n",
    '[tools."x y"]\n',
    "port",
    "host",
    "headers",
    "constructor",
    "a.b.c",
    '"${SET}"',
    '"${UNSET}"',
    '"${"',
    '"$${"',
    '"${secret:x}"',
    " = ",
    "1",
    "-0",
    "nan",
    "1e400",
    "99999999999999999999",
    "true",
    "1979-05-27T07:32:00Z",
    "[",
    "]",
    "{",
    "}",
    ",",
    '"',
    "'''",
    '"""',
    "#",
    "\\u0000",
    "\u0000",
    "\ud800",
    "\u202e",
    "\r"
  ])

  it.effect.prop(
    "any text ends in settings or in a report",
    [Schema.Array(Schema.Union([Piece, Schema.String]))],
    ([pieces]) => isAnswered(pieces.join("")),
    { arbitrary: { runs: 1000 } }
  )

  it.effect.prop(
    "so does any document that is well formed",
    [Schema.Array(Schema.Struct({ section: Schema.String, key: Schema.String, value: Schema.Json }))],
    ([rows]) =>
      isAnswered(
        rows
          .map(
            ({ key, section, value }, index) =>
              `[${JSON.stringify(section)}.s${index}]\n${JSON.stringify(key)} = ${inToml(value)}`
          )
          .join("\n")
      ),
    { arbitrary: { runs: 300 } }
  )
})

/** JSON as TOML writes it; `null`, which TOML does not have, is a list. */
const inToml = (value: Schema.Json): string => {
  if (value === null) return "[]"
  if (Array.isArray(value)) return `[${value.map(inToml).join(", ")}]`
  if (typeof value !== "object") return JSON.stringify(value)
  return `{ ${Object.entries(value)
    .map(([key, inner]) => `${JSON.stringify(key)} = ${inToml(inner)}`)
    .join(", ")} }`
}
