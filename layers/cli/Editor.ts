/**
 * A text in the editor of a person, by way of a file that only this user can read. Whatever happens, the file is overwritten with
 * zeros and removed: only a kill of this process leaves it.
 */
import { spawn } from "node:child_process"
import type { ChildProcess } from "node:child_process"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import { VaultError } from "../../src/vault/VaultError.ts"

export interface Options {
  /** The vault that the text is of, for errors. */
  readonly path: string
  readonly text: string
  /** A command of the shell, such as `code --wait`. */
  readonly editor: string
  /** Put around the time in which the editor has the terminal. */
  readonly over: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

/** The text as it was saved. */
export const edit = Effect.fn("Editor.edit")(
  function* ({ editor, over, path, text }: Options) {
    const files = yield* FileSystem.FileSystem
    const paths = yield* Path.Path
    const folder = yield* Effect.acquireRelease(makeFolder, wipe)
    const file = paths.join(folder, "secrets.yml")
    yield* files.writeFileString(file, text, { flag: "wx", mode: 0o600 })
    const code = yield* over(runEditor(editor, file))
    if (code !== 0) {
      const detail = code === undefined ? "it could not be started" : `it ended with ${code}`
      return yield* new VaultError({ path, reason: "editor_failed", detail })
    }
    return yield* files.readFileString(file)
  },
  Effect.scoped,
  (effect, { path }) =>
    Effect.catchTag(effect, "PlatformError", ({ reason }) =>
      Effect.fail(new VaultError({ path, reason: "editor_failed", detail: `its file: ${reason._tag}` }))
    )
)

/** In memory where the system has a place for that. */
const makeFolder = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  return yield* files
    .makeTempDirectory({ directory: "/dev/shm", prefix: "troupe-vault-" })
    .pipe(Effect.catch(() => files.makeTempDirectory({ prefix: "troupe-vault-" })))
})

/** All that is in it, since editors leave copies beside what they edit. */
const wipe = (folder: string) =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const paths = yield* Path.Path
    for (const name of yield* files.readDirectory(folder, { recursive: true })) {
      yield* Effect.ignore(overwrite(paths.join(folder, name)))
    }
    yield* files.remove(folder, { recursive: true, force: true })
  }).pipe(Effect.ignore)

const overwrite = Effect.fnUntraced(function* (path: string) {
  const files = yield* FileSystem.FileSystem
  const { size, type } = yield* files.stat(path)
  if (type !== "File") return
  yield* Effect.scoped(
    Effect.gen(function* () {
      const file = yield* files.open(path, { flag: "r+" })
      yield* file.writeAll(new Uint8Array(Number(size)))
      yield* file.sync
    })
  )
})

/** The exit code; undefined when it was not started. When it is interrupted, the editor is ended and waited for: it may write until then. */
const runEditor = (editor: string, file: string): Effect.Effect<number | undefined> =>
  Effect.callback((resume) => {
    // In place of the shell, so that what is ended is the editor.
    const child = spawn("/bin/sh", ["-c", `exec env ${editor} "$1"`, "sh", file], { stdio: "inherit" })
    child.once("error", () => resume(Effect.undefined))
    child.once("close", (code) => resume(Effect.succeed(code ?? 1)))
    return Effect.sync(() => child.kill("SIGTERM")).pipe(
      Effect.andThen(ended(child)),
      Effect.timeoutOption("2 seconds"),
      Effect.andThen(Effect.sync(() => child.kill("SIGKILL")))
    )
  })

const ended = (child: ChildProcess): Effect.Effect<void> =>
  Effect.callback((resume) => {
    if (child.exitCode !== null || child.signalCode !== null) return resume(Effect.void)
    child.once("exit", () => resume(Effect.void))
  })
