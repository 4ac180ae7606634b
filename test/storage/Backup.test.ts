import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as SqlClient from "effect/sql/SqlClient"
import type { PlatformError } from "effect/PlatformError"
import { execFileSync } from "node:child_process"
import { join } from "node:path"
import * as HeldLive from "../../layers/conversation/Held.ts"
import * as JournalLive from "../../layers/conversation/Journal.ts"
import * as OutboxLive from "../../layers/channel/Outbox.ts"
import * as Backup from "../../layers/storage/Backup.ts"
import * as DirectoryLock from "../../layers/storage/DirectoryLock.ts"
import * as Restore from "../../layers/storage/Restore.ts"
import * as ThreadsLive from "../../layers/thread/Threads.ts"
import { Outbox } from "../../src/channel/Outbox.ts"
import { Held } from "../../src/conversation/Held.ts"
import { Journal } from "../../src/conversation/Journal.ts"
import type { DataDirectory } from "../../src/storage/DataDirectory.ts"
import { Incarnation } from "../../src/storage/Incarnation.ts"
import { Threads } from "../../src/thread/Threads.ts"
import { answerWith, answered, beginTurn, message, reply } from "../laws/Messages.ts"
import type * as Store from "../laws/Store.ts"
import * as DiskRig from "../rigs/DiskRig.ts"

const directoryOf = (path: string): DataDirectory["Service"] => ({ path, file: (name) => join(path, name) })

/** A place for one test: a data directory and somewhere for backups. */
const place = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const root = yield* files.makeTempDirectoryScoped({ prefix: "troupe-backup-" })
  const data = join(root, "data")
  yield* files.makeDirectory(data, { mode: 0o700 })
  return { root, directory: directoryOf(data), backup: join(root, "backup") }
})

const repositories = HeldLive.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(JournalLive.layer, ThreadsLive.layer, OutboxLive.layer))
)

/** One life of a daemon's store in a directory. */
const life = <A, E, R>(
  directory: DataDirectory["Service"],
  use: (
    process: Store.Process & { readonly held: Held["Service"]; readonly sql: SqlClient.SqlClient }
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
        sql: Context.get(context, SqlClient.SqlClient)
      }
      return yield* use(process)
    })
  )

const make = (at: Effect.Success<typeof place>, force = false) =>
  Backup.make({ directory: at.directory, destination: at.backup, force, version: "1.2.3" })

const test = <E>(
  title: string,
  body: Effect.Effect<void, E, Scope.Scope | Layer.Success<typeof NodeServices.layer>>,
  timeout = 30_000
) => it.live(title, () => Effect.scoped(body).pipe(Effect.provide(NodeServices.layer)), timeout)

