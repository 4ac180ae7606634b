import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Masker from "../../src/secret/Masker.ts"
import * as Masking from "../../src/secret/Masking.ts"
import * as Matcher from "../../src/secret/Matcher.ts"
import * as Forms from "../../src/secret/Forms.ts"

const bytesOf = (text: string) => new TextEncoder().encode(text)

/** Cuts a sequence at these places. */
const cutAt = <A extends string | Uint8Array>(
  whole: A,
  cuts: ReadonlyArray<number>,
  slice: (whole: A, start: number, end: number) => A
): ReadonlyArray<A> => {
  const places = [...new Set(cuts.map((cut) => cut % (whole.length + 1)))].toSorted((a, b) => a - b)
  return [...places, whole.length].map((end, index) => slice(whole, places[index - 1] ?? 0, end))
}

const inPieces = <A>(masking: Masking.Masking<A>, pieces: ReadonlyArray<A>): ReadonlyArray<A> => [
  ...pieces.map(masking.take),
  masking.rest({ cut: false })
]

const encodings: ReadonlyArray<readonly [string, (secret: string) => string]> = [
  ["as it is", (secret) => secret],
  ["in JSON", (secret) => JSON.stringify(secret)],
  ["in a URL", (secret) => encodeURIComponent(secret)],
  ["in a form", (secret) => new URLSearchParams({ a: secret }).toString()],
  ["in hexadecimal", (secret) => Buffer.from(secret).toString("hex")],
  ["in hexadecimal of upper case", (secret) => Buffer.from(secret).toString("hex").toUpperCase()],
  ...["", "x", "xy"].flatMap((before): ReadonlyArray<readonly [string, (secret: string) => string]> => [
    [`in base64 after ${before.length} bytes`, (secret) => Buffer.from(`${before}${secret}`).toString("base64")],
    [`in base64 before a byte, after ${before.length}`, (s) => Buffer.from(`${before}${s}!`).toString("base64")],
    [`in base64 for URLs after ${before.length} bytes`, (s) => Buffer.from(`${before}${s}`).toString("base64url")]
  ])
]

/** Whether the secret, or all of it but what its neighbours decide too, can be read out of a text. */
const tells = (text: string, secret: string): boolean => {
  if (text.includes(secret) || text.includes(encodeURIComponent(secret)) || text.includes(JSON.stringify(secret)))
    return true
  const decoders: ReadonlyArray<(run: string) => string> = [
    (run) => Buffer.from(run, "hex").toString("latin1"),
    ...[0, 1, 2, 3].map((skip) => (run: string) => Buffer.from(run.slice(skip), "base64").toString("latin1"))
  ]
  const plain = Buffer.from(secret).toString("latin1")
  return (text.match(/[A-Za-z0-9+/_-]{8,}/g) ?? []).some((run) =>
    decoders.some((decode) => decode(run).includes(plain))
  )
}

// Of letters and signs that encodings treat differently, and a few beyond ASCII.
const secretSchema = Schema.String.check(Schema.isPattern(/^[A-Za-z0-9+/=_ "\\%&é✓-]{8,60}$/))
const place = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 100_000 }))
const Case = Schema.Struct({
  secrets: Schema.Array(secretSchema).check(Schema.isMinLength(1), Schema.isMaxLength(4)),
  which: place,
  encoding: place,
  around: Schema.Tuple([Schema.String.check(Schema.isMaxLength(40)), Schema.String.check(Schema.isMaxLength(40))]),
  cuts: Schema.Array(place).check(Schema.isMaxLength(12))
})

