import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as BudgetRows from "../../layers/budget/BudgetRows.ts"
import type * as Budget from "../../src/budget/Budget.ts"
import { Budgets } from "../../src/budget/Budgets.ts"
import * as Laws from "../laws/Budgets.ts"
import * as Store from "../laws/Store.ts"
import * as Processes from "../storage/fixtures/Processes.ts"
import * as Opened from "./fixtures/Opened.ts"

Laws.laws("in memory", Budgets.layerMemory)
for (const { layer, name } of Store.backends) Laws.laws(name, Layer.provide(BudgetRows.layer, layer))

const account: Budget.Account = { scope: "agent", key: "troupe", day: null, unit: "tokens" }
const other: Budget.Account = { ...account, scope: "thread", key: "console:main" }
const limits = [account, other].map((of) => ({ account: of, most: 100 }))

const standing = Effect.flatMap(Budgets, (budgets) => Effect.forEach([account, other], budgets.standing))

describe("budgets in a database", () => {
  it.effect("a hold, its end, a raise and a recovery that break off in the middle have changed nothing", () =>
    Effect.gen(function* () {
      const budgets = yield* Budgets
      yield* budgets.hold("held", limits, { tokens: 60, money: 0 })
      const before = yield* standing
      const worst = { tokens: 30, money: 0 }
      for (const [name, write] of [
        ["hold", budgets.hold("new", limits, worst)],
        ["settle", budgets.settle("held", worst)],
        ["raise", budgets.raise("yes", account, 5)],
        ["recover", budgets.recover]
      ] as const) {
        const statements = { hold: 5, settle: 3, raise: 3, recover: 3 }[name]
        for (let nth = 1; nth <= statements; nth++) {
          const exit = yield* Effect.exit(Store.withFailingStatement(nth)(write))
          assert.strictEqual(exit._tag, "Failure", `${name}, statement ${nth}`)
          assert.deepStrictEqual(yield* standing, before, `${name}, statement ${nth}`)
        }
      }
    }).pipe(Effect.provide(Layer.provide(BudgetRows.layer, Store.sqliteMemory)))
  )

  it.live(
    "after kill -9 between hold and settlement the worst case counts, and what was settled before is what it was",
    () =>
      Effect.gen(function* () {
        const files = yield* FileSystem.FileSystem
        const directory = yield* files.makeTempDirectoryScoped()
        // Each life settles 20 and leaves 50 held.
        for (const lives of [1, 2]) {
          const child = yield* Processes.start("../../budget/fixtures/holdBudget.ts", directory)
          assert.strictEqual(yield* child.line, "held")
          yield* child.kill
          const found = yield* Effect.gen(function* () {
            const budgets = yield* Budgets
            const left = yield* budgets.standing(account)
            assert.strictEqual(yield* budgets.recover, 1)
            return [left, yield* budgets.standing(account)]
          }).pipe(Effect.provide(Opened.layer(directory)))
          assert.deepStrictEqual(found, [
            { used: 70 * lives - 50, held: 50, raised: 0 },
            { used: 70 * lives, held: 0, raised: 0 }
          ])
        }
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    { timeout: 60_000 }
  )
})
