import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Budget from "../../src/budget/Budget.ts"
import { Budgets } from "../../src/budget/Budgets.ts"
import * as Reserving from "../../src/budget/Reserving.ts"

const account: Budget.Account = { scope: "thread", key: "console:main", day: null, unit: "tokens" }
const limits = [{ account, most: 100 }]
const worst: Budget.Charge = { tokens: 60, money: 0 }

/** Sends a request that answers with the tokens that it used, -1 where they are not counted. */
const request = <E>(sending: Effect.Effect<number, E>, unsent: (error: E) => boolean = () => false) =>
  Budgets.use((budgets) =>
    Reserving.send(budgets, {
      id: "request",
      limits,
      worst,
      send: sending,
      usedBy: (tokens) => (tokens < 0 ? undefined : { tokens, money: 0 }),
      unsent
    })
  )

const standing = Budgets.use((budgets) => budgets.standing(account))

const after = (used: number) =>
  Effect.map(standing, (found) => assert.deepStrictEqual(found, { used, held: 0, raised: 0 }))

const law = <E>(title: string, body: Effect.Effect<void, E, Budgets>) =>
  it.effect(title, () => Effect.provide(body, Budgets.layerMemory))

describe("a request with a budget", () => {
  law(
    "is sent once its worst case is held, and is settled by what it used",
    Effect.gen(function* () {
      const during = yield* Deferred.make<Budget.Standing>()
      const budgets = yield* Budgets
      const sending = Effect.as(
        Effect.flatMap(budgets.standing(account), (now) => Deferred.succeed(during, now)),
        12
      )
      assert.strictEqual(yield* request(sending), 12)
      assert.deepStrictEqual(yield* Deferred.await(during), { used: 0, held: 60, raised: 0 })
      yield* after(12)
    })
  )

  law(
    "is not sent where a limit has less left than its worst case",
    Effect.gen(function* () {
      let sent = 0
      const sending = Effect.sync(() => {
        sent++
        return 50
      })
      yield* request(sending)
      const error = yield* Effect.flip(request(sending))
      assert.deepInclude(error, { _tag: "BudgetReached", used: 50, wanted: 60 })
      assert.strictEqual(sent, 1)
      yield* after(50)
    })
  )

  law("counts at its worst when its provider counts nothing", Effect.andThen(request(Effect.succeed(-1)), after(60)))

  law("counts at its worst when it fails", Effect.andThen(Effect.exit(request(Effect.fail("cut off"))), after(60)))

  law(
    "counts at its worst when it ends in a defect",
    Effect.andThen(Effect.exit(request(Effect.die("bug"))), after(60))
  )

  law(
    "costs nothing where the failure proves that nothing was sent",
    Effect.andThen(Effect.exit(request(Effect.fail("refused connection"), () => true)), after(0))
  )

  law(
    "counts at its worst when it is stopped",
    Effect.gen(function* () {
      const begun = yield* Deferred.make<void>()
      const fiber = yield* Effect.forkChild(request(Effect.andThen(Deferred.succeed(begun, undefined), Effect.never)))
      yield* Deferred.await(begun)
      assert.deepStrictEqual(yield* standing, { used: 0, held: 60, raised: 0 })
      yield* Fiber.interrupt(fiber)
      yield* after(60)
    })
  )

  law(
    "without a limit writes nothing",
    Effect.gen(function* () {
      const refusing = Budgets.of({
        ...(yield* Budgets),
        hold: () => Effect.die("held"),
        settle: () => Effect.die("settled")
      })
      const sending = {
        id: "request",
        limits: [],
        worst,
        send: Effect.succeed(1),
        usedBy: () => worst,
        unsent: () => false
      }
      assert.strictEqual(yield* Reserving.send(refusing, sending), 1)
    })
  )
})
