/**
 * Notices that the database file was deleted, moved away, replaced or emptied under this process. What would be written from
 * then on would go into a file that nobody can open again, so writes are refused; all that was written before is saved beside.
 *
 * It also looks at the lock on the directory. When another process got it, that one works on what is owed, and this one writes
 * nothing any more until it is started again.
 */
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import { HeldLock } from "../../src/storage/HeldLock.ts"
import * as Lost from "./Lost.ts"
import * as PrivateFile from "./PrivateFile.ts"
import { SqliteClient } from "./SqliteClient.ts"

/** How often the file is looked at. Messages that are accepted in between are among what is saved. */
export const interval = "2 seconds"

/** Looks at the file now as the one in use, and gives what looks at it again. */
export const make: Effect.Effect<{ readonly look: Effect.Effect<void> }, never, SqliteClient | FileSystem.FileSystem> =
  Effect.gen(function* () {
    const sqlite = yield* SqliteClient
    const files = yield* FileSystem.FileSystem
    const look = Effect.map(Effect.option(files.stat(sqlite.path)), Option.map(identityOf))
    const own = yield* look
    const lock = yield* Effect.serviceOption(HeldLock)
    const isHeld = Option.isSome(lock) ? lock.value.look : Effect.succeed(true)
    let missing = false
    let taken = false

    const lost = Effect.gen(function* () {
      yield* sqlite.refuseWrites(true)
      const stamp = DateTime.formatIso(DateTime.makeUnsafe(yield* Clock.currentTimeMillis)).replaceAll(/[:.]/g, "-")
      const saved = Lost.savedAs(sqlite.path, stamp)
      const saving = Lost.savingAs(sqlite.path)
      const kept = yield* PrivateFile.prepare(saving).pipe(
        Effect.provideService(FileSystem.FileSystem, files),
        Effect.andThen(sqlite.saveOpen(saving)),
        Effect.andThen(files.rename(saving, saved)),
        Effect.tapError(() => Effect.ignore(files.remove(saving))),
        Effect.exit
      )
      yield* Effect.logError(
        "The database file was deleted, moved or replaced under this daemon, which takes no messages any more. " +
          (kept._tag === "Success"
            ? "Stop the daemon, put the saved copy in the file's place, and start it again"
            : "Stop the daemon, put the file back or restore a backup, and start it again"),
        { path: sqlite.path, ...(kept._tag === "Success" ? { saved } : {}) }
      )
    })

    const tellTaken = Effect.gen(function* () {
      yield* sqlite.refuseWrites(true)
      yield* Effect.logError(
        "Another process has taken the data directory, whose lock was deleted or replaced under this daemon. " +
          "This one takes no messages any more: stop it",
        { path: sqlite.path }
      )
    })

    const lookAgain = Effect.gen(function* () {
      if (taken) return
      taken = !(yield* isHeld)
      yield* taken ? tellTaken : lookAtFile
    }).pipe(Effect.withSpan("storage.presence"))

    const lookAtFile = Effect.flatMap(look, (now) => {
      const same = Option.isSome(own) && Option.isSome(now) && isSame(own.value, now.value)
      if (same !== missing) return Effect.void
      missing = !same
      if (missing) return lost
      return Effect.andThen(sqlite.refuseWrites(false), Effect.logInfo("The database file is in its place again"))
    })
    return { look: sqlite.path === ":memory:" ? Effect.void : lookAgain }
  })

interface Identity {
  readonly device: bigint
  readonly inode: bigint | undefined
  readonly bytes: number
}

const identityOf = (info: FileSystem.File.Info): Identity => ({
  device: info.dev,
  inode: Option.getOrUndefined(info.ino),
  bytes: Number(info.size)
})

/** The file grows and shrinks with what is in it, but always has its first page. */
const isSame = (own: Identity, now: Identity): boolean =>
  own.device === now.device && own.inode === now.inode && (now.bytes >= smallestBytes || own.bytes < smallestBytes)

const smallestBytes = 512