describe("F059 a known secret in a stream", () => {
  it.effect.prop(
    "F059 is masked whatever it is, however it is encoded and wherever the stream is cut",
    [Arbitrary.schema(Case)],
    ([{ around, cuts, encoding, secrets, which }]) =>
      Effect.sync(() => {
        const secret = secrets[which % secrets.length] ?? ""
        if (secret.trim().length < Forms.shortestPiece) return
        const [, encode] = encodings[encoding % encodings.length] ?? ["", (text: string) => text]
        const text = `${around[0].toWellFormed()} ${encode(secret)} ${around[1].toWellFormed()}`
        const masker = Masker.make(secrets.map((one) => Redacted.make(one)))
        const whole = masker.text(text)
        assert.isFalse(tells(whole, secret), whole)
        const texts = inPieces(
          masker.texts(),
          cutAt(text, cuts, (all, start, end) => all.slice(start, end))
        ).join("")
        assert.strictEqual(texts, whole)
        const bytes = inPieces(
          masker.bytes(),
          cutAt(bytesOf(text), cuts, (all, start, end) => all.subarray(start, end))
        )
        assert.strictEqual(Buffer.concat(bytes).toString(), whole)
      }),
    { arbitrary: { runs: 300 } }
  )

  it("F059 is never seen before it is complete: nothing of it has left at any cut", () => {
    const secret = "zq-0123456789-ABCDEFGHIJ"
    const masker = Masker.make([Redacted.make(secret)])
    for (let cut = 1; cut < secret.length; cut++) {
      const masking = masker.texts()
      assert.strictEqual(masking.take(`key: ${secret.slice(0, cut)}`), "key: ", `cut at ${cut}`)
      assert.strictEqual(masking.take(`${secret.slice(cut)}.`), "[redacted].")
    }
  })

  it("F059 is held back no further than its longest form, and other words are not", () => {
    const masker = Masker.make([Redacted.make("zq-0123456789-ABCDEFGHIJ")])
    const masking = masker.texts()
    assert.strictEqual(masking.take("an answer of words"), "an answer of words")
    assert.strictEqual(masking.take(" that goes on, z"), " that goes on, ")
    assert.strictEqual(masking.take("ebra"), "zebra")
    assert.strictEqual(masking.rest({ cut: true }), "")
  })

  it("F059 that a limit cut is masked up to the cut", () => {
    const masking = Masker.make([Redacted.make("zq-0123456789-ABCDEFGHIJ")]).texts()
    assert.strictEqual(masking.take("the key is zq-0123456789-AB"), "the key is ")
    assert.strictEqual(masking.rest({ cut: true }), "[redacted]")
  })

  it("F059 of several lines is masked as a whole and line by line", () => {
    const lines = [
      "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC",
      "BKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj",
      "MzEfYyjiWA4R4ypbHqGC0H0+tG3hGbNv"
    ]
    const pem = ["-----BEGIN PRIVATE KEY-----", ...lines, "-----END PRIVATE KEY-----", ""].join("\n")
    const masker = Masker.make([Redacted.make(pem)])
    assert.strictEqual(masker.text(`a ${pem} b`), "a [redacted] b")
    const shown = masker.text(lines.map((line, index) => `${index}: ${line}`).join("\r\n"))
    assert.strictEqual(shown, "0: [redacted]\r\n1: [redacted]\r\n2: [redacted]")
    // What every key file has is no secret.
    assert.include(masker.text("-----BEGIN PRIVATE KEY----- is how it begins"), "-----BEGIN PRIVATE KEY----- is")
  })

  it("F059 that overlaps another one leaves nothing of either", () => {
    const masker = Masker.make([
      Redacted.make("abcdefgh-12345"),
      Redacted.make("12345-ijklmnop"),
      Redacted.make("gh-12345")
    ])
    assert.strictEqual(masker.text("x abcdefgh-12345-ijklmnop y"), "x [redacted] y")
    const masking = masker.texts()
    const out = Array.from("x abcdefgh-12345-ijklmnop y", masking.take).join("") + masking.rest({ cut: true })
    assert.strictEqual(out, "x [redacted] y")
  })

  it("F059 that is learned in the middle of a stream is masked from then on", () => {
    const masker = Masker.make([])
    const masking = masker.texts()
    assert.strictEqual(masking.take("late-secret-1 "), "late-secret-1 ")
    masker.add(Redacted.make("late-secret-1"))
    assert.strictEqual(masking.take("late-secret-1 "), "[redacted] ")
  })

  it("too short to be one is left alone, so that no word is masked", () => {
    const masker = Masker.make(["a", "test", "ollama"].map((one) => Redacted.make(one)))
    assert.strictEqual(masker.text("a test of ollama"), "a test of ollama")
    assert.strictEqual(Masker.make([Redacted.make("12345678")]).text("of 12345678"), "of [redacted]")
  })
})

describe("the matcher", () => {
  const symbols = (text: string) => Masking.text.symbols(text)
  const word = Schema.String.check(Schema.isPattern(/^[ab]{1,6}$/))

  it.effect.prop(
    "finds at each place the longest pattern that ends there",
    [
      Arbitrary.schema(Schema.Array(word).check(Schema.isMinLength(1), Schema.isMaxLength(6))),
      Arbitrary.schema(Schema.String.check(Schema.isPattern(/^[abc]{0,40}$/)))
    ],
    ([patterns, text]) =>
      Effect.sync(() => {
        const found: Array<string> = []
        const matcher = Matcher.make(patterns.map(symbols)).start()
        matcher.scan(symbols(text), 0, (start, end) => found.push(`${start}-${end}`))
        const expected = Array.from({ length: text.length + 1 }, (_, end) => {
          const lengths = patterns.filter((pattern) => text.slice(0, end).endsWith(pattern)).map(({ length }) => length)
          return lengths.length === 0 ? [] : [`${end - Math.max(...lengths)}-${end}`]
        }).flat()
        assert.deepStrictEqual(found, expected)
      })
  )
})
