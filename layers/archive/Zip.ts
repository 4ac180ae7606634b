/** The files of a zip archive. */
import * as Effect from "effect/Effect"
import type { Readable } from "node:stream"
import { crc32 } from "node:zlib"
import * as yauzl from "yauzl"
import type { ArchiveError, ArchiveFile, Limits } from "../../src/archive/Archives.ts"
import * as Judgement from "../../src/archive/Judgement.ts"
import * as Collecting from "./Collecting.ts"

/** Every name is judged before anything is unpacked. */
export const unpack = Effect.fnUntraced(function* (
  archive: Buffer,
  limits: Limits
): Effect.fn.Return<ReadonlyArray<ArchiveFile>, ArchiveError> {
  const judgement = Judgement.begin(limits)
  const zip = yield* open(archive)
  const entries = yield* headsOf(zip, judgement)
  const files: Array<ArchiveFile> = []
  for (const entry of entries) {
    if (kindOf(entry) === "folder") continue
    const bytes = yield* Effect.flatMap(reading(zip, entry), (stream) =>
      Collecting.all(stream, judgement, entry.fileName)
    )
    if (crc32(bytes) !== entry.crc32) {
      return yield* Judgement.refuse("damaged", entry.fileName, "is not what it was when the archive was made")
    }
    files.push({ path: entry.fileName, bytes, executable: (modeOf(entry) & 0o100) !== 0 })
  }
  return files
})

const open = (archive: Buffer) =>
  Effect.callback<yauzl.ZipFile, ArchiveError>((resume) => {
    yauzl.fromBuffer(archive, { lazyEntries: true, strictFileNames: true, autoClose: false }, (error, zip) =>
      resume(error === null ? Effect.succeed(zip) : Effect.fail(told(error)))
    )
  })

/** What its directory says of the entries, none of them refused. */
const headsOf = (zip: yauzl.ZipFile, judgement: Judgement.Judgement) =>
  Effect.callback<ReadonlyArray<yauzl.Entry>, ArchiveError>((resume) => {
    const entries: Array<yauzl.Entry> = []
    zip.on("error", (error: Error) => resume(Effect.fail(told(error))))
    zip.on("end", () => resume(Effect.succeed(entries)))
    zip.on("entry", (entry: yauzl.Entry) => {
      const refused =
        judgement.of({ name: entry.fileName, kind: kindOf(entry), size: entry.uncompressedSize }) ??
        (entry.isEncrypted() ? Judgement.refuse("encrypted", entry.fileName, "is locked with a password") : undefined)
      if (refused !== undefined) return resume(Effect.fail(refused))
      entries.push(entry)
      zip.readEntry()
    })
    zip.readEntry()
  })

const reading = (zip: yauzl.ZipFile, entry: yauzl.Entry) =>
  Effect.callback<Readable, ArchiveError>((resume) => {
    zip.openReadStream(entry, (error, stream) =>
      resume(error === null ? Effect.succeed(stream) : Effect.fail(told(error, entry.fileName)))
    )
  })

/** The upper half of the attributes is a mode of Unix where the archive was made on one, and 0 elsewhere. */
const modeOf = (entry: yauzl.Entry): number => entry.externalFileAttributes >>> 16

const kindOf = (entry: yauzl.Entry): Judgement.Head["kind"] => {
  const type = modeOf(entry) & 0o170000
  if (type === 0o120000) return "link"
  if (type !== 0 && type !== 0o100000 && type !== 0o040000) return "special"
  return entry.fileName.endsWith("/") || type === 0o040000 ? "folder" : "file"
}

/** The library judges names as well, and says what it found in the message alone. */
const told = (error: Error, entry: string | null = null): ArchiveError =>
  /relative path|absolute path|characters in fileName/.test(error.message)
    ? Judgement.refuse("unsafe_name", null, "has an entry whose name leads elsewhere, or could on some systems")
    : Judgement.refuse("damaged", entry, "is damaged, or packed in a way that is not understood")
