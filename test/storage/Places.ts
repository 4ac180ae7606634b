/** Places with the store of an installation in them, for tests of backups and restores. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as SqlClient from "effect/sql/SqlClient"
import type { PlatformError } from "effect/PlatformError"
import { join } from "node:path"
import * as HeldLive from "../../layers/conversation/Held.ts"
import * as JournalLive from "../../layers/conversation/Journal.ts"
import * as OutboxLive from "../../layers/channel/Outbox.ts"
import * as NotesLive from "../../layers/memory/Notes.ts"
import * as Backup from "../../layers/storage/Backup.ts"
import * as Restore from "../../layers/storage/Restore.ts"
import * as ThreadsLive from "../../layers/thread/Threads.ts"
import { Outbox } from "../../src/channel/Outbox.ts"
import { Settings } from "../../src/config/Settings.ts"
import { Held } from "../../src/conversation/Held.ts"
import { Journal } from "../../src/conversation/Journal.ts"
import { Notes } from "../../src/memory/Notes.ts"
import type { DataDirectory } from "../../src/storage/DataDirectory.ts"
import { Incarnation } from "../../src/storage/Incarnation.ts"
import { Threads } from "../../src/thread/Threads.ts"
import { message } from "../laws/Messages.ts"
import type * as Store from "../laws/Store.ts"
import * as DiskRig from "../rigs/DiskRig.ts"

export const directoryOf = (path: string): DataDirectory["Service"] => ({ path, file: (name) => join(path, name) })

/** A place for one test: a data directory and somewhere for backups. */
export const place = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const root = yield* files.makeTempDirectoryScoped({ prefix: "troupe-backup-" })
  const data = join(root, "data")
  yield* files.makeDirectory(data, { mode: 0o700 })
  return { root, directory: directoryOf(data), backup: join(root, "backup") }
})

export type Place = Effect.Success<typeof place>

const notes = Layer.provide(NotesLive.layer, Layer.orDie(Settings.layer({})))

const repositories = HeldLive.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(JournalLive.layer, ThreadsLive.layer, OutboxLive.layer, notes))
)

/** One life of a daemon's store in a directory. */
export const life = <A, E, R>(
  directory: DataDirectory["Service"],
  use: (
    process: Store.Process & {
      readonly held: Held["Service"]
      readonly notes: Notes["Service"]
      readonly sql: SqlClient.SqlClient
    }
  ) => Effect.Effect<A, E, R>
) =>
  Effect.scopedWith((scope) =>
    Effect.gen(function* () {
      const layer = Layer.fresh(Layer.provideMerge(repositories, DiskRig.store(directory.path)))
      const context = yield* Layer.buildWithScope(layer, scope)
      const process = {
        incarnation: Context.get(context, Incarnation).id,
        journal: Context.get(context, Journal),
        threads: Context.get(context, Threads),
        outbox: Context.get(context, Outbox),
        held: Context.get(context, Held),
        notes: Context.get(context, Notes),
        sql: Context.get(context, SqlClient.SqlClient)
      }
      return yield* use(process)
    })
  )

export const make = (at: Place, force = false) =>
  Backup.make({ directory: at.directory, destination: at.backup, force, version: "1.2.3" })

/** A place whose store has a message, and whose managed files have the output of a tool. */
export const used = Effect.gen(function* () {
  const at = yield* place
  const files = yield* FileSystem.FileSystem
  yield* files.makeDirectory(at.directory.file("files"))
  yield* files.writeFileString(at.directory.file("files/tool-a.txt"), "output")
  yield* receive(at)
  return at
})

/** A life that takes one message. */
export const receive = (at: Place, options?: Parameters<typeof message>[0]) =>
  life(at.directory, ({ journal }) => journal.accept(message(options)))

export const restore = (at: Place, dryRun = false) =>
  Restore.run({ source: at.backup, directory: at.directory, dryRun })

/** The names below a folder that nothing of a run that has ended may have. */
export const litter = (path: string) =>
  Effect.map(
    Effect.flatMap(FileSystem.FileSystem, (files) => files.readDirectory(path, { recursive: true })),
    (names) => names.filter((name) => /restoring|partial-|\.old-/.test(name)).toSorted()
  )

export const test = <E>(
  title: string,
  body: Effect.Effect<void, E, Scope.Scope | Layer.Success<typeof NodeServices.layer>>,
  timeout = 30_000
) => it.live(title, () => Effect.scoped(body).pipe(Effect.provide(NodeServices.layer)), timeout)

/**
 * A file system that is there up to its nth change; from then on nothing is changed any more, as when the process is killed
 * there. Gives a look at whether it came to that.
 */
const killedAt = (files: FileSystem.FileSystem, nth: number) => {
  let left = nth
  const counted = <A extends ReadonlyArray<any>, B, R>(
    change: (...args: A) => Effect.Effect<B, PlatformError, R>
  ): ((...args: A) => Effect.Effect<B, PlatformError, R>) => {
    return (...args) => Effect.suspend(() => (--left > 0 ? change(...args) : Effect.die("killed")))
  }
  const mortal = FileSystem.FileSystem.of({
    ...files,
    chmod: counted(files.chmod),
    copyFile: counted(files.copyFile),
    link: counted(files.link),
    makeDirectory: counted(files.makeDirectory),
    open: counted(files.open),
    remove: counted(files.remove),
    rename: counted(files.rename),
    writeFileString: counted(files.writeFileString)
  })
  return { mortal, killed: () => left <= 0 }
}

/** Runs it again and again, killed one change later each time, until it comes to its end. */
export const atEachStep = <E, R>(
  use: (
    run: <A, E2, R2>(work: Effect.Effect<A, E2, R2>) => Effect.Effect<Exit.Exit<A, E2>, never, R2>
  ) => Effect.Effect<void, E, R>
) =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    for (let nth = 1; ; nth++) {
      const { killed, mortal } = killedAt(files, nth)
      yield* use((work) => Effect.exit(Effect.provideService(work, FileSystem.FileSystem, mortal)))
      if (!killed()) return nth
    }
  })
