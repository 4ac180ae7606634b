import { assert, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import * as WellFormed from "../../src/thread/WellFormed.ts"

const encode = Schema.encodeSync(Schema.fromJsonString(Schema.String))
const decode = Schema.decodeSync(Schema.fromJsonString(Schema.String))

/** Text dense in what matters: halves of emoji, NULs, backslashes and the letters of escapes. */
const Dense = Schema.Array(
  Schema.Literals(["\ud83d", "\ude00", "😀", "\u0000", "\\", "u", "d", "8", "3", "0", '"', "\n", "\u2028", "x"])
)

it.prop("cleaning inside JSON is cleaning the strings", { parts: Dense }, ({ parts }) => {
  const text = parts.join("")
  assert.strictEqual(decode(WellFormed.json(encode(text))), WellFormed.text(text))
})

it.prop("what was cleaned is well-formed, and cleaning it again changes nothing", { parts: Dense }, ({ parts }) => {
  const cleaned = WellFormed.text(parts.join(""))
  assert.isTrue(cleaned.isWellFormed())
  assert.notInclude(cleaned, "\u0000")
  assert.strictEqual(WellFormed.text(cleaned), cleaned)
})
