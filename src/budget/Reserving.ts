/** A request of a model between its hold and its settlement. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Budget from "./Budget.ts"
import type { Budgets } from "./Budgets.ts"

export interface Request<A, E, R> {
  /** Names this request; another try is another request. */
  readonly id: string
  readonly limits: ReadonlyArray<Budget.Limit>
  /** What it may use at worst, the answer as long as it may get. */
  readonly worst: Budget.Charge
  readonly send: Effect.Effect<A, E, R>
  /** What was used, as the provider counted it; undefined where it counts nothing. */
  readonly usedBy: (answer: A) => Budget.Charge | undefined
  /** Whether a failure is proof that nothing was sent. */
  readonly unsent: (error: E) => boolean
}

/**
 * Sends a request once its worst case is held. An answer settles it by what was used. A failure, a stop and an answer without a
 * count settle it at its worst, as nobody can tell what the provider did; only where it is known that nothing was sent it costs
 * nothing. Without limits nothing is written.
 */
export const send = <A, E, R>(budgets: Budgets["Service"], request: Request<A, E, R>) => {
  const { id, limits, send: sending, unsent, usedBy, worst } = request
  if (limits.length === 0) return sending
  const chargeOf = (exit: Exit.Exit<A, E>): Budget.Charge => {
    if (Exit.isSuccess(exit)) return usedBy(exit.value) ?? worst
    const error = Exit.findErrorOption(exit)
    return error._tag === "Some" && unsent(error.value) ? Budget.nothing : worst
  }
  return Effect.acquireUseRelease(
    budgets.hold(id, limits, worst),
    () => sending,
    (_, exit) => budgets.settle(id, chargeOf(exit))
  )
}
