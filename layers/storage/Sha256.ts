/** The edge to Node for hashing a file piece by piece: a database may be larger than memory. */
import * as Effect from "effect/Effect"
import { createHash } from "node:crypto"
import { createReadStream } from "node:fs"
import { BackupFailed } from "../../src/storage/Backup.ts"

/** The SHA-256 of a file's content, in hexadecimal. */
export const ofFile = (path: string): Effect.Effect<string, BackupFailed> =>
  Effect.callback((resume) => {
    const hash = createHash("sha256")
    const stream = createReadStream(path)
    stream.on("data", (piece) => hash.update(piece))
    stream.on("error", (error) => resume(Effect.fail(new BackupFailed({ path, reason: error.message }))))
    stream.on("end", () => resume(Effect.succeed(hash.digest("hex"))))
    return Effect.sync(() => stream.destroy())
  })
