/** A terminal with a person at it: tmux on a socket of its own. */
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import type { Place } from "./Program.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))

export interface Terminal {
  readonly press: (...keys: ReadonlyArray<string>) => Effect.Effect<void>
  readonly type: (text: string) => Effect.Effect<void>
  readonly paste: (text: string) => Effect.Effect<void>
  /** Writes all that the program sends to the terminal from now on into a file. */
  readonly record: (path: string) => Effect.Effect<void>
  readonly resize: (columns: number, rows: number) => Effect.Effect<void>
  /** What is on the screen, without trailing blank lines. `colours` keeps the escape sequences. */
  readonly screen: (options?: { readonly colours: boolean }) => Effect.Effect<string>
  /** Waits until the screen shows it. */
  readonly shows: (text: string) => Effect.Effect<string>
  /** Waits until the screen does not show it any more. */
  readonly gone: (text: string) => Effect.Effect<void>
  /** Waits until the program has ended. */
  readonly ended: Effect.Effect<void>
}

/** The program in a terminal of that size, for the scope. */
export const start = Effect.fnUntraced(function* (
  at: Place,
  args: ReadonlyArray<string>,
  size: { readonly columns: number; readonly rows: number }
) {
  const socket = `troupe-test-${process.pid}-${Math.trunc(process.uptime() * 1000)}`
  const tmux = (...command: ReadonlyArray<string>) =>
    Effect.sync(() => spawnSync("tmux", ["-L", socket, ...command], { encoding: "utf8", cwd: at.home }))
  const program = [process.execPath, `${root}layers/cli/main.ts`, ...args].map((word) => `'${word}'`).join(" ")
  const environment = [`HOME=${at.home}`, `TROUPE_DATA_DIR=${at.data}`, "LANG=C.UTF-8"]
    .map((entry) => `'${entry}'`)
    .join(" ")
  yield* Effect.acquireRelease(
    tmux(
      `-f/dev/null`,
      "-u",
      "new-session",
      "-dschat",
      `-x${size.columns}`,
      `-y${size.rows}`,
      `env ${environment} ${program}`
    ),
    () => tmux("kill-server")
  )
  const screen: Terminal["screen"] = (options) =>
    Effect.map(tmux("capture-pane", "-t", "chat", "-p", ...(options?.colours === true ? ["-e"] : [])), ({ stdout }) =>
      stdout.trimEnd()
    )
  const often = Schedule.spaced("50 millis")
  return {
    press: (...keys) => Effect.asVoid(tmux("send-keys", "-t", "chat", ...keys)),
    type: (text) => Effect.asVoid(tmux("send-keys", "-t", "chat", "-l", text)),
    paste: (text) => Effect.andThen(tmux("set-buffer", text), Effect.asVoid(tmux("paste-buffer", "-p", "-t", "chat"))),
    record: (path) => Effect.asVoid(tmux("pipe-pane", "-t", "chat", `cat > '${path}'`)),
    resize: (columns, rows) =>
      Effect.asVoid(tmux("resize-window", "-t", "chat", "-x", String(columns), "-y", String(rows))),
    screen,
    shows: (text) =>
      Effect.repeat(screen(), { until: (shown) => shown.includes(text), schedule: often }).pipe(
        Effect.timeoutOrElse({
          duration: "60 seconds",
          orElse: () =>
            Effect.flatMap(screen(), (shown) =>
              Effect.die(new Error(`never shown: ${text}\n--- the screen:\n${shown}`))
            )
        })
      ),
    gone: (text) =>
      Effect.asVoid(Effect.repeat(screen(), { until: (shown) => !shown.includes(text), schedule: often })),
    ended: Effect.asVoid(
      Effect.repeat(tmux("has-session", "-t", "chat"), { until: ({ status }) => status !== 0, schedule: often })
    )
  } satisfies Terminal
})
