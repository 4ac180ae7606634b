import { assert, describe, it } from "@effect/vitest"
import * as DateTime from "effect/DateTime"
import * as Budget from "../../src/budget/Budget.ts"
import * as Limits from "../../src/budget/Limits.ts"

const asker: Limits.Asker = { agent: "troupe", thread: "console:main", house: undefined, tree: "trn_root" }
const rule: Limits.Rule = { scope: "agent", only: undefined, daily: false, unit: "tokens", most: 10 }
const account = { scope: "agent", key: "troupe", day: null, unit: "tokens" } as const

const limits = (...rules: ReadonlyArray<Limits.Rule>) => Limits.limitsOf(rules, asker, "2026-03-29")

describe("limits of a request", () => {
  it("are those of its agent, its thread, its tree and of everything, for ever or for the day", () => {
    assert.deepStrictEqual(
      limits(
        rule,
        { ...rule, scope: "thread", daily: true },
        { ...rule, scope: "tree", unit: "money", most: 5 },
        { ...rule, scope: "everything", daily: true }
      ),
      [
        { account, most: 10 },
        { account: { ...account, scope: "thread", key: "console:main", day: "2026-03-29" }, most: 10 },
        { account: { ...account, scope: "tree", key: "trn_root", unit: "money" }, most: 5 },
        { account: { ...account, scope: "everything", key: "", day: "2026-03-29" }, most: 10 }
      ]
    )
  })

  it("are not those of others, nor of what it has not", () => {
    assert.deepStrictEqual(limits({ ...rule, only: "other" }, { ...rule, scope: "house" }), [])
    assert.deepStrictEqual(limits({ ...rule, only: "troupe" }), [{ account, most: 10 }])
  })

  it("days begin at midnight of the time zone, also on those with a changed clock", () => {
    const vienna = DateTime.zoneMakeNamedUnsafe("Europe/Vienna")
    const day = (text: string, zone: DateTime.TimeZone = vienna) => Limits.dayOf(Date.parse(text), zone)
    assert.strictEqual(day("2026-03-28T22:59:59.999Z"), "2026-03-28")
    assert.strictEqual(day("2026-03-28T23:00:00Z"), "2026-03-29")
    // 23 hours later, as the clock went forward.
    assert.strictEqual(day("2026-03-29T21:59:59.999Z"), "2026-03-29")
    assert.strictEqual(day("2026-03-29T22:00:00Z"), "2026-03-30")
    assert.strictEqual(day("2026-03-29T22:00:00Z", DateTime.zoneMakeOffset(0)), "2026-03-29")
  })
})

describe("a budget that is reached", () => {
  const reached = { most: 1_000_000, used: 900_000, held: 0, raised: 200_000, wanted: 250_000 }

  it("says which, how far, what is wanted and what helps, money as an amount", () => {
    assert.strictEqual(
      new Budget.BudgetReached({ ...reached, account: { ...account, unit: "money", day: "2026-03-29" } }).message,
      "The budget of the agent troupe on 2026-03-29 is reached: 0.90 of 1.20 are used. The next request may use 0.25. " +
        "Raise the limit, or wait for the next day."
    )
  })

  it("says what requests under way may still use", () => {
    assert.strictEqual(
      new Budget.BudgetReached({ ...reached, held: 5, account: { ...account, scope: "everything", key: "" } }).message,
      "The budget of everything is reached: 900000 tokens of 1200000 tokens are used, and requests under way may use " +
        "5 tokens. The next request may use 250000 tokens. Raise the limit."
    )
  })
})