describe("backup", () => {
  test(
    "a backup made during hundreds of writes is one moment of the database, sound and complete",
    Effect.gen(function* () {
      const at = yield* place
      yield* life(at.directory, ({ journal }) =>
        Effect.gen(function* () {
          for (let index = 0; index < 200; index++) {
            yield* journal.accept(message({ thread: `console:${index % 10}`, text: "x".repeat(2000) }))
          }
          const writing = yield* Effect.forkChild(
            Effect.forever(Effect.andThen(journal.accept(message({ thread: "console:busy" })), Effect.yieldNow)),
            { startImmediately: true }
          )
          const manifest = yield* make(at)
          yield* Fiber.interrupt(writing)
          // Each accepted message is one entry and one row of the inbox: a torn copy would have more of one.
          assert.strictEqual(manifest.tables["inbox"], manifest.tables["thread_entries"])
          assert.isAtLeast(manifest.tables["inbox"] ?? 0, 200)
          assert.deepStrictEqual(yield* Backup.verify(at.backup), manifest)
        })
      )
    })
  )

  test(
    "it is for its owner alone, holds the managed files, and neither the token nor the log nor the lock",
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const at = yield* place
      yield* life(at.directory, ({ journal }) => journal.accept(message()))
      for (const name of ["token", "endpoint.json", "lock.db"]) {
        yield* files.writeFileString(at.directory.file(name), "secret")
      }
      yield* files.makeDirectory(at.directory.file("files/outputs"), { recursive: true })
      yield* files.writeFileString(at.directory.file("files/outputs/tool-a.txt"), "output", { mode: 0o644 })
      yield* files.writeFileString(at.directory.file("files/outputs/.tool-b.txt.unfinished"), "half")
      yield* files.symlink("/etc/hostname", at.directory.file("files/link"))
      const manifest = yield* make(at)
      assert.deepStrictEqual(
        manifest.files.map(({ path }) => path),
        ["troupe.db", "files/outputs/tool-a.txt"]
      )
      const names = (yield* files.readDirectory(at.backup, { recursive: true })).toSorted()
      assert.deepStrictEqual(names, [
        "files",
        "files/outputs",
        "files/outputs/tool-a.txt",
        "manifest.json",
        "troupe.db"
      ])
      for (const name of names) {
        const { mode, type } = yield* files.stat(join(at.backup, name))
        assert.strictEqual(mode & 0o777, type === "File" ? 0o600 : 0o700, name)
      }
      assert.deepStrictEqual(yield* files.readDirectory(at.root), ["backup", "data"])
    })
  )

  test(
    "what is there is never overwritten unasked, and what is no backup not at all",
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const at = yield* place
      yield* life(at.directory, ({ journal }) => journal.accept(message()))
      yield* make(at)
      const refused = yield* Effect.flip(make(at))
      assert.include(refused.message, "--force")
      yield* life(at.directory, ({ journal }) => journal.accept(message()))
      assert.strictEqual((yield* make(at, true)).tables["inbox"], 2)
      const other = { ...at, backup: join(at.root, "photos") }
      yield* files.makeDirectory(other.backup)
      yield* files.writeFileString(join(other.backup, "cat.jpg"), "cat")
      assert.include((yield* Effect.flip(make(other, true))).message, "no backup of Troupe")
      assert.deepStrictEqual(yield* files.readDirectory(other.backup), ["cat.jpg"])
      assert.deepStrictEqual((yield* files.readDirectory(at.root)).toSorted(), ["backup", "data", "photos"])
    })
  )

  for (const [what, damage] of [
    ["a byte in the database", (path: string) => overwrite(join(path, "troupe.db"), 5000)],
    ["a missing file", (path: string) => remove(join(path, "files/tool-a.txt"))],
    ["a database cut short", (path: string) => truncate(join(path, "troupe.db"))]
  ] as const) {
    test(
      `${what} is found, and the backup is not restored`,
      Effect.gen(function* () {
        const files = yield* FileSystem.FileSystem
        const at = yield* place
        yield* files.makeDirectory(at.directory.file("files"))
        yield* files.writeFileString(at.directory.file("files/tool-a.txt"), "output")
        yield* life(at.directory, ({ journal }) => journal.accept(message()))
        yield* make(at)
        yield* damage(at.backup)
        assert.strictEqual((yield* Effect.flip(Backup.verify(at.backup)))._tag, "BackupDamaged")
        const before = yield* files.readFile(at.directory.file("troupe.db"))
        const error = yield* Effect.flip(Restore.run({ source: at.backup, directory: at.directory, dryRun: false }))
        assert.strictEqual(error._tag, "BackupDamaged")
        assert.deepStrictEqual(yield* files.readFile(at.directory.file("troupe.db")), before)
      })
    )
  }
})

const overwrite = Effect.fnUntraced(function* (path: string, at: number) {
  const files = yield* FileSystem.FileSystem
  const bytes = yield* files.readFile(path)
  bytes[at] = (bytes[at] ?? 0) ^ 0xff
  yield* files.writeFile(path, bytes)
})
const truncate = (path: string) => Effect.flatMap(FileSystem.FileSystem, (files) => files.truncate(path, 8192))
const remove = (path: string) => Effect.flatMap(FileSystem.FileSystem, (files) => files.remove(path))

/** A store that owes: a turn at work, a message that waits, a reply that is being sent and one that waits. */
const owing = (process: Store.Process) =>
  Effect.gen(function* () {
    yield* answerWith(process, [reply("sent half"), reply("waits")], "push:1")
    yield* process.outbox.take("push", 1)
    const running = yield* beginTurn(process, "console:running")
    const waiting = yield* process.journal.accept(message({ thread: "console:waiting" }))
    const done = yield* beginTurn(process, "console:done")
    yield* process.journal.endTurn(done.claim, answered(done.turnId))
    return { running, waiting, done }
  })

