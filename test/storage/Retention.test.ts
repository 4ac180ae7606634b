import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Digest from "effect/crypto/Digest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as SqlClient from "effect/sql/SqlClient"
import * as TestClock from "effect/testing/TestClock"
import { basename, dirname, join } from "node:path"
import * as Database from "../../layers/storage/Database.ts"
import * as Retention from "../../layers/storage/Retention.ts"
import * as Settings from "../../src/config/Settings.ts"
import * as UploadName from "../../src/file/UploadName.ts"
import * as ResponseFile from "../../src/http/ResponseFile.ts"
import * as Ids from "../../src/Ids.ts"
import * as FileName from "../../src/spill/FileName.ts"
import { DataDirectory } from "../../src/storage/DataDirectory.ts"
import { answerWith, answered, message, reply, startTurn } from "../laws/Messages.ts"
import * as Store from "../laws/Store.ts"

const surroundings = (settings: Settings.SettingsInput = {}) =>
  Layer.mergeAll(
    Database.layerMemory,
    Layer.orDie(Settings.Settings.layer(settings)),
    Layer.effect(
      DataDirectory,
      Effect.gen(function* () {
        const path = yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped()
        return { path, file: (name: string) => join(path, name) }
      })
    )
  ).pipe(Layer.provideMerge(NodeServices.layer), Layer.orDie)

const count = (table: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.map(sql<{ readonly n: number }>`SELECT COUNT(*) AS n FROM ${sql(table)}`, ([row]) => row?.n)
  )

