/**
 * Running the program as a process: signals, exit codes, and readers that go away.
 *
 * The first SIGINT, SIGTERM or SIGHUP asks for a clean end; a SIGINT or SIGTERM after it ends at once. A clean end that takes
 * longer than its grace is cut off: what is on disk is what the next start goes on with. Exit codes: `src/cli/CommandFailed.ts`.
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
  /** Why standard output takes no more: its reader has gone, or it cannot be written. */
  output: "open" | "gone" | "failed"
  signals: number
  /** Another program has the terminal, and gets the Ctrl+C of it as well. */
  yielded: boolean
}

/** What is left to do after the grace, when the turns have been interrupted: closing the database, most of all. */
const closing = Duration.seconds(1)

export const run = <E>(program: Effect.Effect<void, E, MainControl>): void => {
  const state: State = { outlives: false, grace: undefined, output: "open", signals: 0, yielded: false }
  const control = MainControl.of({
    outlive: Effect.sync(() => {
      state.outlives = true
    }),
    stopWithin: (grace) =>
      Effect.sync(() => {
        state.grace = grace
      }),
    yieldTerminal: (effect) =>
      Effect.acquireUseRelease(
        Effect.sync(() => {
          state.yielded = true
        }),
        () => effect,
        () =>
          Effect.sync(() => {
            state.yielded = false
          })
      )
  })
  Effect.provideService(program, MainControl, control).pipe(
    Effect.tapCause(complain),
    runMain(state)({ disableErrorReporting: true, teardown: (exit, end) => end(codeFor(exit, state)) })
  )
}

const runMain = (state: State) =>
  Runtime.makeRunMain(({ fiber, teardown }) => {
    const stop = () => fiber.interruptUnsafe(fiber.id)
    const onSignal = (signal: NodeJS.Signals) => {
      state.signals++
      // A terminal that closes sends it twice, by itself and by its shell: nobody asks for haste with that.
      if (state.signals > 1 && signal === "SIGHUP") return
      if (state.signals > 1) process.exit(exitCodes.interrupted)
      stop()
      if (state.grace !== undefined) setTimeout(cutOff, Duration.toMillis(Duration.sum(state.grace, closing)))
    }
    const onClosed = (error: Error) => {
      if (state.outlives || state.output !== "open") return
      const code = Predicate.hasProperty(error, "code") ? String(error.code) : error.message
      state.output = code === "EPIPE" ? "gone" : "failed"
      if (state.output === "failed")
        say(`Standard output cannot be written (${code}): what was printed is not complete.`)
      stop()
    }
    process.on("SIGINT", (signal) => {
      if (!state.yielded) onSignal(signal)
    })
    process.on("SIGTERM", onSignal)
    process.on("SIGHUP", onSignal)
    process.stdout.on("error", onClosed)
    process.stderr.on("error", () => {})
    // One turn of the loop later, since a failure to write the last line is told after the line.
    fiber.addObserver((exit) => setImmediate(() => teardown(exit, (code) => process.exit(code))))
  })

const cutOff = () => {
  say("The end took too long and was cut off. What was not done goes on at the next start.")
  process.exit(exitCodes.ok)
}

const codeFor = (exit: Exit.Exit<unknown, unknown>, state: State): number => {
  if (state.output === "failed") return exitCodes.failed
  if (state.output === "gone" || Exit.isSuccess(exit)) return exitCodes.ok
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
  return words === "" ? Effect.void : Effect.sync(() => say(words))
}

const say = (words: string): void => void process.stderr.write(`troupe: ${words}\n`)
