/** The program as people run it: a real process, with a data directory and a home of its own. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { spawn } from "node:child_process"
import type { ChildProcess } from "node:child_process"
import { openSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

export interface Result {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

export interface Options {
  readonly input?: string | Uint8Array
  readonly env?: Readonly<Record<string, string>>
  /** A file that takes standard output. */
  readonly stdout?: string
  /** A script other than the program. */
  readonly program?: string
}

export interface Place {
  readonly home: string
  readonly data: string
}

export interface Running {
  readonly process: ChildProcess
  /** Everything that has been written to standard output and error so far. */
  readonly output: () => string
  /** Resolves when the output holds the text, or the process has ended. */
  readonly says: (text: string) => Effect.Effect<string>
  readonly ended: Effect.Effect<Result>
}

const root = fileURLToPath(new URL("../..", import.meta.url))

/** A directory for one test. */
export const place = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const home = yield* files.makeTempDirectoryScoped({ prefix: "troupe-cli-" })
  return { home, data: join(home, "data") } satisfies Place
})

/** Starts the program; it is killed at the end of the scope. */
export const start = (at: Place, args: ReadonlyArray<string>, options: Options = {}) =>
  Effect.acquireRelease(
    Effect.sync((): Running => {
      const child = spawn(process.execPath, [options.program ?? join(root, "layers/cli/main.ts"), ...args], {
        cwd: at.home,
        env: { PATH: process.env["PATH"], HOME: at.home, TROUPE_DATA_DIR: at.data, ...options.env },
        stdio: ["pipe", options.stdout === undefined ? "pipe" : openSync(options.stdout, "w"), "pipe"]
      })
      let stdout = ""
      let stderr = ""
      let finished: Result | undefined
      const waiting = new Set<() => void>()
      const look = () => {
        for (const check of waiting) check()
      }
      child.stdout?.setEncoding("utf8").on("data", (text: string) => {
        stdout += text
        look()
      })
      child.stderr?.setEncoding("utf8").on("data", (text: string) => {
        stderr += text
        look()
      })
      child.on("close", (code, signal) => {
        finished = { code, signal, stdout, stderr }
        look()
      })
      child.stdin?.on("error", () => {})
      child.stdin?.end(options.input ?? "")
      const until = <A>(check: () => A | undefined): Effect.Effect<A> =>
        Effect.callback((resume) => {
          const attempt = () => {
            const found = check()
            if (found === undefined) return
            waiting.delete(attempt)
            resume(Effect.succeed(found))
          }
          waiting.add(attempt)
          attempt()
          return Effect.sync(() => waiting.delete(attempt))
        })
      return {
        process: child,
        output: () => stdout + stderr,
        says: (text) =>
          until(() => ((stdout + stderr).includes(text) || finished !== undefined ? stdout + stderr : undefined)),
        ended: until(() => finished)
      }
    }),
    ({ ended, process: child }) =>
      Effect.suspend(() => {
        if (child.exitCode !== null || child.signalCode !== null) return Effect.void
        child.kill("SIGKILL")
        return ended
      })
  )

/** Runs the program to its end. */
export const run = (at: Place, args: ReadonlyArray<string>, options: Options = {}) =>
  Effect.scoped(Effect.flatMap(start(at, args, options), ({ ended }) => ended))

/** A daemon on a free port, ready. */
export const daemon = Effect.fnUntraced(function* (
  at: Place,
  settings = "",
  env: Readonly<Record<string, string>> = {}
) {
  const files = yield* FileSystem.FileSystem
  yield* files.writeFileString(join(at.home, "config.toml"), `[http]\nport = 0\n${settings}`)
  const running = yield* start(at, [], { env })
  yield* running.says(`"msg":"Ready"`)
  return running
})
