/** The files of a tar archive. */
import * as Effect from "effect/Effect"
import { extract } from "tar-stream"
import type { Header } from "tar-stream"
import type { ArchiveError, ArchiveFile, Limits } from "../../src/archive/Archives.ts"
import * as Judgement from "../../src/archive/Judgement.ts"

/** Each entry is judged before its content is kept; files that came before a refused one are dropped with the rest. */
export const unpack = (archive: Buffer, limits: Limits): Effect.Effect<ReadonlyArray<ArchiveFile>, ArchiveError> =>
  Effect.callback((resume) => {
    const judgement = Judgement.begin(limits)
    const files: Array<ArchiveFile> = []
    const tar = extract()
    const refuse = (error: ArchiveError) => {
      resume(Effect.fail(error))
      tar.destroy()
    }
    const damaged = () =>
      refuse(Judgement.refuse("damaged", null, "is damaged, or packed in a way that is not understood"))
    tar.on("entry", (head, content, next) => {
      // Both end with the error, and one that nobody hears ends the process.
      content.on("error", damaged)
      // `tar cf x.tar .` writes the folder itself, and its name before every other.
      const name = head.name.replace(/^(?:\.\/)+/, "")
      if (name === "" && head.name !== "" && kindOf(head) === "folder" && head.size === 0) {
        content.resume()
        return next()
      }
      const refused = judgement.of({ name, kind: kindOf(head), size: head.size })
      if (refused !== undefined) return refuse(refused)
      const pieces: Array<Uint8Array> = []
      content.on("data", (piece) => {
        if (piece instanceof Uint8Array) pieces.push(piece)
      })
      content.on("end", () => {
        if (kindOf(head) === "file") {
          files.push({ path: name, bytes: Buffer.concat(pieces), executable: (head.mode & 0o100) !== 0 })
        }
        next()
      })
    })
    tar.on("error", damaged)
    tar.on("close", damaged)
    // It ends with blocks of zeros: without them the rest of it is missing.
    const isWhole = archive.subarray(-512).every((byte) => byte === 0)
    tar.on("finish", () => (isWhole ? resume(Effect.succeed(files)) : damaged()))
    tar.end(archive)
    return Effect.sync(() => tar.destroy())
  })

const kindOf = ({ type }: Header): Judgement.Head["kind"] => {
  switch (type) {
    case "file":
      return "file"
    case "directory":
      return "folder"
    case "link":
    case "symlink":
      return "link"
    default:
      return "special"
  }
}
