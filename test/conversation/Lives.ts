/** Several lives of a process over one store, some of which end in the middle of something. */
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Database from "../../layers/storage/Database.ts"
import * as IncarnationLive from "../../layers/storage/Incarnation.ts"
import * as TestRuntime from "../../layers/testing/TestRuntime.ts"
import { Incarnation } from "../../src/storage/Incarnation.ts"
import * as Fixtures from "./Fixtures.ts"

/** A store that outlives the lives over it; each life is an incarnation of its own. */
export const makeStore = Effect.gen(function* () {
  const context = yield* Layer.build(Layer.fresh(Database.layerMemory))
  return Layer.fresh(
    Layer.effectContext(
      Effect.gen(function* () {
        const incarnation = yield* Effect.orDie(Effect.provideContext(IncarnationLive.make, context))
        return Context.add(context, Incarnation, incarnation)
      })
    )
  )
})
export type Store = Effect.Success<typeof makeStore>

/** Told of every point that a life passes. */
export type At = (point: string) => Effect.Effect<void>

/** The nth point of a life, counted from 1, or the first of this name. */
export type Where = number | string

/** What a life is made of; `at` must be called by its tools and its model before and after whatever they do. */
export type Make = (at: At) => TestRuntime.Options

const start = (store: Store, make: Make, at: At, scope: Scope.Scope) => {
  const options = make(at)
  const layer = TestRuntime.layer({ ...options, journal: (journal) => Fixtures.around(journal, at) }, store)
  return Layer.buildWithScope(Layer.fresh(layer), scope)
}

/**
 * One life that dies at a point, as by a power cut: nothing that comes after happens. Gives the point, or undefined
 * when `use` was over before.
 */
export const killedAt = <A>(
  store: Store,
  where: Where,
  make: Make,
  use: Effect.Effect<A, never, TestRuntime.Services>
): Effect.Effect<string | undefined> =>
  Effect.gen(function* () {
    const dead = yield* Deferred.make<string>()
    let points = 0
    const at = (point: string) =>
      Effect.suspend(() => {
        if (!(Deferred.isDoneUnsafe(dead) || point === where || ++points === where)) return Effect.void
        return Effect.andThen(Deferred.succeed(dead, point), Effect.never)
      })
    // Never closed: a dead process cleans nothing up.
    const scope = yield* Scope.make()
    const life = yield* Effect.forkDetach(
      Effect.flatMap(start(store, make, at, scope), (context) => Effect.provideContext(use, context))
    )
    const ended = yield* Effect.raceFirst(Deferred.await(dead), Effect.as(Fiber.join(life), undefined))
    // Those who used it are gone as well; nobody waits for what they were doing.
    life.interruptUnsafe()
    if (ended === undefined) yield* Fixtures.whileTimePasses(Scope.close(scope, Exit.void))
    return ended
  })

/** One life that is asked to end at a point, and is given the time it needs for that. */
export const endedAt = <A>(
  store: Store,
  where: Where,
  make: Make,
  use: Effect.Effect<A, never, TestRuntime.Services>
): Effect.Effect<string | undefined> =>
  Effect.gen(function* () {
    const asked = yield* Deferred.make<string>()
    let points = 0
    const at = (point: string) =>
      Effect.suspend(() => {
        if (Deferred.isDoneUnsafe(asked) || (point !== where && ++points !== where)) return Effect.void
        // Longer than the grace that is given to running turns.
        return Effect.andThen(Deferred.succeed(asked, point), Effect.sleep("30 seconds"))
      })
    const scope = yield* Scope.make()
    const life = yield* Effect.forkDetach(
      Effect.flatMap(start(store, make, at, scope), (context) => Effect.provideContext(use, context))
    )
    const point = yield* Effect.raceFirst(Deferred.await(asked), Effect.as(Fiber.join(life), undefined))
    life.interruptUnsafe()
    yield* Fixtures.whileTimePasses(Scope.close(scope, Exit.void), "6 seconds")
    return point
  })

/** One life that nothing disturbs. */
export const whole = <A>(store: Store, make: Make, use: Effect.Effect<A, never, TestRuntime.Services>) =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const context = yield* start(store, make, () => Effect.void, scope)
    const result = yield* Effect.provideContext(use, context)
    yield* Fixtures.whileTimePasses(Scope.close(scope, Exit.void))
    return result
  })
