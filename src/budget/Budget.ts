/** Limits on what models may use: what they are about, and what counts against them. */
import * as Schema from "effect/Schema"
import * as Price from "./Price.ts"

/**
 * What is counted together. `tree`: a task and all that it started, by the id of its root; `everything` has the key `""`.
 */
export const Scope = Schema.Literals(["agent", "thread", "house", "tree", "everything"])
export type Scope = typeof Scope.Type

/** `money` is in micros. */
export const Unit = Schema.Literals(["tokens", "money"])
export type Unit = typeof Unit.Type

/** One sum that is kept. */
export const Account = Schema.Struct({
  scope: Scope,
  key: Schema.String,
  /** `2026-03-29`: what is used on this day alone. Null: for ever. */
  day: Schema.NullOr(Schema.String),
  unit: Unit
})
export type Account = typeof Account.Type

export interface Limit {
  readonly account: Account
  /** As the settings have it, before it was raised. */
  readonly most: number
}

/** What a request of a model uses, or may use at worst. Whole and not negative. */
export interface Charge {
  readonly tokens: number
  /** In micros. */
  readonly money: number
}

export const nothing: Charge = { tokens: 0, money: 0 }

export const amountOf = (charge: Charge, { unit }: Account): number => charge[unit]

/** How an account stands. A limit of it is kept while `used + held` is at most the limit and `raised`. */
export interface Standing {
  readonly used: number
  /** What the requests that are under way use at worst. */
  readonly held: number
  /** What people have allowed beyond the limit. */
  readonly raised: number
}

export const untouched: Standing = { used: 0, held: 0, raised: 0 }

/** What is left of a limit; nothing where more was used than it lets, as a lowered limit or a provider that exceeds the request can do. */
export const left = ({ most }: Limit, { held, raised, used }: Standing): number =>
  Math.max(0, most + raised - used - held)

export const nameOf = ({ day, key, scope, unit }: Account): string => [scope, day ?? "", unit, key].join(" ")

/** The narrowest limit of each account, in the order of their names: who takes several takes them in one order. */
export const narrowest = (limits: ReadonlyArray<Limit>): ReadonlyArray<Limit> => {
  const found = new Map<string, Limit>()
  for (const limit of limits) {
    const name = nameOf(limit.account)
    const known = found.get(name)
    if (known === undefined || limit.most < known.most) found.set(name, limit)
  }
  return [...found].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, limit]) => limit)
}

/** A request could use more than a limit has left. Nothing was held, and nothing was sent. */
export class BudgetReached extends Schema.TaggedError<BudgetReached>()("BudgetReached", {
  account: Account,
  most: Schema.Int,
  used: Schema.Int,
  held: Schema.Int,
  raised: Schema.Int,
  /** What the request may use at worst. */
  wanted: Schema.Int
}) {
  readonly code = "budget:reached"
  override get message() {
    const { account, held, most, raised, used, wanted } = this
    const amount = (value: number) => (account.unit === "money" ? Price.text(value) : `${value} tokens`)
    const underWay = held === 0 ? "" : `, and requests under way may use ${amount(held)}`
    const whose = account.scope === "everything" ? "of everything" : `of the ${account.scope} ${account.key}`
    const wait = account.day === null ? "" : ", or wait for the next day"
    return (
      `The budget ${whose}${account.day === null ? "" : ` on ${account.day}`} is reached: ${amount(used)} of ` +
      `${amount(most + raised)} are used${underWay}. The next request may use ${amount(wanted)}. Raise the limit${wait}.`
    )
  }
}
