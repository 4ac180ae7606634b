/**
 * The programs that search: a ripgrep of this machine, and the one of the registry, which is WebAssembly and runs in a Node of its
 * own. Both are children of the process runner, so that whatever they do they can be ended and hold nobody up.
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import { Environment } from "../../src/config/Environment.ts"
import { Settings } from "../../src/config/Settings.ts"
import * as OutputText from "../../src/process/OutputText.ts"
import { ProcessRunner } from "../../src/process/ProcessRunner.ts"
import * as Ripgrep from "../../src/search/Ripgrep.ts"
import { SearchError } from "../../src/search/SearchError.ts"
import { DataDirectory } from "../../src/storage/DataDirectory.ts"

/** How ripgrep is started. */
export interface Engine {
  readonly name: "native" | "wasm"
  readonly program: string
  /** Where the ripgrep is, for people. */
  readonly path: string
  /** Arguments before those of ripgrep. */
  readonly prefix: ReadonlyArray<string>
  readonly env: Readonly<Record<string, string>>
  readonly version: number
}

/** How long it is believed that a program of the machine is there, or is not. */
const believed = "1 minute"

const trial = { timeout: "20 seconds", maxOutputBytes: 4096 } as const

export const make = Effect.gen(function* () {
  const runner = yield* ProcessRunner
  const environment = yield* Environment
  const files = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  const { engine: wanted, rg_path: given } = (yield* Settings).tools.grep
  const folder = (yield* DataDirectory).file("search")

  /** The engine, where it is a ripgrep that understands what it will be told. */
  const tried = (engine: Omit<Engine, "version">) =>
    runner
      .run({
        ...engine,
        args: [...engine.prefix, "--no-config", "--version"],
        cwd: paths.dirname(folder),
        limits: trial
      })
      .pipe(
        Effect.mapError(({ message }) => unavailable(message)),
        Effect.flatMap(({ stdout }) => {
          const version = Ripgrep.versionIn(OutputText.decode(stdout))
          if (version !== undefined && version >= Ripgrep.oldest) return Effect.succeed({ ...engine, version })
          const found = version === undefined ? "it is no ripgrep" : `it is version ${version}`
          return Effect.fail(
            unavailable(`Expected ripgrep from version ${Ripgrep.oldest} on at ${engine.path}; ${found}.`)
          )
        })
      )

  /** The first `rg` of the PATH. A script is passed over: packages put one there that starts the slower engine. */
  const locate = Effect.gen(function* () {
    const folders = Option.getOrElse(yield* environment.get("PATH"), () => "").split(paths.sep === "/" ? ":" : ";")
    for (const folder of folders.filter((folder) => paths.isAbsolute(folder))) {
      const path = paths.join(folder, "rg")
      if (yield* isBinary(path)) return path
    }
    return yield* unavailable(
      "There is no program rg in the PATH of the daemon. Install ripgrep, or set [tools.grep].rg_path."
    )
  })

  const isBinary = (path: string) =>
    Effect.scoped(
      Effect.gen(function* () {
        const opened = yield* files.open(path)
        const beginning = yield* opened.readAlloc(2)
        return Option.exists(beginning, (bytes) => new TextDecoder().decode(bytes) !== "#!")
      })
    ).pipe(Effect.orElseSucceed(() => false))

  const native = Effect.flatMap(given === "" ? locate : Effect.succeed(paths.resolve(given)), (program) =>
    tried({ name: "native", program: "/bin/sh", path: program, prefix: [...bounded, program], env: {} })
  )

  /** Its code is unpacked once into a folder that nobody else can write to: where it looks by itself, anybody could put other code. */
  const unpacked = Effect.gen(function* () {
    const remove = files.remove(folder, { recursive: true, force: true })
    yield* remove.pipe(
      Effect.andThen(files.makeDirectory(folder, { mode: 0o700 })),
      Effect.mapError(() => unavailable(`The folder ${folder} cannot be made, which the search needs.`))
    )
    const { rgPath } = yield* Effect.tryPromise({
      try: () => import("ripgrep"),
      catch: () => unavailable("The package ripgrep is missing. Install troupe again with its dependencies.")
    })
    return yield* tried({
      name: "wasm",
      program: process.execPath,
      path: rgPath,
      prefix: ["--no-warnings", rgPath],
      env: { TMPDIR: folder, TEMP: folder, TMP: folder }
    })
  })

  const first = yield* Effect.cachedWithTTL(native, believed)
  const second = yield* Effect.cached(unpacked)
  yield* Effect.addFinalizer(() => Effect.ignore(files.remove(folder, { recursive: true, force: true })))

  const choices = {
    native: first,
    wasm: second,
    auto: Effect.catch(first, () => second)
  }
  /** The engine of the settings as it is here. */
  return { pick: choices[wanted] }
})

/** For `sh`: what follows, in two gigabytes of memory, whatever the files are. Where a shell cannot bound memory, it goes without. */
const bounded = ["-c", 'ulimit -v 2097152 2>/dev/null; exec "$@"', "sh"]

const unavailable = (detail: string) => new SearchError({ reason: "unavailable", detail })
