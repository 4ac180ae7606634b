import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { join } from "node:path"
import * as Needs from "../rigs/Needs.ts"
import * as Program from "./Program.ts"
import * as Tmux from "./Tmux.ts"

describe.skipIf(Needs.tmux.missing)(Needs.titled(Needs.tmux, "chat in a terminal"), () => {
  it.live(
    "streams, asks, stops, and survives resizing, wide characters and pasting",
    () =>
      Effect.gen(function* () {
        const at = yield* Program.place
        const files = yield* FileSystem.FileSystem
        yield* files.writeFileString(
          join(at.home, "config.toml"),
          `[tools.wait]\nenabled = true\n[tools.approval]\nrequire_approval = ["calculate*"]\n`
        )
        const terminal = yield* Tmux.start(at, ["chat"], { columns: 80, rows: 24 })
        yield* terminal.shows("/help")
        yield* terminal.shows("\n›")

        yield* terminal.type("what is 12*(3+4)?")
        yield* terminal.press("Enter")
        yield* terminal.shows("Allow calculate_expression?")
        // A key right after the question is not an answer to it, so this may take more than one.
        yield* Effect.repeat(Effect.andThen(terminal.press("y"), terminal.screen()), {
          until: (shown) => shown.includes("✓ calculate_expression")
        })
        yield* terminal.shows("84")
        yield* terminal.press("C-u")
        const answered = yield* terminal.screen()
        assert.strictEqual(answered.split("✓ calculate_expression").length, 2)
        assert.strictEqual(answered.split("› what is 12*(3+4)?").length, 2)

        yield* terminal.type("what is 2+2?")
        yield* terminal.press("Enter")
        yield* terminal.shows("Allow calculate_expression? expression: 2+2")
        yield* Effect.repeat(Effect.andThen(terminal.press("n"), terminal.screen()), {
          until: (shown) => shown.includes("✗ calculate_expression")
        })
        yield* terminal.press("C-u")

        yield* terminal.type("wait 60 seconds")
        yield* terminal.press("Enter")
        yield* terminal.shows("… wait")
        yield* terminal.type("日本語 🙂 typed while it runs")
        yield* terminal.shows("typed while it runs")
        yield* terminal.resize(44, 18)
        yield* terminal.shows("typed while it runs")
        yield* terminal.resize(100, 30)
        yield* terminal.press("C-c")
        const stopped = yield* terminal.shows("[stopped")
        assert.strictEqual(stopped.split("typed while it runs").length, 2, stopped)
        yield* terminal.press("C-u")

        yield* terminal.paste("first line\nsecond line")
        const pasted = yield* terminal.shows("  second line")
        assert.include(pasted, "› first line")
        yield* terminal.press("C-u", "BSpace", "C-u")

        yield* terminal.type("/thread other")
        yield* terminal.press("Enter")
        yield* terminal.shows("── console:other ──")
        yield* terminal.type("/nonsense")
        yield* terminal.press("Enter")
        yield* terminal.shows("there is no command /nonsense")

        // Another console finds the daemon of this one, and this one shows what the other says.
        const other = yield* Program.run(at, ["chat", "--thread", "other", "--once", "hello"])
        assert.strictEqual(other.code, 0, other.stderr)
        yield* terminal.type("/thread other")
        yield* terminal.press("Enter")
        yield* terminal.shows("› hello")

        yield* terminal.press("C-c")
        yield* terminal.ended
        assert.isFalse(yield* files.exists(join(at.data, "endpoint.json")))
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    180_000
  )

  it.live(
    "takes what was typed before it was there, and goes on with a daemon that comes back on another port",
    () =>
      Effect.gen(function* () {
        const at = yield* Program.place
        const files = yield* FileSystem.FileSystem
        const first = yield* Program.daemon(at)
        const before = yield* files.readFileString(join(at.data, "endpoint.json"))
        const terminal = yield* Tmux.start(at, ["chat"], { columns: 60, rows: 24 })
        yield* terminal.type("what is 3+4?")
        yield* terminal.press("Enter")
        yield* terminal.shows("3+4 = 7")
        yield* terminal.shows("for what I understand.)")

        first.process.kill("SIGKILL")
        yield* first.ended
        yield* terminal.shows("The daemon is away")
        yield* terminal.type("what is 5+6?")
        yield* terminal.press("Enter")
        yield* terminal.shows("Not known whether it was taken: ")
        // What could not be sent stands in the line again.
        yield* terminal.shows("\n› what is 5+6?")
        yield* files.remove(join(at.data, "endpoint.json"))
        yield* Program.daemon(at)
        assert.notStrictEqual(urlOf(yield* files.readFileString(join(at.data, "endpoint.json"))), urlOf(before))
        yield* terminal.gone("The daemon is away")
        yield* terminal.press("Enter")
        const after = yield* terminal.shows("5+6 = 11")
        assert.strictEqual(after.split("› what is 5+6?").length, 2, after)
        assert.strictEqual(after.split("› what is 3+4?").length, 2, after)
        yield* terminal.press("C-d")
        yield* terminal.ended
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    120_000
  )

  it.live(
    "draws a long paste when all of it is there, and not piece by piece",
    () =>
      Effect.gen(function* () {
        const at = yield* Program.place
        const files = yield* FileSystem.FileSystem
        const terminal = yield* Tmux.start(at, ["chat"], { columns: 100, rows: 24 })
        yield* terminal.shows("\n›")
        const sent = join(at.home, "sent")
        yield* terminal.record(sent)
        yield* terminal.paste(`${"x".repeat(15_000)}END`)
        yield* terminal.shows("END")
        const drawings = (yield* files.readFileString(sent)).split("\u001b[?25l").length - 1
        assert.isAtLeast(drawings, 1)
        // Where nothing else happens it is one.
        assert.isAtMost(drawings, 3)
        yield* terminal.press("C-u", "C-d")
        yield* terminal.ended
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    120_000
  )

  it.live(
    "a message that the daemon took while it stood still is not taken twice when it is sent again",
    () =>
      Effect.gen(function* () {
        const at = yield* Program.place
        const { process } = yield* Program.daemon(at)
        const terminal = yield* Tmux.start(at, ["chat"], { columns: 100, rows: 24 })
        yield* terminal.type("what is 3+4?")
        yield* terminal.press("Enter")
        yield* terminal.shows("for what I understand.)")
        process.kill("SIGSTOP")
        yield* terminal.type("what is 5+6?")
        yield* terminal.press("Enter")
        yield* terminal.shows("Not known whether it was taken")
        yield* terminal.shows("\n› what is 5+6?")
        process.kill("SIGCONT")
        yield* terminal.shows("5+6 = 11")
        yield* terminal.gone("The daemon is away")
        yield* terminal.press("Enter")
        const after = yield* terminal.shows("not sent twice")
        assert.strictEqual(after.split("5+6 = 11").length, 2, after)
        const history = yield* Program.run(at, ["history", "main", "--json"])
        assert.strictEqual(history.stdout.split('"_tag":"UserMessage"').length, 3, history.stdout)
        // Said again on purpose, it is a new message.
        yield* terminal.type("what is 5+6?")
        yield* terminal.press("Enter")
        yield* Effect.repeat(terminal.screen(), { until: (shown) => shown.split("5+6 = 11").length === 3 })
        yield* terminal.press("C-d")
        yield* terminal.ended
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    180_000
  )
})

const urlOf = (endpoint: string): string | undefined => /"url":"([^"]+)"/.exec(endpoint)?.[1]