describe("retention", () => {
  it.effect("records go at the end of their time, what is owed and what was said stay for ever", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(Date.UTC(2026, 0, 1))
      const process = yield* Store.startProcess
      const { messageId } = yield* answerWith(process, [reply("hi"), reply("stuck")])
      const [taken] = yield* process.outbox.take("push", 1)
      assert(taken !== undefined)
      yield* process.outbox.delivered(taken.id)
      const owed = yield* process.journal.accept(message({ thread: "console:owed" }))
      const entries = yield* count("thread_entries")

      yield* TestClock.adjust("29 days")
      assert.deepInclude(yield* Retention.run, { replies: 0, messages: 0 })
      yield* TestClock.adjust("2 days")
      assert.deepInclude(yield* Retention.run, { replies: 1, messages: 0 })
      assert.strictEqual((yield* process.threads.receipt(messageId)).state, "answered")
      yield* TestClock.adjust("60 days")
      assert.deepInclude(yield* Retention.run, { replies: 0, messages: 1 })
      assert.strictEqual((yield* process.threads.receipt(owed.messageId)).state, "accepted")
      assert.strictEqual(yield* count("outbox"), 1)
      assert.strictEqual(yield* count("thread_entries"), entries)
    }).pipe(Effect.scoped, Effect.provide(surroundings()))
  )

  it.effect("what the OpenAI-compatible endpoint keeps of a request goes with the record of its message", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(Date.UTC(2026, 0, 1))
      const process = yield* Store.startProcess
      const sql = yield* SqlClient.SqlClient
      const { messageId } = yield* answerWith(process, [])
      yield* sql`INSERT INTO openai_requests (message_id, thread_id, seq, digest, instructions, created_at)
        SELECT id, thread_id, seq, 'd', 'i', 0 FROM inbox WHERE id = ${messageId}`
      yield* TestClock.adjust("89 days")
      yield* Retention.run
      assert.strictEqual(yield* count("openai_requests"), 1)
      yield* TestClock.adjust("2 days")
      assert.deepInclude(yield* Retention.run, { messages: 1 })
      assert.strictEqual(yield* count("openai_requests"), 0)
    }).pipe(Effect.scoped, Effect.provide(surroundings()))
  )

  it.effect(
    "contents of attachments go when they have not come for long, the oldest first when there is too much",
    () =>
      Effect.gen(function* () {
        yield* TestClock.setTime(Date.UTC(2026, 0, 1))
        const process = yield* Store.startProcess
        const send = (...contents: ReadonlyArray<number>) =>
          process.journal.accept(
            message({
              attachments: contents.map((n) => ({
                name: "a",
                mediaType: "text/plain",
                content: new Uint8Array(400).fill(n)
              }))
            })
          )
        yield* send(1, 2)
        yield* TestClock.adjust("30 days")
        yield* send(2)
        const entries = yield* count("thread_entries")
        yield* TestClock.adjust("61 days")
        assert.deepInclude(yield* Retention.run, { attachments: 1 })
        yield* send(3, 4)
        // More than may be kept, but what has just come may still be about to be shown.
        yield* TestClock.adjust("59 minutes")
        assert.deepInclude(yield* Retention.run, { attachments: 1 })
        assert.strictEqual(yield* count("attachments"), 2)
        yield* TestClock.adjust("2 minutes")
        yield* send(5)
        assert.deepInclude(yield* Retention.run, { attachments: 1 })
        assert.strictEqual(yield* count("attachments"), 2)
        assert.strictEqual(yield* count("thread_entries"), (entries ?? 0) + 2)
      }).pipe(Effect.scoped, Effect.provide(surroundings({ retention: { attachments_max_bytes: 1000 } })))
  )

  it.effect("as long as its record is kept, a message that comes twice is one message", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(Date.UTC(2026, 0, 1))
      const process = yield* Store.startProcess
      const same = message({ externalId: "same", thread: "console:same" })
      const { threadId, messageId } = yield* process.journal.accept(same)
      const claim = yield* process.journal.claim(threadId)
      const turnId = yield* startTurn(process, claim, [messageId])
      yield* process.journal.endTurn(claim, answered(turnId))
      yield* TestClock.adjust("89 days")
      yield* Retention.run
      assert.isTrue((yield* process.journal.accept(same)).duplicate)
      yield* TestClock.adjust("2 days")
      yield* Retention.run
      assert.isFalse((yield* process.journal.accept(same)).duplicate)
    }).pipe(Effect.scoped, Effect.provide(surroundings()))
  )

  it.effect("a run does a bounded amount, and the runs after it the rest", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(Date.UTC(2026, 0, 1))
      const sql = yield* SqlClient.SqlClient
      const process = yield* Store.startProcess
      const { threadId } = yield* answerWith(process, [])
      yield* sql`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 25000)
        INSERT INTO outbox (id, thread_id, channel, chat, payload, state, next_attempt_at, created_at, ended_at)
        SELECT 'out_0' || printf('%025d', i), ${threadId}, 'push', '1', '{}', 'delivered', 0, 0, 0 FROM n`
      assert.strictEqual((yield* Retention.run).replies, 20_000)
      assert.strictEqual((yield* Retention.run).replies, 5_000)
      const plan = yield* sql.unsafe<{ readonly detail: string }>(
        "EXPLAIN QUERY PLAN SELECT ord FROM outbox WHERE id < 'out_1' AND ended_at < 5 ORDER BY id LIMIT 5"
      )
      assert.match(plan.map(({ detail }) => detail).join(), /SEARCH outbox USING INDEX/)
    }).pipe(Effect.scoped, Effect.provide(surroundings()))
  )

  it.effect("earlier lives of the process go, but not those that a thread names", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(Date.UTC(2026, 0, 1))
      const owner = yield* Store.startProcess
      const { threadId } = yield* owner.journal.accept(message())
      yield* owner.journal.claim(threadId)
      yield* Effect.scoped(Store.startProcess)
      yield* Effect.scoped(Store.startProcess)
      yield* TestClock.adjust("40 days")
      assert.strictEqual((yield* Retention.run).incarnations, 2)
      assert.strictEqual(yield* count("incarnations"), 2)
    }).pipe(Effect.scoped, Effect.provide(surroundings()))
  )

  it.effect("outputs in files go by age, then by size from the oldest on; other files stay", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const directory = yield* DataDirectory
      const { tools } = yield* Settings.Settings
      const folder = directory.file(`files/${tools.tool_output_spill.subdir}`)
      yield* files.makeDirectory(folder, { recursive: true })
      const now = Date.UTC(2026, 5, 1)
      yield* TestClock.setTime(now)
      const write = Effect.fnUntraced(function* (name: string, hours: number, bytes = 10) {
        yield* files.writeFileString(join(folder, name), "x".repeat(bytes))
        yield* files.utimes(join(folder, name), now / 1000 - hours * 3600, now / 1000 - hours * 3600)
      })
      const name = (letter: string) => `tool-look-${letter.repeat(16)}.txt`
      yield* write(name("a"), 31 * 24)
      yield* write(name("b"), 31 * 24)
      yield* write("notes-of-mine.txt", 400 * 24)
      yield* write(name("c"), 48, 600)
      yield* write(name("d"), 24, 600)
      yield* write(name("e"), 0, 600)
      assert.strictEqual((yield* Retention.run).files, 3)
      assert.deepStrictEqual((yield* files.readDirectory(folder)).toSorted(), [
        "notes-of-mine.txt",
        name("d"),
        name("e")
      ])
    }).pipe(Effect.scoped, Effect.provide(surroundings({ retention: { spill_max_bytes: 1300 } })))
  )

  describe("temporary managed files", () => {
    const now = Date.UTC(2026, 5, 1)

    const put = Effect.fnUntraced(function* (root: string, path: string, days: number, bytes = 10) {
      const files = yield* FileSystem.FileSystem
      const whole = join(root, path)
      yield* files.makeDirectory(dirname(whole), { recursive: true })
      yield* files.writeFileString(whole, "x".repeat(bytes))
      yield* files.utimes(whole, now / 1000 - days * 86_400, now / 1000 - days * 86_400)
    })
    const left = Effect.fnUntraced(function* (root: string) {
      const files = yield* FileSystem.FileSystem
      const all = yield* files.readDirectory(root, { recursive: true })
      return all.filter((path) => /[.-]/.test(basename(path))).toSorted()
    })
    /** A name that each writer makes, in its folder. */
    const written = Effect.gen(function* () {
      const response = yield* Effect.provide(
        ResponseFile.name("https://example.org/a%20b/c.html", "text/html"),
        Digest.layerWebCrypto
      )
      return [
        `outputs/${yield* FileName.make("look", "json")}`,
        `commands/${yield* FileName.make("bash", "txt")}`,
        `responses/${response}`,
        `incoming/${UploadName.make("my notes.tar.gz", yield* Ids.makeMessageId, 1)}`,
        `incoming/${UploadName.make("none", yield* Ids.makeMessageId, 0)}`
      ]
    })
    const folders = (root_dir?: string, uploads_subdir = "uploads") => ({
      tool_output_spill: { subdir: "outputs" },
      bash: { spill_subdir: "commands" },
      http_client: { spill_subdir: "./responses/" },
      file_storage: {
        incoming_temp_subdir: "incoming",
        uploads_subdir,
        ...(root_dir === undefined ? {} : { root_dir })
      }
    })
    const root = Effect.flatMap(FileSystem.FileSystem, (files) => files.makeTempDirectoryScoped()).pipe(
      Effect.provide(NodeServices.layer)
    )
    const inRoot = <E, R>(
      use: (path: string) => Effect.Effect<void, E, R>,
      settings: (path: string) => Settings.SettingsInput
    ) => Effect.scoped(Effect.flatMap(root, (path) => Effect.provide(use(path), surroundings(settings(path)))))

    it.effect("go from every folder that the runtime writes them to, below the root of the settings", () =>
      inRoot(
        Effect.fnUntraced(function* (path) {
          yield* TestClock.setTime(now)
          const old = yield* written
          const fresh = yield* written
          for (const name of old) yield* put(path, name, 31)
          for (const name of fresh) yield* put(path, name, 29)
          const [elsewhere = ""] = old
          yield* put((yield* DataDirectory).file("files"), elsewhere, 31)
          assert.strictEqual((yield* Retention.run).files, old.length)
          assert.deepStrictEqual(yield* left(path), fresh.toSorted())
          assert.deepStrictEqual(yield* left((yield* DataDirectory).file("files")), [elsewhere])
        }),
        (path) => ({ tools: folders(path) })
      )
    )

    it.effect("are only those: what people and tools put there, and what has another writer's name, stays", () =>
      inRoot(
        Effect.fnUntraced(function* (path) {
          yield* TestClock.setTime(now)
          const mine = [
            "outputs/notes.txt",
            "commands/tool-box.txt",
            "responses/example.org-1234abcd.html",
            "responses/report-20260101.pdf",
            "incoming/report-20260101.pdf",
            "incoming/my-research.txt",
            "incoming/photo.png",
            `incoming/deeper/${UploadName.make("a.txt", yield* Ids.makeMessageId, 0)}`,
            `uploads/${UploadName.make("a.txt", yield* Ids.makeMessageId, 0)}`,
            `commands/${UploadName.make("a.txt", yield* Ids.makeMessageId, 0)}`
          ]
          for (const name of mine) yield* put(path, name, 400)
          assert.strictEqual((yield* Retention.run).files, 0)
          assert.deepStrictEqual(yield* left(path), mine.toSorted())
        }),
        (path) => ({ tools: folders(path) })
      )
    )

    it.effect("count together, and the oldest of any folder go first when they are too large", () =>
      inRoot(
        Effect.fnUntraced(function* (path) {
          yield* TestClock.setTime(now)
          const all = yield* written
          yield* Effect.forEach(all, (name, index) => put(path, name, 10 - index, 400))
          assert.strictEqual((yield* Retention.run).files, 3)
          assert.deepStrictEqual(yield* left(path), all.slice(3).toSorted())
        }),
        (path) => ({ tools: folders(path), retention: { spill_max_bytes: 1000 } })
      )
    )

    it.effect("are not looked for where uploads are kept, nor behind a link out of the root", () =>
      inRoot(
        Effect.fnUntraced(function* (path) {
          yield* TestClock.setTime(now)
          const outside = (yield* DataDirectory).file("elsewhere")
          const [output = "", , , upload = ""] = yield* written
          yield* put(path, upload, 400)
          yield* put(outside, basename(output), 400)
          const files = yield* FileSystem.FileSystem
          yield* files.symlink(outside, join(path, "outputs"))
          assert.strictEqual((yield* Retention.run).files, 0)
          assert.deepStrictEqual(yield* left(outside), [basename(output)])
          assert.isTrue(yield* files.exists(join(path, upload)))
        }),
        (path) => ({ tools: folders(path, "incoming/") })
      )
    )
  })
})
