/** Budgets as rows. A hold and what it takes from the accounts are one transaction, and so is its end. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as SqlClient from "effect/sql/SqlClient"
import * as Budget from "../../src/budget/Budget.ts"
import { Budgets } from "../../src/budget/Budgets.ts"
import * as Defects from "../storage/Defects.ts"

const Held = Schema.fromJsonString(
  Schema.Struct({ tokens: Schema.Int, money: Schema.Int, accounts: Schema.Array(Budget.Account) })
)
const encodeHeld = Schema.encodeSync(Held)
const decodeHeld = Schema.decodeEffect(Held)

interface Hold {
  readonly id: string
  readonly about: string
}

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  const is = ({ day, key, scope, unit }: Budget.Account) =>
    sql`scope = ${scope} AND key = ${key} AND day = ${day ?? ""} AND unit = ${unit}`

  const open = ({ day, key, scope, unit }: Budget.Account) =>
    sql`INSERT INTO budget_accounts ${sql.insert({ scope, key, day: day ?? "", unit, used: 0, held: 0, raised: 0 })}
      ON CONFLICT DO NOTHING`

  const standing = (account: Budget.Account) =>
    Effect.map(
      sql<Budget.Standing>`SELECT used, held, raised FROM budget_accounts WHERE ${is(account)}`,
      ([row]) => row ?? Budget.untouched
    )

  /** Takes from one account, if it has that much left. */
  const take = Effect.fnUntraced(function* ({ account, most }: Budget.Limit, wanted: number) {
    yield* open(account)
    const taken = yield* sql`UPDATE budget_accounts SET held = held + ${wanted}
      WHERE ${is(account)} AND used + held + ${wanted} <= ${most} + raised RETURNING used`
    if (taken.length > 0) return
    return yield* new Budget.BudgetReached({ account, most, wanted, ...(yield* standing(account)) })
  })

  /** Ends a hold; without what was used its worst counts. */
  const end = Effect.fnUntraced(function* ({ about, id }: Hold, actual: Budget.Charge | undefined) {
    const worst = yield* Effect.catch(decodeHeld(about), () =>
      Effect.die(new Defects.UnreadableRow({ table: "budget_holds", key: id }))
    )
    for (const account of worst.accounts) {
      yield* sql`UPDATE budget_accounts SET held = held - ${Budget.amountOf(worst, account)},
        used = used + ${Budget.amountOf(actual ?? worst, account)} WHERE ${is(account)}`
    }
  })

  return Budgets.of({
    hold: (id, limits, worst) => {
      const narrowest = Budget.narrowest(limits)
      const about = encodeHeld({ ...worst, accounts: narrowest.map(({ account }) => account) })
      return Defects.orDefect(
        sql.withTransaction(
          Effect.gen(function* () {
            for (const limit of narrowest) yield* take(limit, Budget.amountOf(worst, limit.account))
            yield* sql`INSERT INTO budget_holds ${sql.insert({ id, about })}`
          })
        )
      )
    },
    settle: (id, actual) =>
      Defects.orDefect(
        sql.withTransaction(
          Effect.gen(function* () {
            const [hold] = yield* sql<Hold>`DELETE FROM budget_holds WHERE id = ${id} RETURNING id, about`
            if (hold !== undefined) yield* end(hold, actual)
          })
        )
      ),
    recover: Defects.orDefect(
      sql.withTransaction(
        Effect.gen(function* () {
          const holds = yield* sql<Hold>`DELETE FROM budget_holds RETURNING id, about`
          for (const hold of holds) yield* end(hold, undefined)
          return holds.length
        })
      )
    ),
    raise: (id, account, by) =>
      Defects.orDefect(
        sql.withTransaction(
          Effect.gen(function* () {
            const { day, key, scope, unit } = account
            const decided = yield* sql`INSERT INTO budget_raises
              ${sql.insert({ id, scope, key, day: day ?? "", unit, amount: by })} ON CONFLICT DO NOTHING RETURNING id`
            if (decided.length === 0) return
            yield* open(account)
            yield* sql`UPDATE budget_accounts SET raised = raised + ${by} WHERE ${is(account)}`
          })
        )
      ),
    standing: (account) => Defects.orDefect(standing(account)),
    forget: (before) =>
      Defects.orDefect(
        sql.withTransaction(
          Effect.gen(function* () {
            yield* sql`DELETE FROM budget_accounts WHERE day <> '' AND day < ${before} AND held = 0`
            yield* sql`DELETE FROM budget_raises WHERE day <> '' AND day < ${before}`
          })
        )
      )
  })
})

export const layer: Layer.Layer<Budgets, never, SqlClient.SqlClient> = Layer.effect(Budgets, make)
