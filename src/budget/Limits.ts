/** Which limits a request is under: the rules of the settings, applied to who asks and when. */
import * as DateTime from "effect/DateTime"
import type * as Budget from "./Budget.ts"

export interface Rule {
  readonly scope: Budget.Scope
  /** The agent, thread, house or root that it is for; undefined: each of them has as much. */
  readonly only: string | undefined
  /** Whether it begins anew every day; otherwise it is for ever. */
  readonly daily: boolean
  readonly unit: Budget.Unit
  readonly most: number
}

/** Who asks a model, by everything that a rule can be about. A scope without a key has no limits. */
export type Asker = Readonly<Record<Exclude<Budget.Scope, "everything">, string | undefined>>

/** The date in a time zone, where a day lasts from midnight to midnight: 23 to 25 hours. */
export const dayOf = (at: number, zone: DateTime.TimeZone): string =>
  DateTime.formatIsoDate(DateTime.setZone(DateTime.makeUnsafe(at), zone))

export const limitsOf = (rules: ReadonlyArray<Rule>, asker: Asker, day: string): ReadonlyArray<Budget.Limit> =>
  rules.flatMap(({ daily, most, only, scope, unit }) => {
    const key = scope === "everything" ? "" : asker[scope]
    if (key === undefined || (only !== undefined && only !== key)) return []
    return [{ account: { scope, key, day: daily ? day : null, unit }, most }]
  })
