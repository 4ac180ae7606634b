/** How a command and everything that it started is ended. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Monotonic from "../../src/Monotonic.ts"
import * as ProcessMetrics from "../../src/process/ProcessMetrics.ts"
import * as NodeChild from "./NodeChild.ts"
import type * as Pipes from "./Pipes.ts"
import * as ProcFs from "./ProcFs.ts"

/** What was left when the command itself had ended. */
export interface Outcome {
  readonly survivors: number
  readonly unkillable: number
}

/** A started command with all that belongs to it. */
export interface Family {
  /**
   * Asks all of it to end, kills what does not within the grace, waits until all is gone, reads what is left of the outputs and
   * closes them. Once: later calls do nothing.
   */
  readonly end: Effect.Effect<Outcome>
}

/** How often it is looked whether something is gone, in milliseconds. */
const lookMillis = 10

/** After so many milliseconds of killing, what is still there cannot be killed. */
const killMillis = 2_000

/** How long what is left in the pipes may take to be read when nobody holds their other ends, as far as can be seen. */
const lastReadMillis = 5_000

/** No machine starts more processes in a second: before so many, an id is not used again. */
const startsPerSecond = 20_000

type Signal = "SIGTERM" | "SIGKILL"

export const make = Effect.fnUntraced(function* (options: {
  readonly child: NodeChild.Child
  readonly mark: string
  readonly pipes: Pipes.Pipes
  /** Between asking to end and killing. */
  readonly terminateGrace: Duration.Input
  /** How long outputs are read when all that is known is gone. */
  readonly drainGrace: Duration.Input
}) {
  const { child, mark, pipes } = options
  const began = yield* Monotonic.millis
  const known = new Map<number, string>()
  const left = new Set<ProcFs.Target>()
  let outcome: Outcome | undefined

  const marked = Effect.map(Monotonic.millis, (now) => {
    const ids = ((now - began) / 1000) * startsPerSecond
    return ProcFs.members({
      mark,
      known,
      leader: child.pid,
      younger: ids < ProcFs.pidMax() && ProcFs.lastPid() >= child.pid
    })
  })

  /** Sends the signal to all of them, once or at each look, until there are none. Gives how many are left after that time. */
  const signalUntilGone = Effect.fnUntraced(function* (
    look: Effect.Effect<ReadonlyArray<ProcFs.Target>>,
    name: Signal,
    millis: number
  ) {
    const until = (yield* Monotonic.millis) + millis
    const told = new Set<ProcFs.Target>()
    while (true) {
      const found = yield* look
      if (found.length === 0 && child.hasExited()) return 0
      for (const target of found) {
        if (child.hasExited()) left.add(target)
        if (name === "SIGKILL" || !told.has(target)) ProcFs.signal(target, name)
        told.add(target)
      }
      if ((yield* Monotonic.millis) >= until) return found.length
      yield* Effect.sleep(lookMillis)
    }
  })

  /** The whole group in one go, so that nothing in it can start another process between two signals. */
  const signalGroup = (name: Signal) =>
    Effect.sync(() => {
      if (!child.hasExited()) ProcFs.signal(-child.pid, name)
    })

  /** Gives how many could not be killed. */
  const endMarked = Effect.gen(function* () {
    // A look before the first of them dies: its children would no longer be known by their parent.
    const found = yield* marked
    if (found.length === 0 && child.hasExited()) return 0
    yield* signalGroup("SIGTERM")
    yield* signalUntilGone(marked, "SIGTERM", millisOf(options.terminateGrace))
    yield* signalGroup("SIGKILL")
    return yield* signalUntilGone(marked, "SIGKILL", killMillis)
  })

  const end = Effect.gen(function* () {
    if (outcome !== undefined) return outcome
    const unkillable = yield* endMarked
    const drained = yield* NodeChild.drainedWithin(child, options.drainGrace)
    // Whoever holds a pipe now has left the group and the session, and has thrown the mark away.
    const holders = Effect.sync(() => ProcFs.holders(pipes.isOurs))
    const holding = drained ? 0 : yield* signalUntilGone(holders, "SIGKILL", killMillis)
    // With nobody left to write, what is in the pipes has an end, however busy the machine is.
    yield* NodeChild.drainedWithin(child, holding === 0 ? lastReadMillis : options.drainGrace)
    yield* child.close
    outcome = { survivors: left.size, unkillable: unkillable + holding }
    yield* Metric.update(ProcessMetrics.survivors, left.size)
    return outcome
  })
  return { end } satisfies Family
})

const millisOf = (duration: Duration.Input): number => Duration.toMillis(Duration.fromInputUnsafe(duration))
