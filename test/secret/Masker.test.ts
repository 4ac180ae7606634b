import { assert, describe, it } from "@effect/vitest"
import * as Redacted from "effect/Redacted"
import * as Masking from "../../src/secret/Masking.ts"
import * as Masker from "../../src/secret/Masker.ts"

const secrets = [
  "sk-Abc/def+123==",
  'quo"ted \\ and/or <spaced> & more',
  "Bearer tok-ü✓-0123456789",
  "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQ\nEFAASCBKcwggSjAgEAAoIBAQ\n-----END KEY-----"
]
const masker = Masker.make(secrets.map((secret) => Redacted.make(secret)))

const forms: ReadonlyArray<readonly [string, (text: string) => string]> = [
  ["as it is", (text) => text],
  ["in JSON", (text) => JSON.stringify({ text })],
  ["in JSON in JSON", (text) => JSON.stringify({ body: JSON.stringify({ text }) })],
  ["in JSON with escaped slashes", (text) => JSON.stringify(text).replaceAll("/", "\\/")],
  [
    "in JSON of ASCII",
    (text) =>
      JSON.stringify(text).replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
  ],
  ["in a URL", (text) => `https://x.example/?key=${encodeURIComponent(text)}&more=1`],
  ["in a URL in lower case", (text) => encodeURIComponent(text).replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase())],
  ["in a form", (text) => new URLSearchParams({ key: text }).toString()],
  [
    "in HTML",
    (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;")
  ],
  ["in base64", (text) => Buffer.from(text).toString("base64")],
  ["in base64 for URLs", (text) => Buffer.from(text).toString("base64url")],
  ["in base64 after a name", (text) => `Basic ${Buffer.from(`user:${text}`).toString("base64")}`],
  ["in base64 between other words", (text) => Buffer.from(`{"a":"${text}"}`).toString("base64")],
  ["in hexadecimal", (text) => Buffer.from(text).toString("hex")],
  ["in hexadecimal of upper case", (text) => Buffer.from(text).toString("hex").toUpperCase()]
]

/** A text from which somebody could take the secret back, whatever form it is in. */
const tells = (text: string, secret: string): boolean => {
  const core = secret.slice(3, -3)
  return forms.some(([name, form]) => !name.includes("between") && !name.includes("after") && text.includes(form(core)))
}

describe("a known secret", () => {
  for (const [name, form] of forms) {
    it(`is masked ${name}`, () => {
      for (const secret of secrets) {
        const masked = masker.text(`before ${form(secret)} after`)
        assert.include(masked, Masking.mark)
        assert.isFalse(tells(masked, secret), masked)
        assert.isTrue(masked.startsWith("before "))
        assert.isTrue(masked.endsWith(" after"))
      }
    })
  }

  it("is masked without its scheme, and line by line", () => {
    assert.notInclude(masker.text("the token tok-ü✓-0123456789 is wrong"), "tok-")
    assert.notInclude(masker.text("bad line: MIIEvQIBADANBgkqhkiG9w0BAQ"), "MIIEv")
  })

  it("is masked when a cut goes through it, wherever", () => {
    const [secret = ""] = secrets
    const text = `the key ${secret} is wrong`
    for (let cut = 0; cut <= text.length; cut++) {
      const pieces = [text.slice(0, cut), text.slice(cut)].map(masker.piece)
      for (let at = 0; at + 8 <= secret.length; at++) {
        for (const piece of pieces) assert.notInclude(piece, secret.slice(at, at + 8), `cut at ${cut}`)
      }
    }
  })

  it("that is learned later is masked from then on", () => {
    const growing = Masker.make([])
    assert.strictEqual(growing.text("not-yet-known"), "not-yet-known")
    growing.add(Redacted.make("not-yet-known"))
    assert.strictEqual(growing.text("a not-yet-known b"), "a [redacted] b")
  })

  it("leaves other words alone", () => {
    const words = "Base64 texts such as YWJjZGVmZ2hpamtsbW5vcA== and hex 00ff00ff stay, and so do keys and tokens"
    assert.strictEqual(masker.piece(words), words)
    assert.strictEqual(Masker.make([Redacted.make("abc"), Redacted.make("")]).text("abc"), "abc")
  })
})
