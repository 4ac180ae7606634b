/** Archives, read in memory. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { constants } from "node:buffer"
import { gunzip } from "node:zlib"
import * as Archives from "../../src/archive/Archives.ts"
import * as Judgement from "../../src/archive/Judgement.ts"
import * as Tar from "./Tar.ts"
import * as Zip from "./Zip.ts"

const unpack = Effect.fn("Archives.unpack")(function* (
  archive: Uint8Array,
  limits: Archives.Limits
): Effect.fn.Return<ReadonlyArray<Archives.ArchiveFile>, Archives.ArchiveError> {
  const bytes = Buffer.from(archive.buffer, archive.byteOffset, archive.byteLength)
  switch (kindOf(bytes)) {
    case "zip":
      return yield* Zip.unpack(bytes, limits)
    case "tar":
      return yield* Tar.unpack(bytes, limits)
    case "gzip": {
      const inside = yield* expanded(bytes, limits)
      if (kindOf(inside) !== "tar") return yield* notOne
      return yield* Tar.unpack(inside, limits)
    }
    case undefined:
      return yield* notOne
  }
})

const notOne = Judgement.refuse("not_an_archive", null, "is no zip, tar or gzipped tar file")

const kindOf = (bytes: Buffer): "zip" | "tar" | "gzip" | undefined => {
  if (bytes.length >= 4 && bytes.readUInt16LE(0) === 0x4b50) return "zip"
  if (bytes.length >= 2 && bytes.readUInt16BE(0) === 0x1f8b) return "gzip"
  return bytes.length >= 262 && bytes.toString("latin1", 257, 262) === "ustar" ? "tar" : undefined
}

/** A tar file has a block before each entry, more for a long name, and fills the last block of each. */
const expanded = (bytes: Buffer, { maxBytes, maxEntries }: Archives.Limits) =>
  Effect.callback<Buffer, Archives.ArchiveError>((resume) => {
    const wanted = maxBytes + (maxEntries + 10) * 4096
    const maxOutputLength = wanted < 1 ? 1 : Math.min(wanted, constants.MAX_LENGTH)
    gunzip(bytes, { maxOutputLength }, (error, inside) => {
      if (error === null) return resume(Effect.succeed(inside))
      const isTooLarge = "code" in error && error.code === "ERR_BUFFER_TOO_LARGE"
      resume(
        Effect.fail(
          isTooLarge
            ? Judgement.refuse("too_large", null, `unpacks to more than ${maxBytes} bytes`)
            : Judgement.refuse("damaged", null, "is damaged")
        )
      )
    })
  })

export const layer: Layer.Layer<Archives.Archives> = Layer.succeed(Archives.Archives, Archives.Archives.of({ unpack }))
