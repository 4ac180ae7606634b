/**
 * The end of the process, as clients of the endpoint see it. Their protocol knows no coming back with a cursor, so an answer that is on
 * its way is waited for while the grace of the turns runs. What cannot come any more is said in the protocol's form, before the
 * server closes its connections.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { Settings } from "../../src/config/Settings.ts"
import * as Problem from "../../src/openai/Problem.ts"
import { TurnSlots } from "../conversation/TurnSlots.ts"

export class Departure extends Context.Service<
  Departure,
  {
    /** Fails once the process is about to end: nothing is accepted any more. */
    readonly admit: Effect.Effect<void, Problem.Problem>
    /**
     * The same stream, which fails when the process ends: at once if what it waits for has not begun, and else when the wait for
     * it is over.
     */
    readonly until: <A, E, R>(
      stream: Stream.Stream<A, E, R>,
      hasBegun: Effect.Effect<boolean>
    ) => Stream.Stream<A, E | Problem.Problem, R>
    /** The process is about to end. */
    readonly begin: Effect.Effect<void>
    /** Waits until no stream is followed. */
    readonly idle: Effect.Effect<void>
    /** Nothing is waited for any more. */
    readonly end: Effect.Effect<void>
  }
>()("troupe/openai/Departure") {}

const make = Effect.sync(() => {
  const begun = Latch.makeUnsafe(false)
  const over = Latch.makeUnsafe(false)
  const idle = Latch.makeUnsafe(true)
  let leaving = false
  let followed = 0
  const follow = (change: 1 | -1) => {
    followed += change
    if (followed === 0) idle.openUnsafe()
    else idle.closeUnsafe()
  }
  return Departure.of({
    admit: Effect.suspend(() => (leaving ? Effect.fail(Problem.closing) : Effect.void)),
    until: (stream, hasBegun) => {
      const gone = begun.await.pipe(
        Effect.andThen(hasBegun),
        Effect.flatMap((waits) => (waits ? over.await : Effect.void)),
        Effect.andThen(Effect.fail(Problem.goingAway))
      )
      return Stream.suspend(() => {
        follow(1)
        return Stream.ensuring(
          Stream.interruptWhen(stream, gone),
          Effect.sync(() => follow(-1))
        )
      })
    },
    begin: Effect.suspend(() => {
      leaving = true
      return Effect.asVoid(begun.open)
    }),
    idle: idle.await,
    end: Effect.asVoid(over.open)
  })
})

export const layer: Layer.Layer<Departure> = Layer.effect(Departure, make)

/** For what the last turn wrote to come to those who follow it. */
const lastWords = "250 millis"

/** Stands above the server, and so ends before it: no turn begins, and those that clients wait for have their grace. */
export const farewell: Layer.Layer<never, never, Departure | TurnSlots | Settings> = Layer.effectDiscard(
  Effect.gen(function* () {
    const departure = yield* Departure
    const slots = yield* TurnSlots
    const { runtime } = yield* Settings
    const wait = Effect.raceFirst(departure.idle, Effect.andThen(slots.idle, Effect.sleep(lastWords))).pipe(
      Effect.timeoutOption(runtime.shutdown_grace_seconds),
      // In a fiber of its own: the one that ends has been interrupted, and would not wait.
      Effect.forkDetach,
      Effect.flatMap(Fiber.await)
    )
    yield* Effect.addFinalizer(() =>
      slots.close.pipe(
        Effect.andThen(departure.begin),
        Effect.andThen(wait),
        Effect.andThen(departure.end),
        Effect.uninterruptible
      )
    )
  })
)
