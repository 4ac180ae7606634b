import { assert, describe, it } from "@effect/vitest"
import * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Strftime from "../../../src/tools/utility/Strftime.ts"

const at = (iso: string) => Option.getOrThrow(DateTime.make(iso)).pipe(DateTime.toUtc)
const format = (iso: string, pattern: string) =>
  Result.getOrElse(Strftime.format(at(iso), pattern), (bad) => `? ${bad}`)

describe("strftime", () => {
  // From the manual page's own words on each directive, worked out by hand for one moment.
  it("writes every directive", () => {
    const moment = "2024-03-05T04:07:09.042Z"
    const expected: Readonly<Record<string, string>> = {
      "%a": "Tue",
      "%A": "Tuesday",
      "%b": "Mar",
      "%B": "March",
      "%c": "Tue Mar  5 04:07:09 2024",
      "%C": "20",
      "%d": "05",
      "%D": "03/05/24",
      "%e": " 5",
      "%f": "042000",
      "%F": "2024-03-05",
      "%g": "24",
      "%G": "2024",
      "%h": "Mar",
      "%H": "04",
      "%I": "04",
      "%j": "065",
      "%k": " 4",
      "%l": " 4",
      "%m": "03",
      "%M": "07",
      "%n": "\n",
      "%p": "AM",
      "%P": "am",
      "%r": "04:07:09 AM",
      "%R": "04:07",
      "%s": "1709611629",
      "%S": "09",
      "%t": "\t",
      "%T": "04:07:09",
      "%u": "2",
      "%U": "09",
      "%V": "10",
      "%w": "2",
      "%W": "10",
      "%x": "03/05/24",
      "%X": "04:07:09",
      "%y": "24",
      "%Y": "2024",
      "%z": "+0000",
      "%Z": "UTC",
      "%%": "%"
    }
    for (const directive of Strftime.directives()) {
      assert.strictEqual(format(moment, directive), expected[directive], directive)
    }
    assert.strictEqual(format(moment, "%-d/%-m %-H:%-M %-j %-%"), "5/3 4:7 65 %")
  })

  it("knows the weeks at the turn of a year, noon, midnight, leap days and years far away", () => {
    assert.strictEqual(format("2021-01-03T00:00:00Z", "%G-W%V-%u %U %W"), "2020-W53-7 01 00")
    assert.strictEqual(format("2024-12-30T00:00:00Z", "%G-W%V-%u %U %W"), "2025-W01-1 52 53")
    assert.strictEqual(format("2020-12-31T00:00:00Z", "%G-W%V %j"), "2020-W53 366")
    assert.strictEqual(format("2023-01-01T00:00:00Z", "%G-W%V %U %W"), "2022-W52 01 00")
    assert.strictEqual(format("2024-02-29T12:00:00Z", "%I %p %l"), "12 PM 12")
    assert.strictEqual(format("2024-02-29T00:30:00Z", "%I %p"), "12 AM")
    assert.strictEqual(format("0099-12-31T00:00:00Z", "%Y %y %C"), "0099 99 00")
  })

  it("names a directive that does not exist", () => {
    for (const [pattern, bad] of [
      ["%Q", "%Q"],
      ["a %", "%"],
      ["%-", "%-"],
      ["%-Q", "%-Q"],
      ["%%%😀", "%😀"],
      ["%E", "%E"]
    ] as const) {
      assert.deepStrictEqual(Strftime.format(at("2024-01-01T00:00:00Z"), pattern), Result.fail(bad))
    }
  })

  it.prop("leaves text without directives alone", { text: Schema.String }, ({ text }) => {
    const plain = text.replaceAll("%", "")
    assert.strictEqual(format("2024-01-01T00:00:00Z", plain), plain)
    assert.strictEqual(format("2024-01-01T00:00:00Z", text.replaceAll("%", "%%")), text)
  })
})
