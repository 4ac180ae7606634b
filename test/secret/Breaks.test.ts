import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Masker from "../../src/secret/Masker.ts"

const secret = "zq-0123456789+ABCDEFGHIJ/klmnopqrstuvwxyz~KLMNOPQRSTUVWXYZ_the-end-of-a-long-key"
const masker = Masker.make([Redacted.make(secret)])

/** Rows of so many symbols. */
const rowsOf = (text: string, width: number): ReadonlyArray<string> =>
  text.match(new RegExp(`.{1,${width}}`, "gs")) ?? []
const wrapped = (text: string, width: number, line: string): string => rowsOf(text, width).join(line)
const base64 = (text: string): string => Buffer.from(text).toString("base64")
const hex = (text: string): string => Buffer.from(text).toString("hex")
const bytesApart = (row: string, between: string): string => rowsOf(row, 2).join(between)
const seen = (row: string): string =>
  Buffer.from(row, "hex")
    .toString("latin1")
    .replace(/[^ -~]/g, ".")

/** As the programs print it. */
const dumps: Readonly<Record<string, (text: string) => string>> = {
  "od -An -tx1": (text) =>
    rowsOf(hex(text), 32)
      .map((row) => ` ${bytesApart(row, " ")}\n`)
      .join(""),
  "od -tx1": (text) =>
    rowsOf(hex(text), 32)
      .map((row, at) => `${(at * 16).toString(8).padStart(7, "0")} ${bytesApart(row, " ")}\n`)
      .join(""),
  xxd: (text) =>
    rowsOf(hex(text), 32)
      .map((row, at) => {
        const groups = rowsOf(row, 4).join(" ").padEnd(39)
        return `${(at * 16).toString(16).padStart(8, "0")}: ${groups}  ${seen(row)}\n`
      })
      .join(""),
  "hexdump -C": (text) =>
    rowsOf(hex(text), 32)
      .map((row, at) => {
        const halves = rowsOf(row, 16).map((half) => bytesApart(half, " "))
        return `${(at * 16).toString(16).padStart(8, "0")}  ${halves.join("  ").padEnd(48)}  |${seen(row)}|\n`
      })
      .join(""),
  "openssl (bytes apart by colons)": (text) =>
    rowsOf(hex(text), 30)
      .map((row) => `    ${bytesApart(row, ":")}`)
      .join(":\n"),
  "xxd -p": (text) => wrapped(hex(text), 60, "\n"),
  "xxd -p -u": (text) => wrapped(hex(text).toUpperCase(), 60, "\n"),
  base64: (text) => wrapped(base64(text), 76, "\n"),
  "base64 of a mail": (text) => wrapped(base64(text), 76, "\r\n"),
  "base64 -w 64": (text) => wrapped(base64(text), 64, "\n"),
  "base64 -w 20": (text) => wrapped(base64(text), 20, "\n"),
  "base64 in YAML": (text) => `key: |\n  ${wrapped(base64(text), 70, "\n  ")}`,
  "base64 in JSON": (text) => JSON.stringify(wrapped(base64(text), 64, "\n")),
  "base64 in JSON in JSON": (text) => JSON.stringify(JSON.stringify(wrapped(base64(text), 64, "\r\n"))),
  "base64 | cat -n": (text) =>
    rowsOf(base64(text), 76)
      .map((row, at) => `${String(at + 1).padStart(6)}\t${row}\n`)
      .join(""),
  "base64 | grep -n": (text) =>
    rowsOf(base64(text), 76)
      .map((row, at) => `${at + 1}:${row}\n`)
      .join("")
}

/** Twelve symbols of an encoding, breaks aside, or eight of the secret: what must not be seen. */
const tells = (text: string, of: string): boolean => {
  const bare = text.replace(/\\+[nrt]|[\s:\\]/g, "").toLowerCase()
  const encoded = [hex(of), ...["", "x", "xy"].map((before) => base64(`${before}${of}`).slice(4, -4).toLowerCase())]
  return (
    encoded.some((form) => windows(form, 12).some((window) => bare.includes(window))) ||
    windows(of, 8).some((window) => text.includes(window))
  )
}
const windows = (text: string, length: number): ReadonlyArray<string> =>
  Array.from({ length: Math.max(0, text.length - length + 1) }, (_, at) => text.slice(at, at + length))

const inPieces = (text: string, size: number): string => {
  const masking = masker.texts()
  return rowsOf(text, size).map(masking.take).join("") + masking.rest({ cut: false })
}
const bytesInPieces = (text: string, size: number): string => {
  const masking = masker.bytes()
  const pieces = rowsOf(text, size).map((piece) => masking.take(Buffer.from(piece)))
  return Buffer.concat([...pieces, masking.rest({ cut: false })]).toString()
}

