/**
 * Whether an interruption hands the turn on to another life of the process. A question that is interrupted by it stays open, and is
 * found again there; by any other interruption it is withdrawn. Calls that another call makes are begun anew in the next life, so
 * this does not reach them.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"

export class Leaving extends Context.Reference<Effect.Effect<boolean>>("troupe/approval/Leaving", {
  defaultValue: () => Effect.succeed(false)
}) {}
