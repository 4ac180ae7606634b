/**
 * What models have used, and what requests that are under way may use at worst.
 *
 * Before a request is sent, its worst case is held in every account that a limit is on: in all of them, or in none. Afterwards the
 * hold is settled by what was used. A hold that no process settles, since it was killed, counts at its worst: nobody knows what the
 * provider did. So a limit is never exceeded by more than a provider exceeds the request itself.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Budget from "./Budget.ts"

export class Budgets extends Context.Service<
  Budgets,
  {
    /** Holds the worst case of a request. `id` names it and is new. */
    readonly hold: (
      id: string,
      limits: ReadonlyArray<Budget.Limit>,
      worst: Budget.Charge
    ) => Effect.Effect<void, Budget.BudgetReached>
    /** Ends a hold: `actual` counts, nothing where it is known that nothing was sent. Without a hold nothing changes. */
    readonly settle: (id: string, actual: Budget.Charge) => Effect.Effect<void>
    /** Counts what an earlier life of the process held at its worst, and gives how many holds there were. Before any hold of this life. */
    readonly recover: Effect.Effect<number>
    /** Allows so much more of an account. `id` names the decision: a second time it changes nothing. */
    readonly raise: (id: string, account: Budget.Account, by: number) => Effect.Effect<void>
    readonly standing: (account: Budget.Account) => Effect.Effect<Budget.Standing>
    /** Forgets the accounts of days before this one, unless something is held there. */
    readonly forget: (before: string) => Effect.Effect<void>
  }
>()("troupe/budget/Budgets") {
  /** In memory, for tests. */
  static readonly layerMemory: Layer.Layer<Budgets> = Layer.sync(Budgets, () => {
    const accounts = new Map<string, { readonly account: Budget.Account; readonly standing: Budget.Standing }>()
    const holds = new Map<string, { readonly accounts: ReadonlyArray<Budget.Account>; readonly worst: Budget.Charge }>()
    const raises = new Set<string>()
    const standing = (account: Budget.Account) => accounts.get(Budget.nameOf(account))?.standing ?? Budget.untouched
    const change = (account: Budget.Account, to: Partial<Budget.Standing>) =>
      accounts.set(Budget.nameOf(account), { account, standing: { ...standing(account), ...to } })
    const settle = (id: string, actual: Budget.Charge | undefined) => {
      const hold = holds.get(id)
      holds.delete(id)
      for (const account of hold?.accounts ?? []) {
        const { held, used } = standing(account)
        const worst = Budget.amountOf(hold?.worst ?? Budget.nothing, account)
        change(account, { held: held - worst, used: used + (actual === undefined ? worst : actual[account.unit]) })
      }
    }
    return Budgets.of({
      hold: (id, limits, worst) =>
        Effect.suspend(() => {
          const narrowest = Budget.narrowest(limits)
          for (const limit of narrowest) {
            const wanted = Budget.amountOf(worst, limit.account)
            const now = standing(limit.account)
            if (wanted > Budget.left(limit, now)) {
              return Effect.fail(new Budget.BudgetReached({ ...limit, ...now, wanted }))
            }
          }
          const held = narrowest.map(({ account }) => account)
          for (const account of held) {
            change(account, { held: standing(account).held + Budget.amountOf(worst, account) })
          }
          holds.set(id, { accounts: held, worst })
          return Effect.void
        }),
      settle: (id, actual) => Effect.sync(() => settle(id, actual)),
      recover: Effect.sync(() => {
        const open = [...holds.keys()]
        for (const id of open) settle(id, undefined)
        return open.length
      }),
      raise: (id, account, by) =>
        Effect.sync(() => {
          if (raises.has(id)) return
          raises.add(id)
          change(account, { raised: standing(account).raised + by })
        }),
      standing: (account) => Effect.sync(() => standing(account)),
      forget: (before) =>
        Effect.sync(() => {
          for (const [name, { account, standing: now }] of accounts) {
            if (account.day !== null && account.day < before && now.held === 0) accounts.delete(name)
          }
        })
    })
  })
}
