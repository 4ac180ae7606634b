/** How a program ended, in the fields of a result. */
import * as Duration from "effect/Duration"
import type * as Process from "../../../src/process/Process.ts"

/** The outcome of a program; what is as usual is left out. */
export const of = ({ ended }: Process.Finished) => {
  const { cause, durationMillis, exit, pipeKeptOpen, stderr, stdout, survivors, unkillable } = ended
  return {
    ok: isFine(ended),
    exit_code: exit._tag === "code" ? exit.code : null,
    ...(exit._tag === "signal" ? { signal: exit.signal } : {}),
    timed_out: cause === "timeout",
    truncated: stdout.omitted + stderr.omitted > 0,
    duration_ms: durationMillis,
    ...(survivors > 0 ? { survivors } : {}),
    ...(unkillable > 0 ? { unkillable } : {}),
    ...(pipeKeptOpen ? { pipe_kept_open: pipeKeptOpen } : {})
  }
}

const isFine = ({ cause, exit }: Process.Finished["ended"]): boolean =>
  cause === "exited" && exit._tag === "code" && exit.code === 0

/** How long a program may run: what was asked for, within the settings. */
export const timeLimit = (
  asked: number | undefined,
  settings: { readonly default_timeout_seconds: Duration.Duration; readonly max_timeout_seconds: Duration.Duration }
): Duration.Duration =>
  Duration.min(
    asked === undefined ? settings.default_timeout_seconds : Duration.seconds(asked),
    settings.max_timeout_seconds
  )
