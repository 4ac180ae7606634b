import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { join } from "node:path"
import * as Needs from "../rigs/Needs.ts"
import * as Program from "./Program.ts"

const password = "correct horse battery staple"
const env = { TROUPE_VAULT_PASSWORD: password }
const secret = "zq-a-very-long-secret-0123456789"

/** Runs the program and wants it to end well. */
const well = (at: Program.Place, args: ReadonlyArray<string>, options: Program.Options = { env }) =>
  Effect.map(Program.run(at, args, options), (result) => {
    assert.strictEqual(result.code, 0, result.stderr)
    return result.stdout
  })

/** An editor that does this with the file `$1`, and says in `edited` where that is. */
const editor = Effect.fnUntraced(function* (at: Program.Place, script: string) {
  const path = join(at.home, "editor.sh")
  yield* (yield* FileSystem.FileSystem).writeFileString(path, `echo "$1" > ${join(at.home, "edited")}\n${script}\n`)
  return { ...env, EDITOR: `sh ${path}` }
})

/** Nothing is left of the file that was edited, nor of its folder. */
const assertGone = Effect.fnUntraced(function* (at: Program.Place) {
  const files = yield* FileSystem.FileSystem
  const path = (yield* files.readFileString(join(at.home, "edited"))).trim()
  assert.isFalse(yield* files.exists(join(path, "..")), path)
})

describe.skipIf(Needs.linux.missing)(Needs.titled(Needs.linux, "troupe vault"), () => {
  it.live(
    "makes a vault, fills it in an editor, lists the names and takes another password",
    () =>
      Effect.gen(function* () {
        const at = yield* Program.place
        const files = yield* FileSystem.FileSystem
        const path = join(at.home, "secrets.vault.yml")
        yield* well(at, ["vault", "init"])
        assert.match((yield* Program.run(at, ["vault", "init"], { env })).stderr, /there is such a file already/)
        const filling = yield* editor(at, `stat -c %a "$1" > ${join(at.home, "mode")}; echo 'door: ${secret}' >> "$1"`)
        assert.match(yield* well(at, ["vault", "edit"], { env: filling }), /1 secret\b/)
        assert.strictEqual(yield* files.readFileString(join(at.home, "mode")), "600\n")
        yield* assertGone(at)
        assert.strictEqual(yield* well(at, ["vault", "list"]), "door\n")
        assert.notInclude(yield* files.readFileString(path), "door")

        // A reference gives its value to the settings, and nobody sees it: not even where the setting is no secret itself.
        yield* files.writeFileString(
          join(at.home, "config.toml"),
          '[vault]\nenabled = true\n[runtime]\nowner_id = "${secret:door}"\n'
        )
        const shown = yield* well(at, ["config", "show"])
        assert.include(shown, 'owner_id = "[redacted]"')
        assert.notInclude(shown, secret)
        const locked = yield* Program.run(at, ["config", "check"])
        assert.strictEqual(locked.code, 2)
        for (const way of ["password_file", "TROUPE_VAULT_PASSWORD", "terminal"]) assert.include(locked.stderr, way)

        const changing = { ...env, TROUPE_VAULT_NEW_PASSWORD: "another one" }
        yield* well(at, ["vault", "rotate"], { env: changing })
        assert.match((yield* Program.run(at, ["vault", "list"], { env })).stderr, /the password is wrong/)
        assert.strictEqual(
          yield* well(at, ["vault", "list"], { env: { TROUPE_VAULT_PASSWORD: "another one" } }),
          "door\n"
        )
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    120_000
  )

  it.live(
    "leaves the vault as it is when the list is not valid, nothing was changed, or the editor fails",
    () =>
      Effect.gen(function* () {
        const at = yield* Program.place
        const files = yield* FileSystem.FileSystem
        const path = join(at.home, "secrets.vault.yml")
        yield* well(at, ["vault", "init"])
        const before = yield* files.readFileString(path)
        const cases = [
          ["printf 'a: 1\\nhunter2' > \"$1\"", 1, /line 2: there is no colon/],
          ["true", 0, /nothing was changed/],
          ["echo 'a: 1' > \"$1\"; exit 3", 1, /it ended with 3/]
        ] as const
        for (const [script, code, said] of cases) {
          const result = yield* Program.run(at, ["vault", "edit"], { env: yield* editor(at, script) })
          assert.strictEqual(result.code, code, result.stderr)
          assert.match(result.stdout + result.stderr, said)
          assert.notInclude(result.stderr, "hunter2")
          assert.strictEqual(yield* files.readFileString(path), before)
          yield* assertGone(at)
        }
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    120_000
  )

  it.live(
    "removes the file in the editor when it is ended meanwhile, and Ctrl+C is for the editor",
    () =>
      Effect.gen(function* () {
        const at = yield* Program.place
        yield* well(at, ["vault", "init"])
        const program = yield* Program.start(at, ["vault", "edit"], {
          env: yield* editor(at, "echo 'editing now' >&2; exec sleep 600")
        })
        yield* program.says("editing now")
        program.process.kill("SIGINT")
        program.process.kill("SIGTERM")
        const { code } = yield* program.ended
        assert.strictEqual(code, 130)
        yield* assertGone(at)
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    120_000
  )
})
