/** What holds for every `Budgets`, whatever it is kept in. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Budget from "../../src/budget/Budget.ts"
import { Budgets } from "../../src/budget/Budgets.ts"

type Law = <A, E>(title: string, body: Effect.Effect<A, E, Budgets>) => void

/** `budgets` is empty at each use. */
export const laws = (name: string, budgets: Layer.Layer<Budgets>) =>
  describe(`budgets (${name})`, () => {
    const law: Law = (title, body) => it.effect(title, () => Effect.provide(body, Layer.fresh(budgets)))
    holding(law)
    settling(law)
    raising(law)
    it.effect.prop(
      "whatever is held, settled, raised and lost in crashes in whatever order, accounts say what a model says, and no limit is exceeded",
      { commands: Arbitrary.array(Arbitrary.schema(Command), { minLength: 10, maxLength: 50 }) },
      ({ commands }) => Effect.provide(follow(commands), Layer.fresh(budgets)),
      { arbitrary: { runs: 60, maxShrinks: 200 }, timeout: 120_000 }
    )
  })

const account = (scope: Budget.Scope, unit: Budget.Unit, day: string | null = null, key = "a"): Budget.Account => ({
  scope,
  key,
  day,
  unit
})
const agent = account("agent", "tokens")
const money = account("thread", "money", "2026-03-29")
const tree = account("tree", "tokens", null, "trn_root")

const charge = (tokens: number, micros = 0): Budget.Charge => ({ tokens, money: micros })

const holding = (law: Law) => {
  law(
    "a request that may use all that is left is let through, one that may use one more is not",
    Effect.gen(function* () {
      const budgets = yield* Budgets
      const limits = [{ account: agent, most: 100 }]
      yield* budgets.hold("first", limits, charge(60))
      const error = yield* Effect.flip(budgets.hold("second", limits, charge(41)))
      assert.deepInclude(error, { _tag: "BudgetReached", account: agent, most: 100, held: 60, used: 0, wanted: 41 })
      yield* budgets.hold("third", limits, charge(40))
      assert.deepStrictEqual(yield* budgets.standing(agent), { used: 0, held: 100, raised: 0 })
    })
  )

  law(
    "nothing is held in any account when one has too little left",
    Effect.gen(function* () {
      const budgets = yield* Budgets
      const limits = [
        { account: agent, most: 100 },
        { account: tree, most: 5 },
        { account: money, most: 100 }
      ]
      const error = yield* Effect.flip(budgets.hold("first", limits, charge(10, 10)))
      assert.deepStrictEqual(error.account, tree)
      for (const held of [agent, tree, money]) {
        assert.deepStrictEqual(yield* budgets.standing(held), Budget.untouched)
      }
      yield* budgets.settle("first", charge(10, 10))
      assert.deepStrictEqual(yield* budgets.standing(agent), Budget.untouched)
    })
  )

  law(
    "of two limits on one account the narrower holds, and what is held counts once",
    Effect.gen(function* () {
      const budgets = yield* Budgets
      const limits = [
        { account: agent, most: 100 },
        { account: agent, most: 10 }
      ]
      yield* budgets.hold("first", limits, charge(10))
      assert.deepStrictEqual(yield* budgets.standing(agent), { used: 0, held: 10, raised: 0 })
      assert.strictEqual((yield* Effect.flip(budgets.hold("second", limits, charge(1)))).most, 10)
    })
  )

  law(
    "of requests at the same time as many are let through as the limit has room for",
    Effect.gen(function* () {
      const budgets = yield* Budgets
      const exits = yield* Effect.forEach(
        Array.from({ length: 30 }, (_, at) => `hold ${at}`),
        (id) => Effect.exit(budgets.hold(id, [{ account: agent, most: 100 }], charge(30))),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(exits.filter(Exit.isSuccess).length, 3)
      assert.deepStrictEqual(yield* budgets.standing(agent), { used: 0, held: 90, raised: 0 })
    })
  )
}

const settling = (law: Law) => {
  law(
    "what was used counts instead of the worst case, once, and what is more than it too",
    Effect.gen(function* () {
      const budgets = yield* Budgets
      const limits = [
        { account: tree, most: 100 },
        { account: money, most: 1000 }
      ]
      yield* budgets.hold("first", limits, charge(60, 500))
      yield* budgets.settle("first", charge(20, 90))
      yield* budgets.settle("first", charge(20, 90))
      assert.deepStrictEqual(yield* budgets.standing(tree), { used: 20, held: 0, raised: 0 })
      assert.deepStrictEqual(yield* budgets.standing(money), { used: 90, held: 0, raised: 0 })
      yield* budgets.hold("second", limits, charge(80, 0))
      yield* budgets.settle("second", charge(95, 0))
      assert.deepStrictEqual(yield* budgets.standing(tree), { used: 115, held: 0, raised: 0 })
      assert.strictEqual((yield* Effect.flip(budgets.hold("third", limits, charge(1)))).used, 115)
    })
  )

  law(
    "what an earlier life held counts at its worst, once",
    Effect.gen(function* () {
      const budgets = yield* Budgets
      yield* budgets.hold("first", [{ account: agent, most: 100 }], charge(60))
      yield* budgets.hold("second", [{ account: agent, most: 100 }], charge(30))
      yield* budgets.settle("second", Budget.nothing)
      assert.strictEqual(yield* budgets.recover, 1)
      assert.strictEqual(yield* budgets.recover, 0)
      yield* budgets.settle("first", Budget.nothing)
      assert.deepStrictEqual(yield* budgets.standing(agent), { used: 60, held: 0, raised: 0 })
    })
  )

  law(
    "a day has its own account; those of earlier days are forgotten unless something is held there",
    Effect.gen(function* () {
      const budgets = yield* Budgets
      const on = (day: string) => account("everything", "tokens", day, "")
      const [first, second, third] = [on("2026-03-28"), on("2026-03-29"), on("2026-03-30")]
      for (const day of [first, second, third]) {
        yield* budgets.hold(`${day.day}`, [{ account: day, most: 10 }], charge(10))
      }
      yield* budgets.settle("2026-03-28", charge(10))
      yield* budgets.settle("2026-03-30", charge(10))
      yield* budgets.hold("ever", [{ account: agent, most: 10 }], charge(10))
      yield* budgets.settle("ever", charge(10))
      yield* budgets.forget("2026-03-30")
      assert.deepStrictEqual(yield* budgets.standing(first), Budget.untouched)
      assert.deepStrictEqual(yield* budgets.standing(second), { used: 0, held: 10, raised: 0 })
      assert.deepStrictEqual(yield* budgets.standing(third), { used: 10, held: 0, raised: 0 })
      assert.deepStrictEqual(yield* budgets.standing(agent), { used: 10, held: 0, raised: 0 })
    })
  )
}

const raising = (law: Law) => {
  law(
    "a decision raises a limit once, and this account alone",
    Effect.gen(function* () {
      const budgets = yield* Budgets
      const limits = [{ account: agent, most: 10 }]
      yield* Effect.flip(budgets.hold("first", limits, charge(15)))
      yield* budgets.raise("yes", agent, 5)
      yield* budgets.raise("yes", agent, 5)
      assert.deepStrictEqual(yield* budgets.standing(tree), Budget.untouched)
      yield* Effect.flip(budgets.hold("second", limits, charge(16)))
      yield* budgets.hold("third", limits, charge(15))
      assert.deepStrictEqual(yield* budgets.standing(agent), { used: 0, held: 15, raised: 5 })
    })
  )
}

// ---------------------------------------------------------------------------------------------------------------------
// Against a model

const accounts = [agent, money, tree] as const
const most = 100

const which = Schema.Literals([0, 1, 2])
const amount = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 60 }))
const share = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 100 }))

