/**
 * Whether who uses the store waits until all that was written is on the disk. Whoever tells somebody outside of what was
 * written or read has to, so it is the rule. A turn that goes on with its own work need not: a crash of the process takes
 * nothing of what was committed, only a power cut can, and before the turn does or says anything outside it waits once for all.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"

/** Read by the client of the store at the end of each statement and transaction. */
export const Awaited = Context.Reference<boolean>("troupe/storage/Durability/Awaited", { defaultValue: () => true })

/** Gives the result as soon as it is committed; the flush to the disk begins then, and nobody waits for it here. */
export const deferred = <A, E, R>(operation: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.provideService(operation, Awaited, false)
