/** `troupe backup`, `restore`, `verify` and `held`, as people use them. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Schedule from "effect/Schedule"
import * as Layer from "effect/Layer"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import * as FakeOpenAi from "../model/FakeOpenAi.ts"
import * as DiskRig from "../rigs/DiskRig.ts"
import * as Needs from "../rigs/Needs.ts"
import * as Program from "./Program.ts"
import * as Tmux from "./Tmux.ts"

const beginsAndHangs = FakeOpenAi.stream(FakeOpenAi.delta({ content: "It is" }), FakeOpenAi.hang)
const answers = FakeOpenAi.stream(
  FakeOpenAi.delta({ role: "assistant", content: "It is 42." }),
  FakeOpenAi.delta({}, "stop"),
  FakeOpenAi.done
)

const settings = (baseUrl: string) =>
  `[llm]\nprovider = "slow"\nmodel = "slow"\n[providers.slow]\nbase_url = "${baseUrl}"\napi_key = "none"\n`

const end = (running: Program.Running, signal: NodeJS.Signals) =>
  Effect.andThen(
    Effect.sync(() => running.process.kill(signal)),
    running.ended
  )

describe("the commands for what is stored", () => {
  it.live(
    "back up beside a daemon that works, restore on another machine, hold what was owed, and release it",
    () =>
      Effect.gen(function* () {
        const provider = yield* FakeOpenAi.make([beginsAndHangs, answers])
        const at = yield* Program.place
        const first = yield* Program.daemon(at, settings(provider.baseUrl))
        yield* Program.start(at, ["chat", "--once", "what is 6*7?"])
        yield* provider.arrived(0)
        const made = yield* Program.run(at, ["backup", "saved", "--json"])
        assert.strictEqual(made.code, 0, made.stderr)
        assert.strictEqual((yield* Program.run(at, ["backup", "saved"])).code, 1)
        assert.include(
          (yield* Program.run(at, ["verify", "saved"])).stdout,
          "Sound: saved\n  1 thread, 2 entries, 1 turn"
        )
        assert.include((yield* Program.run(at, ["verify"])).stdout, "Sound: ")
        yield* end(first, "SIGKILL")

        const other = { home: at.home, data: join(at.home, "other") }
        const dry = yield* Program.run(other, ["restore", "saved", "--dry-run"])
        assert.include(dry.stdout, "1 thread and 0 replies were owed in it and would be held", dry.stderr)
        const files = yield* FileSystem.FileSystem
        assert.isFalse(yield* files.exists(join(other.data, "troupe.db")))
        const restored = yield* Program.run(other, ["restore", "saved"])
        assert.include(restored.stdout, "are held", restored.stderr)

        const second = yield* Program.daemon(other, settings(provider.baseUrl))
        yield* second.says("restored copy")
        assert.include(
          (yield* Program.run(other, ["status"])).stdout,
          "held        1 thread and 0 replies of a restored copy"
        )
        const held = yield* Program.run(other, ["held"])
        assert.include(held.stdout, "console:main  a turn was at work")
        const unanswered = yield* Program.run(other, ["chat", "--once", "and 2+2?", "--timeout", "8"])
        assert.strictEqual(unanswered.code, 1, unanswered.stderr)
        assert.include(unanswered.stderr, "The message waits. The thread is held back: this is a restored copy")
        assert.include(unanswered.stderr, "`troupe held --release`")
        if (!Needs.tmux.missing) {
          const terminal = yield* Tmux.start(other, ["chat"], { columns: 100, rows: 24 })
          yield* terminal.shows("\n›")
          yield* terminal.type("and 3+3?")
          yield* terminal.press("Enter")
          yield* terminal.shows("The message waits. The thread is held back")
        }
        assert.strictEqual(provider.received.length, 1)
        assert.include((yield* Program.run(other, ["held", "--release"])).stdout, "Released: 1 thread and 0 replies.")
        const history = Effect.map(Program.run(other, ["history", "main"]), ({ stdout }) => stdout)
        const answered = yield* Effect.repeat(history, {
          until: (text) => text.includes("It is 42."),
          schedule: Schedule.spaced("200 millis")
        })
        assert.include(answered, "what is 6*7?")
        assert.include((yield* Program.run(other, ["held"])).stdout, "Nothing is held.")
        yield* end(second, "SIGTERM")
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    120_000
  )

  it.live(
    "call no database sound that the daemon refuses, and back none up",
    () =>
      Effect.gen(function* () {
        const files = yield* FileSystem.FileSystem
        const { home } = yield* Program.place
        const write = (sql: string) => (file: string) =>
          Effect.sync(() => {
            const database = new DatabaseSync(file)
            database.exec(sql)
            database.close()
          })
        const newer = write("INSERT INTO schema_migrations (migration_id, name) VALUES (9000, 'future')")
        for (const [name, spoil, words] of [
          ["emptied", (file: string) => files.truncate(file, 0), "it is empty, and there was a database here before"],
          ["lost", (file: string) => files.remove(file), "it is not there, and there was a database here before"],
          [
            "foreign",
            (file: string) => Effect.andThen(files.remove(file), write("CREATE TABLE songs (title)")(file)),
            "it is a database of another program"
          ],
          ["newer", newer, "has schema version 9000"]
        ] as const) {
          const at = { home, data: join(home, name) }
          yield* files.makeDirectory(at.data)
          yield* Effect.provide(Effect.void, Layer.fresh(DiskRig.store(at.data)))
          yield* spoil(join(at.data, "troupe.db"))
          for (const command of [["verify"], ["backup", "saved"], []]) {
            const refused = yield* Program.run(at, command)
            assert.deepStrictEqual([refused.code, refused.stdout], [5, ""], `${name}: ${refused.stderr}`)
            assert.include(refused.stderr, words, name)
          }
          assert.notInclude((yield* files.readDirectory(home)).join(), "saved", name)
        }
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    120_000
  )

  it.live(
    "make nothing where they only look, or where they fail",
    () =>
      Effect.gen(function* () {
        const files = yield* FileSystem.FileSystem
        const { home } = yield* Program.place
        const at = { home, data: join(home, "data") }
        yield* files.makeDirectory(at.data)
        yield* Effect.provide(Effect.void, Layer.fresh(DiskRig.store(at.data)))
        assert.strictEqual((yield* Program.run(at, ["backup", "saved"])).code, 0)
        const empty = join(home, "empty")
        yield* files.makeDirectory(empty)
        for (const data of [join(home, "a/b/c"), empty]) {
          const dry = yield* Program.run({ home, data }, ["restore", "saved", "--dry-run"])
          assert.strictEqual(dry.code, 0, dry.stderr)
          assert.strictEqual((yield* Program.run({ home, data }, ["restore", "nothing"])).code, 1)
        }
        assert.isFalse(yield* files.exists(join(home, "a")))
        assert.deepStrictEqual(yield* files.readDirectory(empty), [])
        const into = { home, data: join(home, "a/b/c") }
        assert.strictEqual((yield* Program.run(into, ["restore", "saved"])).code, 0)
        assert.includeMembers(yield* files.readDirectory(into.data), ["lock.db", "troupe.db"])
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    120_000
  )
})
