/** Forms with a file in them, as `multipart/form-data`. */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"

export interface File {
  readonly field: string
  readonly name: string
  readonly mediaType: string
  readonly content: Uint8Array
}

export interface Form {
  readonly contentType: string
  readonly body: Uint8Array
}

/** The fields first, then the file. Names hold neither line breaks nor quotation marks. */
export const encode = (
  fields: ReadonlyArray<readonly [name: string, value: string]>,
  file: File
): Effect.Effect<Form> =>
  Effect.map(chance, (id) => {
    const boundary = `troupe-${id}`
    const texts = fields.map(([name, value]) => `${opening(boundary, name)}\r\n\r\n${value}\r\n`)
    const head =
      `${texts.join("")}${opening(boundary, file.field)}; filename="${file.name}"\r\n` +
      `content-type: ${file.mediaType}\r\n\r\n`
    return {
      contentType: `multipart/form-data; boundary=${boundary}`,
      body: joined([encoder.encode(head), file.content, encoder.encode(`\r\n--${boundary}--\r\n`)])
    }
  })

/** More than a hundred bits: no recording holds it. */
const chance = Effect.map(Effect.replicateEffect(Random.nextIntBetween(0, 35), 24), (digits) =>
  digits.map((digit) => digit.toString(36)).join("")
)

const encoder = new TextEncoder()

const opening = (boundary: string, name: string): string =>
  `--${boundary}\r\ncontent-disposition: form-data; name="${name}"`

const joined = (parts: ReadonlyArray<Uint8Array>): Uint8Array => {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}