describe("F059 an encoded secret that is printed with breaks in it", () => {
  for (const [program, print] of Object.entries(dumps)) {
    it(`F059 is masked as ${program} prints it, wherever it stands in there`, () => {
      for (let before = 0; before < 80; before++) {
        const text = `first line\n${print(`${"=".repeat(before)}${secret}${"=".repeat(before % 7)}`)}\nlast line`
        assert.isTrue(tells(text, secret), text)
        const masked = masker.text(text)
        assert.include(masked, "[redacted]")
        assert.isFalse(tells(masked, secret), masked)
        assert.isTrue(masked.startsWith("first line\n"))
        assert.isTrue(masked.endsWith("\nlast line"))
        assert.strictEqual(inPieces(text, 1 + (before % 9)), masked)
        assert.strictEqual(bytesInPieces(text, 1 + (before % 11)), masked)
      }
    })
  }

  it("F059 is masked where a cut goes through it, wherever", () => {
    for (const program of ["base64", "xxd -p", "od -An -tx1"]) {
      const text = dumps[program]?.(secret) ?? ""
      for (let cut = 0; cut <= text.length; cut++) {
        for (const piece of [text.slice(0, cut), text.slice(cut)].map(masker.piece)) {
          assert.isFalse(tells(piece, secret), `${program}, cut at ${cut}: ${piece}`)
        }
      }
    }
  })

  it.effect.prop(
    "F059 is masked whatever it is and wherever the breaks are, the same in pieces as in one",
    [
      Arbitrary.schema(
        Schema.Struct({
          secret: Schema.String.check(Schema.isPattern(/^[a-f0-9A-Z+/=_ é✓-]{16,90}$/)),
          before: Schema.String.check(Schema.isPattern(/^[a-f0-9 \n:]{0,40}$/)),
          width: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 90 })),
          line: Schema.Literals(["\n", "\r\n", "\n    ", " ", "\\n", "\\\\r\\\\n", ":"]),
          size: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 40 }))
        })
      )
    ],
    ([{ before, line, secret: one, size, width }]) =>
      Effect.sync(() => {
        if (one.trim().length < 16) return
        const known = Masker.make([Redacted.make(one)])
        for (const encode of [base64, hex]) {
          const text = `${before}${wrapped(encode(one.trim()), width, line)}${line}${before}`
          const masked = known.text(text)
          assert.include(masked, "[redacted]", text)
          assert.isFalse(tells(masked, one.trim()), masked)
          const masking = known.texts()
          const pieces = rowsOf(text, size).map(masking.take).join("") + masking.rest({ cut: false })
          assert.strictEqual(pieces, masked)
        }
      }),
    { arbitrary: { runs: 300 } }
  )

  it("leaves other dumps and lines alone, and holds back little of them", () => {
    const other = "another text of some length, 0123456789, that nobody need hide: zq-0123 zq-0 zq-\n".repeat(4)
    for (const print of Object.values(dumps)) assert.strictEqual(masker.text(print(other)), print(other))
    // Its first bytes at the end of a row and the others two rows below: what waited for the next row does not wait for another.
    const apart = `${secret.slice(0, 2).padStart(16, "=")}${"=".repeat(16)}${secret.slice(2)}`
    for (const print of [dumps.xxd, dumps["hexdump -C"], dumps["od -tx1"]]) {
      assert.isTrue(masker.text(print?.(apart) ?? "") === print?.(apart), print?.(apart))
    }
    // Two bytes of the secret in a row, then one in each: rows have more bytes than that.
    const scattered = [secret.slice(0, 2), ...secret.slice(2)].map((part) => part.padEnd(16, "=")).join("")
    for (const print of Object.values(dumps)) {
      assert.isTrue(masker.text(print(scattered)) === print(scattered), print(scattered))
    }
    // The letters of a secret in any other order: what waits for a row must not wait for the one after it.
    const known = Masker.make([Redacted.make("abcdefgh-ijklmnop")])
    let state = 1
    const letters = Array.from({ length: 20_000 }, () => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0
      return "abcdefgh-ijklmnop".charAt((state >>> 16) % 17)
    })
    for (const print of Object.values(dumps)) {
      const text = print(letters.join(""))
      assert.isTrue(known.text(text) === text, text.slice(0, 200))
    }
    const masking = masker.texts()
    // The first bytes of the secret, and then so many spaces that nothing of it can follow.
    const shown = masking.take(`7a 71 ${" ".repeat(200)}`)
    assert.strictEqual(shown.length, 206)
  })

  it("F059 of one letter is masked over any length, and what is far back is forgotten", () => {
    const letters = Masker.make([Redacted.make("z".repeat(40))])
    assert.strictEqual(letters.text("7a ".repeat(100_000)), "[redacted] ")
    const masking = letters.texts()
    const out = Array.from({ length: 1000 }, () => masking.take("7a ".repeat(100)))
    assert.strictEqual(out.join("") + masking.rest({ cut: false }), "[redacted] ")
  })

  it("leaves what only begins like the secret, however often", () => {
    const many = "7a ".repeat(100_000)
    assert.strictEqual(masker.text(many), many)
    const masking = masker.texts()
    assert.strictEqual(rowsOf(many, 100).map(masking.take).join("") + masking.rest({ cut: false }), many)
  })
})