describe("restore", () => {
  test(
    "brings back the moment of the backup, keeps what it replaces, and takes no old log with it",
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const at = yield* place
      yield* files.makeDirectory(at.directory.file("files"))
      yield* files.writeFileString(at.directory.file("files/tool-a.txt"), "output")
      yield* life(at.directory, ({ journal }) => journal.accept(message({ thread: "console:before" })))
      yield* make(at)
      yield* files.remove(at.directory.file("files/tool-a.txt"))
      // A process that was killed leaves its log behind.
      const killed = yield* Scope.make()
      const context = yield* Layer.buildWithScope(Layer.fresh(DiskRig.store(at.directory.path)), killed)
      yield* Effect.provideContext(
        Effect.flatMap(SqlClient.SqlClient, (sql) => sql`INSERT INTO channel_cursors VALUES ('later', '1', 1)`),
        context
      )
      const copied = directoryOf(join(at.root, "copied"))
      yield* files.copy(at.directory.path, copied.path)
      yield* Scope.close(killed, Exit.void)
      assert.isAbove(Number((yield* files.stat(copied.file("troupe.db-wal"))).size), 0)

      const report = yield* Restore.run({ source: at.backup, directory: copied, dryRun: false })
      assert.isFalse(yield* files.exists(copied.file("troupe.db-wal")))
      yield* life(copied, ({ sql, threads }) =>
        Effect.gen(function* () {
          assert.strictEqual((yield* threads.list({ limit: 10 })).threads.length, 1)
          assert.deepStrictEqual(yield* sql`SELECT * FROM channel_cursors`, [])
        })
      )
      assert.strictEqual(yield* files.readFileString(copied.file("files/tool-a.txt")), "output")
      assert(report.replaced !== null)
      const kept = yield* Backup.opened(
        report.replaced,
        true,
        Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT channel FROM channel_cursors`)
      )
      assert.deepStrictEqual(kept, [{ channel: "later" }])
    })
  )

  test(
    "what was owed is held: nothing is sent, nothing is answered, newer messages elsewhere are",
    Effect.gen(function* () {
      const at = yield* place
      const before = yield* life(at.directory, (process) => Effect.tap(owing(process), () => make(at)))
      const dry = yield* Restore.run({ source: at.backup, directory: at.directory, dryRun: true })
      assert.deepStrictEqual([dry.held, dry.replaced], [{ threads: 2, replies: 2 }, null])
      yield* life(at.directory, ({ held }) =>
        Effect.map(held.count, (count) => assert.deepStrictEqual(count, { threads: 0, replies: 0 }))
      )
      yield* Restore.run({ source: at.backup, directory: at.directory, dryRun: false })

      yield* life(at.directory, (process) =>
        Effect.gen(function* () {
          const { held, journal, outbox } = process
          assert.deepStrictEqual(yield* held.count, { threads: 2, replies: 2 })
          assert.deepStrictEqual(yield* outbox.take("push", 10), [])
          assert.deepStrictEqual(yield* journal.owedThreads(10), [])
          assert.isNull(yield* journal.oldestOwed)
          for (const { threadId } of [before.running, before.waiting]) {
            assert.deepStrictEqual(yield* journal.owed(threadId), { running: null, waiting: [] })
          }
          const items = yield* held.list
          assert.deepStrictEqual(items.threads.map(({ key, running, waiting }) => [key, running, waiting]).toSorted(), [
            ["console:running", true, 0],
            ["console:waiting", false, 1]
          ])
          assert.strictEqual(items.replies.length, 2)
          assert.strictEqual(items.restored?.incarnation, dry.manifest.incarnation)
          assert.strictEqual(items.restored?.from, dry.manifest.installation)
          // A newer reply in the same thread is not held up by one that may never go.
          yield* answerWith(process, [reply("newer")], "push:1")
          const taken = yield* outbox.take("push", 10)
          assert.deepStrictEqual(
            taken.map(({ text }) => text),
            ["newer"]
          )
          yield* journal.accept(message({ thread: "console:done" }))
          assert.deepStrictEqual(yield* journal.owedThreads(10), [before.done.threadId])
        })
      )
    })
  )

  test(
    "released, everything goes on where it stood, and replies are marked as in doubt",
    Effect.gen(function* () {
      const at = yield* place
      const before = yield* life(at.directory, (process) => Effect.tap(owing(process), () => make(at)))
      yield* Restore.run({ source: at.backup, directory: at.directory, dryRun: false })
      yield* life(at.directory, ({ held, journal, outbox }) =>
        Effect.gen(function* () {
          assert.deepStrictEqual(yield* held.release("resume"), { threads: 2, replies: 2 })
          assert.deepStrictEqual(yield* held.count, { threads: 0, replies: 0 })
          const [first] = yield* outbox.take("push", 10)
          assert.deepInclude(first, { text: "sent half", inDoubt: true })
          assert.deepStrictEqual(
            (yield* journal.owedThreads(10)).toSorted(),
            [before.running.threadId, before.waiting.threadId].toSorted()
          )
          assert.strictEqual((yield* journal.owed(before.running.threadId)).running?.turnId, before.running.turnId)
        })
      )
    })
  )

  test(
    "dropped, everything has an end that says that nobody knows, and a message that came since is owed",
    Effect.gen(function* () {
      const at = yield* place
      const before = yield* life(at.directory, (process) => Effect.tap(owing(process), () => make(at)))
      yield* Restore.run({ source: at.backup, directory: at.directory, dryRun: false })
      yield* life(at.directory, ({ held, journal, outbox, threads }) =>
        Effect.gen(function* () {
          yield* Effect.sleep("5 millis")
          const newer = yield* journal.accept(message({ thread: "console:running" }))
          yield* held.release("drop")
          assert.deepStrictEqual(yield* held.count, { threads: 0, replies: 0 })
          assert.deepStrictEqual(yield* outbox.take("push", 10), [])
          for (const { messageId } of [before.running, before.waiting]) {
            assert.deepInclude(yield* threads.receipt(messageId), { state: "unknown" })
          }
          const log = yield* threads.latest(before.running.threadId, 1)
          assert.deepInclude(log[0]?.entry, { _tag: "TurnEnded", state: "failed" })
          assert.deepStrictEqual(yield* journal.owedThreads(10), [newer.threadId])
        })
      )
      const checked = yield* Backup.check(at.directory.file("troupe.db"), true)
      assert.deepStrictEqual(checked.problems, [])
    })
  )

  test(
    "a copy of a copy knows the copy it is of; its own backup can be restored",
    Effect.gen(function* () {
      const at = yield* place
      yield* life(at.directory, (process) => owing(process))
      const first = yield* make(at)
      yield* Restore.run({ source: at.backup, directory: at.directory, dryRun: false })
      const second = yield* make(at, true)
      assert.notStrictEqual(second.installation, first.installation)
      yield* Restore.run({ source: at.backup, directory: at.directory, dryRun: false })
      yield* life(at.directory, ({ held }) =>
        Effect.gen(function* () {
          assert.strictEqual((yield* held.list).restored?.from, second.installation)
          assert.deepStrictEqual(yield* held.count, { threads: 2, replies: 2 })
        })
      )
    })
  )

  test(
    "a directory that a daemon holds is left alone",
    Effect.gen(function* () {
      const at = yield* place
      yield* life(at.directory, ({ journal }) => journal.accept(message()))
      yield* make(at)
      yield* DirectoryLock.acquire(at.directory)
      // Another process asks: the lock belongs to a process and not to a fiber.
      const { run } = yield* Effect.promise(() => import("../cli/Program.ts"))
      const result = yield* run({ home: at.root, data: at.directory.path }, ["restore", at.backup])
      assert.strictEqual(result.code, 3, result.stderr)
    })
  )
})

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
const atEachStep = <E, R>(
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

describe("a process that is killed", () => {
  test(
    "at any step of replacing a backup leaves a whole one, and the next run leaves nothing else",
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const at = yield* place
      yield* files.makeDirectory(at.directory.file("files"))
      yield* files.writeFileString(at.directory.file("files/tool-a.txt"), "output")
      yield* life(at.directory, ({ journal }) => journal.accept(message()))
      const steps = yield* atEachStep((run) =>
        Effect.gen(function* () {
          yield* make(at, yield* files.exists(at.backup))
          yield* life(at.directory, ({ journal }) => journal.accept(message()))
          yield* run(make(at, true))
          const verified = yield* Effect.result(Backup.verify(at.backup))
          if (verified._tag === "Success") return
          const old = (yield* files.readDirectory(at.root)).find((name) => name.startsWith("backup.old-"))
          assert.include(verified.failure.message, `the backup before it is ${old} beside it`)
          yield* Backup.verify(join(at.root, old ?? ""))
        })
      )
      assert.isAbove(steps, 10)
      yield* make(at, true)
      const names = (yield* files.readDirectory(at.root)).filter((name) => !name.startsWith("backup.partial-"))
      assert.deepStrictEqual(names.toSorted(), ["backup", "data"])
    }),
    60_000
  )

  test(
    "at any step of restoring leaves the database before or the restored one, and the next restore leaves nothing else",
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const at = yield* place
      yield* files.makeDirectory(at.directory.file("files"))
      yield* files.writeFileString(at.directory.file("files/tool-a.txt"), "output")
      yield* life(at.directory, ({ journal }) => journal.accept(message()))
      yield* make(at)
      const messages = life(at.directory, ({ sql }) =>
        Effect.map(sql<{ readonly count: number }>`SELECT COUNT(*) AS count FROM inbox`, ([row]) => row?.count)
      )
      const restore = Restore.run({ source: at.backup, directory: at.directory, dryRun: false })
      const steps = yield* atEachStep((run) =>
        Effect.gen(function* () {
          yield* restore
          yield* files.writeFileString(at.directory.file("files/tool-a.txt"), "another output")
          yield* life(at.directory, ({ journal }) => journal.accept(message()))
          const exit = yield* run(restore)
          const count = yield* messages
          assert.strictEqual(count, Exit.isSuccess(exit) ? 1 : count)
          assert.include([1, 2], count)
          assert.include(
            ["output", "another output"],
            yield* files.readFileString(at.directory.file("files/tool-a.txt"))
          )
        })
      )
      assert.isAbove(steps, 10)
      yield* restore
      const litter = (yield* files.readDirectory(at.directory.path)).filter((name) => name.includes("restoring"))
      assert.deepStrictEqual(litter, [])
    }),
    60_000
  )
})

describe("the place and the content of a backup", () => {
  test(
    "a place inside the data directory is refused, whatever way leads there",
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const at = yield* place
      yield* life(at.directory, ({ journal }) => journal.accept(message()))
      yield* files.makeDirectory(at.directory.file("files"))
      yield* files.symlink(at.directory.path, join(at.root, "link"))
      for (const backup of [at.directory.path, at.directory.file("files/backup"), join(at.root, "link")]) {
        const error = yield* Effect.flip(make({ ...at, backup }))
        assert.include(error.message, "inside the data directory", backup)
      }
    })
  )

  test(
    "a file that is a link, a pipe or a folder, or that leads out, is damage",
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const at = yield* place
      yield* files.makeDirectory(at.directory.file("files"))
      yield* files.writeFileString(at.directory.file("files/tool-a.txt"), "output")
      yield* life(at.directory, ({ journal }) => journal.accept(message()))
      yield* make(at)
      const file = join(at.backup, "files/tool-a.txt")
      const damaged = Effect.map(Effect.flip(Backup.verify(at.backup)), ({ message }) => message)
      yield* files.rename(file, join(at.root, "elsewhere"))
      yield* files.symlink(join(at.root, "elsewhere"), file)
      assert.include(yield* damaged, "files/tool-a.txt is not a file of its own")
      yield* files.remove(file)
      execFileSync("mkfifo", [file])
      assert.include(yield* damaged, "files/tool-a.txt is not a file of its own")
      yield* files.remove(file)
      yield* files.makeDirectory(file)
      assert.include(yield* damaged, "files/tool-a.txt is not a file of its own")
      const manifest = join(at.backup, "manifest.json")
      const text = yield* files.readFileString(manifest)
      for (const path of ["../token", "/etc/passwd", "files/../../x", "files\\\\..\\\\x"]) {
        yield* files.writeFileString(manifest, text.replace("files/tool-a.txt", path))
        assert.include(yield* damaged, "no backup of Troupe", path)
      }
      yield* files.remove(manifest)
      execFileSync("mkfifo", [manifest])
      assert.include(yield* damaged, "no backup of Troupe")
    })
  )
})
