/** How many turns run at once in this process, and whose turn it is when more want to. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as PartitionedSemaphore from "effect/PartitionedSemaphore"
import * as Settings from "../../src/config/Settings.ts"
import * as Threads from "../../src/thread/Threads.ts"
import * as TurnMetrics from "../../src/turn/TurnMetrics.ts"

export class TurnSlots extends Context.Service<
  TurnSlots,
  {
    /**
     * Runs a turn when there is room. Waiting turns are let in round-robin over the channels they came by, so that a busy
     * one cannot starve the others.
     */
    readonly use: <A, E, R>(thread: Threads.Thread, turn: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
    /** From now on no turn is let in, and those that wait are interrupted: the process is about to end. */
    readonly close: Effect.Effect<void>
  }
>()("troupe/conversation/TurnSlots") {}

export const layer = Layer.effect(
  TurnSlots,
  Effect.gen(function* () {
    const { runtime } = yield* Settings.Settings
    const slots = PartitionedSemaphore.makeUnsafe<string>({ permits: runtime.max_concurrent_turns })
    let closed = false
    const counted = <A, E, R>(turn: Effect.Effect<A, E, R>) =>
      Effect.acquireUseRelease(
        Metric.modify(TurnMetrics.running, 1),
        () => turn,
        () => Metric.modify(TurnMetrics.running, -1)
      )
    return TurnSlots.of({
      use: (thread, turn) =>
        // Each that is turned away gives its permit to the next that waits.
        slots.withPermit(Threads.partsOfKey(thread.key).channel)(
          Effect.suspend(() => (closed ? Effect.interrupt : counted(turn)))
        ),
      close: Effect.sync(() => {
        closed = true
      })
    })
  })
)