const Command = Schema.TaggedUnion({
  /** Two requests at once: both on the same accounts. */
  Race: { first: which, second: which, one: amount, other: amount },
  Settle: { at: which, percent: share },
  Crash: {},
  Raise: { decision: which, account: which, by: amount }
})
type Command = typeof Command.Type

interface Held {
  readonly id: string
  readonly on: ReadonlyArray<Budget.Account>
  readonly worst: number
}

/** The model keeps no sums: what happened is added up anew for every look. */
const follow = Effect.fnUntraced(function* (commands: ReadonlyArray<Command>) {
  const budgets = yield* Budgets
  const used: Array<Held> = []
  const raised = new Map<string, { readonly account: Budget.Account; readonly by: number }>()
  let held: ReadonlyArray<Held> = []
  let made = 0
  const sum = (of: ReadonlyArray<Held>, account: Budget.Account) =>
    of.reduce((total, { on, worst }) => total + (on.includes(account) ? worst : 0), 0)
  const standing = (account: Budget.Account): Budget.Standing => ({
    used: sum(used, account),
    held: sum(held, account),
    raised: [...raised.values()].reduce((total, { account: of, by }) => total + (of === account ? by : 0), 0)
  })
  const room = (account: Budget.Account) => {
    const now = standing(account)
    return most + now.raised - now.used - now.held
  }
  const fits = ({ on, worst }: Held) => on.every((account) => worst <= room(account))
  const hold = ({ id, on, worst }: Held) =>
    Effect.exit(
      budgets.hold(
        id,
        on.map((account) => ({ account, most })),
        charge(worst, worst)
      )
    )

  for (const command of commands) {
    switch (command._tag) {
      case "Race": {
        const on = [...new Set([accounts[command.first], accounts[command.second]])]
        const both = [command.one, command.other].map((worst): Held => ({ id: `hold ${made++}`, on, worst }))
        const mayFit = both.filter(fits)
        const exits = yield* Effect.forEach(both, hold, { concurrency: "unbounded" })
        const through = both.filter((_, at) => exits[at] !== undefined && Exit.isSuccess(exits[at]))
        for (const one of through) assert.include(mayFit, one)
        // Who comes first is open; that somebody gets what is there is not.
        if (mayFit.length > 0) assert.isAtLeast(through.length, 1)
        held = held.concat(through)
        for (const refused of both.filter((one) => !through.includes(one))) assert.isFalse(fits(refused))
        break
      }
      case "Settle": {
        const one = held[command.at]
        if (one === undefined) break
        const actual = Math.floor((one.worst * command.percent) / 100)
        yield* budgets.settle(one.id, charge(actual, actual))
        held = held.filter((other) => other !== one)
        used.push({ ...one, worst: actual })
        break
      }
      case "Crash":
        assert.strictEqual(yield* budgets.recover, held.length)
        used.push(...held)
        held = []
        break
      case "Raise": {
        const id = `decision ${command.decision}`
        const account = accounts[command.account]
        yield* budgets.raise(id, account, command.by)
        if (!raised.has(id)) raised.set(id, { account, by: command.by })
        break
      }
    }
    for (const account of accounts) {
      const now = yield* budgets.standing(account)
      assert.deepStrictEqual(now, standing(account))
      assert.isAtMost(now.used + now.held, most + now.raised)
    }
  }
})
