/**
 * Running the program as a process: signals, exit codes, and readers that go away.
 *
 * The first SIGINT or SIGTERM asks for a clean end, the second ends at once. Exit codes: `src/cli/CommandFailed.ts`.
 */
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Predicate from "effect/Predicate"
import * as Runtime from "effect/Runtime"
import { codeOf, exitCodes } from "../../src/cli/CommandFailed.ts"
import { MainControl } from "./MainControl.ts"

/** The state of one process: there is one. */
interface State {
  outlives: boolean
  grace: Duration.Duration | undefined
  readerGone: boolean
  signals: number
}

export const run = <E>(program: Effect.Effect<void, E, MainControl>): void => {
  const state: State = { outlives: false, grace: undefined, readerGone: false, signals: 0 }
  const control = MainControl.of({
    outlive: Effect.sync(() => {
      state.outlives = true
    }),
    stopWithin: (grace) =>
      Effect.sync(() => {
        state.grace = grace
      })
  })
  Effect.provideService(program, MainControl, control).pipe(
    Effect.tapCause(complain),
    runMain(state)({ disableErrorReporting: true, teardown: (exit, end) => end(codeFor(exit, state)) })
  )
}

const runMain = (state: State) =>
  Runtime.makeRunMain(({ fiber, teardown }) => {
    const stop = () => fiber.interruptUnsafe(fiber.id)
    const onSignal = () => {
      state.signals++
      if (state.signals > 1) process.exit(exitCodes.interrupted)
      stop()
    }
    const onClosed = (error: Error) => {
      if (!Predicate.hasProperty(error, "code") || error.code !== "EPIPE" || state.outlives) return
      state.readerGone = true
      stop()
    }
    process.on("SIGINT", onSignal)
    process.on("SIGTERM", onSignal)
    process.stdout.on("error", onClosed)
    process.stderr.on("error", () => {})
    fiber.addObserver((exit) => teardown(exit, (code) => process.exit(code)))
  })

const codeFor = (exit: Exit.Exit<unknown, unknown>, state: State): number => {
  if (state.readerGone || Exit.isSuccess(exit)) return exitCodes.ok
  if (Cause.hasInterruptsOnly(exit.cause)) return state.grace === undefined ? exitCodes.interrupted : exitCodes.ok
  const error = Cause.squash(exit.cause)
  if (!Predicate.isTagged(error, "ShowHelp") && Predicate.hasProperty(error, Runtime.errorExitCode)) {
    return Runtime.getErrorExitCode(error)
  }
  return Predicate.hasProperty(error, "_tag") ? codeOf(String(error._tag)) : exitCodes.failed
}

/** Failures are sentences; only a bug shows where it happened. What the command line parser says, it has said already. */
const complain = (cause: Cause.Cause<unknown>): Effect.Effect<void> => {
  if (Cause.hasInterruptsOnly(cause)) return Effect.void
  const error = Cause.squash(cause)
  if (Predicate.isTagged(error, "ShowHelp")) return Effect.void
  const words = Cause.hasFails(cause) && Predicate.isError(error) ? error.message : Cause.pretty(cause)
  return words === "" ? Effect.void : Effect.sync(() => void process.stderr.write(`troupe: ${words}\n`))
}
