/** How many turns run at once in this process, and whose turn it is when more want to. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as PartitionedSemaphore from "effect/PartitionedSemaphore"
import { PersonWait } from "../../src/approval/PersonWait.ts"
import * as Settings from "../../src/config/Settings.ts"
import * as Threads from "../../src/thread/Threads.ts"
import * as TurnMetrics from "../../src/turn/TurnMetrics.ts"

export class TurnSlots extends Context.Service<
  TurnSlots,
  {
    /**
     * Runs a turn when there is room. Waiting turns are let in round-robin over the channels they came by, so that a busy
     * one cannot starve the others. A turn that waits for a person (`PersonWait`) gives its place away, and waits for one again.
     */
    readonly use: <A, E, R>(thread: Threads.Thread, turn: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
    /**
     * From now on no turn is let in, and those that wait are interrupted: the process is about to end. Those at work have
     * `[runtime].shutdown_grace_seconds` from the first call on, and are then left where they are. One that waits for a person
     * is left at once: its question is on disk, and time would bring it nothing.
     */
    readonly close: Effect.Effect<void>
    /** Waits until no turn is at work. */
    readonly idle: Effect.Effect<void>
  }
>()("troupe/conversation/TurnSlots") {}

export const layer = Layer.effect(
  TurnSlots,
  Effect.gen(function* () {
    const { runtime } = yield* Settings.Settings
    const slots = PartitionedSemaphore.makeUnsafe<string>({ permits: runtime.max_concurrent_turns })
    const scope = yield* Effect.scope
    const atWork = new Set<Fiber.Fiber<unknown, unknown>>()
    /** Those of them that wait for a person. */
    const waiting = new Set<Fiber.Fiber<unknown, unknown>>()
    const idle = Latch.makeUnsafe(true)
    let closed = false

    const begin = (fiber: Fiber.Fiber<unknown, unknown>) => {
      atWork.add(fiber)
      idle.closeUnsafe()
    }
    const end = (fiber: Fiber.Fiber<unknown, unknown>) => {
      atWork.delete(fiber)
      if (atWork.size === 0) idle.openUnsafe()
    }
    const noted = <A, E, R>(turn: (fiber: Fiber.Fiber<unknown, unknown>) => Effect.Effect<A, E, R>) =>
      Effect.withFiber((fiber) =>
        Effect.acquireUseRelease(
          Effect.sync(() => begin(fiber)),
          () => turn(fiber),
          () => Effect.sync(() => end(fiber))
        )
      )

    const leaveAll = Effect.suspend(() => Fiber.interruptAll([...atWork]))
    const close = Effect.suspend(() => {
      if (closed) return Effect.void
      closed = true
      return Effect.andThen(
        Effect.forkIn(
          Effect.suspend(() => Fiber.interruptAll([...waiting])),
          scope
        ),
        Effect.asVoid(Effect.forkIn(Effect.delay(leaveAll, runtime.shutdown_grace_seconds), scope))
      )
    })

    /** The place of one turn. */
    const placeOf = (thread: Threads.Thread) => {
      const { channel } = Threads.partsOfKey(thread.key)
      let held = false
      let waits = 0
      const leave = Effect.suspend(() => {
        if (!held) return Effect.void
        held = false
        return Effect.andThen(Metric.modify(TurnMetrics.running, -1), slots.release(1))
      })
      /** Takes a place. Each that is turned away gives its place to the next that waits. */
      const enter = (turnedAway: Effect.Effect<never>) =>
        Effect.uninterruptibleMask((restore) =>
          Effect.gen(function* () {
            yield* restore(slots.take(channel, 1))
            held = true
            yield* Metric.modify(TurnMetrics.running, 1)
            if (closed) return yield* Effect.andThen(leave, restore(turnedAway))
          })
        )
      const during =
        (turn: Fiber.Fiber<unknown, unknown>) =>
        <A, E, R>(wait: Effect.Effect<A, E, R>) =>
          Effect.uninterruptibleMask((restore) =>
            Effect.gen(function* () {
              // Calls of a script may wait at the same time: the place is for the turn.
              if (waits++ === 0) {
                yield* leave
                waiting.add(turn)
                if (closed) yield* Effect.forkIn(Fiber.interrupt(turn), scope)
              }
              const exit = yield* Effect.exit(restore(wait))
              // What is interrupted is the turn: this part of it waits for that.
              if (--waits === 0) {
                waiting.delete(turn)
                yield* restore(enter(Effect.never))
              }
              return yield* exit
            })
          )
      return { enter, leave, during }
    }

    return TurnSlots.of({
      use: (thread, turn) =>
        Effect.suspend(() => {
          const { during, enter, leave } = placeOf(thread)
          return Effect.ensuring(
            Effect.andThen(
              enter(Effect.interrupt),
              noted((fiber) => Effect.provideService(turn, PersonWait, { during: during(fiber) }))
            ),
            leave
          )
        }),
      close,
      idle: idle.await
    })
  })
)
