import { assert, describe, it } from "@effect/vitest"
import * as Option from "effect/Option"
import * as IsoTime from "../../../src/tools/memory/IsoTime.ts"

const parse = (text: string, end?: "first" | "last") =>
  Option.getOrNull(Option.map(IsoTime.parse(text, end), (millis) => new Date(millis).toISOString()))

describe("a time as a model writes it", () => {
  it("is UTC unless it says otherwise", () => {
    for (const [text, expected] of [
      ["2027-01-31T09:30:00", "2027-01-31T09:30:00.000Z"],
      ["2027-01-31 09:30", "2027-01-31T09:30:00.000Z"],
      ["2027-01-31T09:30:00.5Z", "2027-01-31T09:30:00.500Z"],
      ["2027-01-31t09:30:00z", "2027-01-31T09:30:00.000Z"],
      ["2027-01-31T09:30:00+01:00", "2027-01-31T08:30:00.000Z"],
      ["2027-01-31T09:30:00-0530", "2027-01-31T15:00:00.000Z"],
      ["2027-01-31T09:30+01", "2027-01-31T08:30:00.000Z"],
      [" 2027-01-31 ", "2027-01-31T00:00:00.000Z"],
      ["2028-02-29", "2028-02-29T00:00:00.000Z"]
    ] as const) {
      assert.strictEqual(parse(text), expected, text)
    }
  })

  it("that is a date includes its whole day", () => {
    assert.strictEqual(parse("2027-01-31", "last"), "2027-01-31T23:59:59.999Z")
    assert.strictEqual(parse("2027-01-31T10:00", "last"), "2027-01-31T10:00:00.000Z")
  })

  it("is nothing else", () => {
    for (const text of [
      "",
      "tomorrow",
      "2027-02-30",
      "2027-13-01",
      "2027-01-31T25:00",
      "31.01.2027",
      "1798675200",
      "2027-1-1"
    ]) {
      assert.isNull(parse(text), text)
    }
  })
})
