/** The time a person takes is nobody's fault: clocks that bound work stand still meanwhile. */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"

/** Runs a wait for a person so that it counts for no time limit around it. Without such a limit it just runs. */
export class PersonWait extends Context.Reference<{
  readonly during: <A, E, R>(wait: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}>("troupe/approval/PersonWait", { defaultValue: () => ({ during: (wait) => wait }) }) {}
