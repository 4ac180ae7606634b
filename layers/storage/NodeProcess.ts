/** The edge to facts of the operating system that Effect has no service for: who this process is, and who else is alive. */
import * as os from "node:os"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"

/** This process. */
export const self: Effect.Effect<{ readonly pid: number; readonly hostname: string }> = Effect.sync(() => ({
  pid: process.pid,
  hostname: os.hostname()
}))

/** Whether a process with this id exists on this machine. One that may not be signalled exists too. */
export const isAlive = (pid: number): Effect.Effect<boolean> =>
  Effect.match(
    Effect.try({
      try: () => process.kill(pid, 0),
      catch: (cause) => new Refused({ code: Predicate.hasProperty(cause, "code") ? String(cause.code) : "" })
    }),
    { onSuccess: () => true, onFailure: (refused) => refused.code === "EPERM" }
  )

class Refused extends Data.TaggedError("Refused")<{ readonly code: string }> {}
