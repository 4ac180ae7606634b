import { assert, describe, it } from "@effect/vitest"
import * as Base64 from "effect/encoding/Base64"
import * as Result from "effect/Result"
import * as Attachment from "../../src/attachment/Attachment.ts"
import * as ImageHeader from "../../src/attachment/ImageHeader.ts"
import * as Images from "./Images.ts"

const limits: Attachment.Limits = {
  max_per_message: 3,
  max_encoded_bytes: 5 * 1024 * 1024,
  max_total_encoded_bytes: 6_000_000,
  max_image_side: 8000
}

const judge = (...contents: ReadonlyArray<Uint8Array | Attachment.Given>) =>
  Attachment.judge(
    contents.map((content) => (content instanceof Uint8Array ? { name: "a", content } : content)),
    limits
  )
const refusal = (...contents: ReadonlyArray<Uint8Array | Attachment.Given>) => {
  const judged = judge(...contents)
  return Result.isFailure(judged) ? [judged.failure.index, judged.failure.reason] : []
}

describe("the header of an image", () => {
  for (const [name, bytes, mediaType] of [
    ["PNG", Images.png(800, 600), "image/png"],
    ["JPEG", Images.jpeg(800, 600), "image/jpeg"],
    ["GIF", Images.gif(800, 600), "image/gif"],
    ["WebP, extended", Images.webp.extended(800, 600), "image/webp"],
    ["WebP, lossless", Images.webp.lossless(800, 600), "image/webp"],
    ["WebP, lossy", Images.webp.lossy(800, 600), "image/webp"]
  ] as const) {
    it(`tells the size: ${name}`, () => {
      assert.deepStrictEqual(ImageHeader.read(bytes), { mediaType, width: 800, height: 600, animated: false })
    })

    it(`that is cut anywhere is no crash: ${name}`, () => {
      for (let length = 0; length < bytes.length; length++) ImageHeader.read(bytes.subarray(0, length))
    })
  }

  it("is read in a part of a larger buffer", () => {
    const inside = new Uint8Array(100)
    inside.set(Images.png(3, 4), 50)
    assert.deepInclude(ImageHeader.read(inside.subarray(50)), { width: 3, height: 4 })
  })

  it("tells what moves", () => {
    assert.isTrue(ImageHeader.read(Images.gif(8, 6, 2))?.animated)
    assert.isTrue(ImageHeader.read(Images.webp.extended(8, 6, true))?.animated)
  })

  it("is that of no image for anything else", () => {
    for (const bytes of [new Uint8Array(), Images.pdf, new TextEncoder().encode("GIF8 RIFF PNG")]) {
      assert.isUndefined(ImageHeader.read(bytes))
    }
  })
})

describe("what may come with a message", () => {
  it("is known by its content, whatever it is called", () => {
    const text = new TextEncoder().encode("Grüße 😀")
    const judged = judge(
      { name: "photo.gif", mediaType: "image/gif", content: Images.png(8, 6) },
      { name: "paper", content: Images.pdf },
      { name: "notes", mediaType: "application/x-unknown", content: text }
    )
    assert.deepStrictEqual(Result.getOrThrow(judged), [
      { name: "photo.gif", mediaType: "image/png", width: 8, height: 6, content: Images.png(8, 6) },
      { name: "paper", mediaType: "application/pdf", content: Images.pdf },
      { name: "notes", mediaType: "text/plain", content: text }
    ])
  })

  it("F138: is measured as it is sent, in base64: a file at the limit of raw bytes is a third too large", () => {
    const raw = 5 * 1024 * 1024
    assert.deepStrictEqual(refusal(Images.png(8, 6, raw - 29)), [0, "too-large"])
    const fits = (raw / 4) * 3
    assert.deepStrictEqual(refusal(Images.png(8, 6, fits - 29)), [])
    assert.deepStrictEqual(refusal(Images.png(8, 6, fits - 28)), [0, "too-large"])
  })

  for (const [name, given, reason] of [
    ["an empty file", new Uint8Array(), "empty"],
    ["an image of no pixels", Images.png(0, 0), "no-size"],
    ["an image without a whole header", Images.jpeg().subarray(0, 8), "no-size"],
    ["20000 × 20000 pixels", Images.png(20_000, 20_000), "too-many-pixels"],
    ["one pixel too many", Images.png(8001, 1), "too-many-pixels"],
    ["an animated GIF", Images.gif(8, 6, 2), "animated"],
    ["an animated WebP", Images.webp.extended(8, 6, true), "animated"],
    [
      "a text that says it is an image",
      { name: "a.png", mediaType: "image/png", content: new TextEncoder().encode("hello") },
      "not-what-it-says"
    ],
    ["a program", Uint8Array.from([0x7f, 0x45, 0x4c, 0x46, 0, 1, 2]), "unsupported"],
    ["text of another encoding", Uint8Array.from([0x47, 0x72, 0xfc, 0xdf, 0x65]), "unsupported"]
  ] as const) {
    it(`F138: is never ${name}`, () => assert.deepStrictEqual(refusal(Images.png(), given), [1, reason]))
  }

  it("is bounded in number, and in all", () => {
    assert.deepStrictEqual(refusal(Images.png(), Images.png(), Images.png(), Images.png()), [3, "too-many"])
    const half = Images.png(8, 6, 3_000_000)
    assert.deepStrictEqual(refusal(half, half), [1, "too-large-together"])
  })

  it("is base64 where it comes in text", () => {
    const encoded = (data: string) => Attachment.judgeEncoded([{ name: "a", data }], limits)
    assert.isTrue(Result.isSuccess(encoded(Base64.encode(Images.png()))))
    for (const data of ["***", "abc", "data:image/png;base64,AAAA"]) {
      const judged = encoded(data)
      assert.strictEqual(Result.isFailure(judged) && judged.failure.reason, "not-base64")
    }
  })

  it("is refused in words that name the file by its place, and never by what is in it", () => {
    const judged = judge(Images.png(), { name: "secret\u202e.png", content: Images.png(20_000, 3) })
    assert.strictEqual(
      Result.isFailure(judged) && judged.failure.message,
      "attachments[1]: Expected at most 8000 pixels on a side; found 20000 × 3. Make it smaller."
    )
  })
})
