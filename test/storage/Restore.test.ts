import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as SqlClient from "effect/sql/SqlClient"
import { join } from "node:path"
import * as DirectoryLock from "../../layers/storage/DirectoryLock.ts"
import * as Restore from "../../layers/storage/Restore.ts"
import * as Verify from "../../layers/storage/Verify.ts"
import { answerWith, answered, beginTurn, message, reply } from "../laws/Messages.ts"
import type * as Store from "../laws/Store.ts"
import * as DiskRig from "../rigs/DiskRig.ts"
import { atEachStep, directoryOf, life, litter, make, place, receive, restore, test, used } from "./Places.ts"

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
    "F146: brings back the moment of the backup, keeps what it replaces, and takes no old log with it",
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const at = yield* place
      yield* files.makeDirectory(at.directory.file("files"))
      yield* files.writeFileString(at.directory.file("files/tool-a.txt"), "output")
      yield* receive(at, { thread: "console:before" })
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
      const kept = yield* Verify.opened(
        report.replaced,
        true,
        Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT channel FROM channel_cursors`)
      )
      assert.deepStrictEqual(kept, [{ channel: "later" }])
    })
  )

  test(
    "files that came with messages are in a backup, and in the copy that is made of it",
    Effect.gen(function* () {
      const at = yield* place
      const content = new Uint8Array(3000).map((_, index) => index)
      const file = { name: "a.bin", mediaType: "text/plain", content }
      yield* life(at.directory, ({ journal }) =>
        Effect.andThen(journal.accept(message({ attachments: [file] })), make(at))
      )
      assert.strictEqual((yield* Verify.backup(at.backup)).tables["attachments"], 1)
      yield* restore(at)
      yield* life(at.directory, ({ sql }) =>
        Effect.gen(function* () {
          const [row] = yield* sql<{ readonly content: Uint8Array }>`SELECT content FROM attachments`
          assert.deepStrictEqual(new Uint8Array(row?.content ?? []), content)
        })
      )
    })
  )

  test(
    "F146: what was owed is held: nothing is sent, nothing is answered, newer messages elsewhere are",
    Effect.gen(function* () {
      const at = yield* place
      const before = yield* life(at.directory, (process) => Effect.tap(owing(process), () => make(at)))
      const dry = yield* restore(at, true)
      assert.deepStrictEqual([dry.held, dry.replaced], [{ threads: 2, replies: 2 }, null])
      yield* life(at.directory, ({ held }) =>
        Effect.map(held.count, (count) => assert.deepStrictEqual(count, { threads: 0, replies: 0 }))
      )
      yield* restore(at)

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
      yield* restore(at)
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
      yield* restore(at)
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
      const checked = yield* Verify.database(at.directory.file("troupe.db"), true)
      assert.deepStrictEqual(checked.problems, [])
    })
  )

  test(
    "a copy of a copy knows the copy it is of; its own backup can be restored",
    Effect.gen(function* () {
      const at = yield* place
      yield* life(at.directory, (process) => owing(process))
      const first = yield* make(at)
      yield* restore(at)
      const second = yield* make(at, true)
      assert.notStrictEqual(second.installation, first.installation)
      yield* restore(at)
      yield* life(at.directory, ({ held }) =>
        Effect.gen(function* () {
          assert.strictEqual((yield* held.list).restored?.from, second.installation)
          assert.deepStrictEqual(yield* held.count, { threads: 2, replies: 2 })
        })
      )
    })
  )

  test(
    "F146: a directory that a daemon holds is left alone",
    Effect.gen(function* () {
      const at = yield* place
      yield* receive(at)
      yield* make(at)
      yield* DirectoryLock.acquire(at.directory)
      // Another process asks: the lock belongs to a process and not to a fiber.
      const { run } = yield* Effect.promise(() => import("../cli/Program.ts"))
      const result = yield* run({ home: at.root, data: at.directory.path }, ["restore", at.backup])
      assert.strictEqual(result.code, 3, result.stderr)
    })
  )
})

describe("a restore that is killed", () => {
  test(
    "at any step of restoring leaves the database before or the restored one, and the next restore leaves nothing else",
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const at = yield* used
      yield* make(at)
      const messages = life(at.directory, ({ sql }) =>
        Effect.map(sql<{ readonly count: number }>`SELECT COUNT(*) AS count FROM inbox`, ([row]) => row?.count)
      )
      const steps = yield* atEachStep((run) =>
        Effect.gen(function* () {
          yield* restore(at)
          yield* files.writeFileString(at.directory.file("files/tool-a.txt"), "another output")
          yield* receive(at)
          const exit = yield* run(restore(at))
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
      yield* restore(at)
      assert.deepStrictEqual(yield* litter(at.directory.path), [])
    }),
    120_000
  )

  test(
    "among the managed files leaves none of its own after the restore of another backup, and none in a backup",
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const at = yield* used
      yield* make(at)
      const other = yield* place
      yield* receive(other)
      yield* make(other)
      const isBeside = (names: ReadonlyArray<string>) => names.some((name) => name.includes("tool-a.txt.restoring"))
      yield* atEachStep((run) =>
        Effect.gen(function* () {
          if (isBeside(yield* litter(other.directory.path))) return
          yield* run(restore({ ...other, backup: at.backup }))
        })
      )
      assert.isTrue(isBeside(yield* litter(other.directory.path)))
      yield* files.writeFileString(other.directory.file("files/mine.restoring"), "a person's own")
      const { files: saved } = yield* make({ ...other, backup: join(other.root, "second") })
      assert.deepStrictEqual(
        saved.map(({ path }) => path),
        ["troupe.db", "files/mine.restoring"]
      )
      yield* restore(other)
      assert.deepStrictEqual(yield* litter(other.directory.path), ["files/mine.restoring"])
    })
  )
})
