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
      const refused = judgement.of({ name: head.name, kind: kindOf(head), size: head.size })
      if (refused !== undefined) return refuse(refused)
      const pieces: Array<Uint8Array> = []
      content.on("data", (piece) => {
        if (piece instanceof Uint8Array) pieces.push(piece)
      })
      content.on("end", () => {
        if (kindOf(head) === "file") {
          files.push({ path: head.name, bytes: Buffer.concat(pieces), executable: (head.mode & 0o100) !== 0 })
        }
        next()
      })
    })
    tar.on("error", damaged)
    tar.on("finish", () => resume(Effect.succeed(files)))
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
