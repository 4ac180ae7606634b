/** What every outbox must hold, whatever database is under it. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as SqlClient from "effect/sql/SqlClient"
import * as TestClock from "effect/testing/TestClock"
import type { Delivery } from "../../src/channel/Outbox.ts"
import { answerWith, reply } from "./Messages.ts"
import * as Store from "./Store.ts"

export const laws = (name: string, backend: Store.Backend) =>
  describe(`Outbox: ${name}`, () => {
    const law: Law = (title, body) => it.effect(title, () => Effect.provide(Effect.scoped(body), backend))
    taking(law)
    ending(law)
    afterDeath(law)
  })

type Law = <E>(title: string, body: Effect.Effect<void, E, SqlClient.SqlClient | Scope.Scope>) => void

const taking = (law: Law) => {
  law(
    "a delivery carries everything that the turn said",
    Effect.gen(function* () {
      const process = yield* Store.startProcess
      yield* TestClock.adjust("1 second")
      const format = { kind: "markdown", disableLinkPreview: true } as const
      const { threadId, turnId } = yield* answerWith(process, [reply("**hi**", { format, chat: "42" })])
      const [delivery, ...rest] = yield* process.outbox.take("push", 10)
      assert.deepStrictEqual(rest, [])
      assert.isDefined(delivery)
      assert.deepStrictEqual(delivery, {
        id: delivery.id,
        threadId,
        turnId,
        channel: "push",
        chat: "42",
        text: "**hi**",
        format,
        attempts: 1,
        createdAt: 1000,
        inDoubt: false
      })
    })
  )

  law(
    "one delivery of a thread is out at a time, and they go in the order in which they were said",
    Effect.gen(function* () {
      const process = yield* Store.startProcess
      const { outbox } = process
      yield* answerWith(process, [reply("1"), reply("2")])
      // A clock that is set back must not turn the order around.
      yield* TestClock.setTime(1000)
      yield* answerWith(process, [reply("3")])
      yield* TestClock.setTime(1500)
      const order: Array<string> = []
      for (let taken = yield* outbox.take("push", 10); taken.length > 0; taken = yield* outbox.take("push", 10)) {
        const [only, ...others] = taken
        assert.isDefined(only)
        assert.deepStrictEqual(others, [])
        assert.deepStrictEqual(yield* outbox.take("push", 10), [])
        order.push(only.text)
        yield* outbox.delivered(only.id)
      }
      assert.deepStrictEqual(order, ["1", "2", "3"])
      assert.deepStrictEqual(yield* outbox.pending, [])
    })
  )

  law(
    "threads do not wait for each other, and a thread's channels do not either",
    Effect.gen(function* () {
      const process = yield* Store.startProcess
      yield* answerWith(process, [reply("a1"), reply("a2"), reply("a3", { channel: "mail" })], "push:a")
      yield* answerWith(process, [reply("b1")], "push:b")
      assert.deepStrictEqual(texts(yield* process.outbox.take("push", 10)), ["a1", "b1"])
      assert.deepStrictEqual(texts(yield* process.outbox.take("mail", 10)), ["a3"])
      assert.deepStrictEqual(yield* process.outbox.take("none", 10), [])
    })
  )

  law(
    "no more are taken than asked for",
    Effect.gen(function* () {
      const process = yield* Store.startProcess
      yield* Effect.forEach(["a", "b", "c"], (chat) => answerWith(process, [reply(chat)], `push:${chat}`))
      assert.deepStrictEqual(texts(yield* process.outbox.take("push", 2)), ["a", "b"])
      assert.deepStrictEqual(texts(yield* process.outbox.take("push", 0)), [])
      assert.deepStrictEqual(texts(yield* process.outbox.take("push", -1)), [])
      assert.deepStrictEqual(texts(yield* process.outbox.take("push", 2)), ["c"])
    })
  )

  law(
    "many takers at once get each delivery once",
    Effect.gen(function* () {
      const process = yield* Store.startProcess
      const chats = Array.from({ length: 30 }, (_, index) => `push:${index}`)
      yield* Effect.forEach(chats, (chat) => answerWith(process, [reply(chat)], chat))
      const taken = yield* Effect.all(
        Array.from({ length: 20 }, () => process.outbox.take("push", 4)),
        { concurrency: "unbounded" }
      )
      assert.sameMembers(texts(taken.flat()), chats)
      assert.strictEqual(taken.flat().length, 30)
    })
  )

  law(
    "a row that cannot be read is given up, and the ones taken with it are handed out",
    Effect.gen(function* () {
      const process = yield* Store.startProcess
      const sql = yield* SqlClient.SqlClient
      yield* answerWith(process, [reply("bad"), reply("next")], "push:a")
      yield* answerWith(process, [reply("good")], "push:b")
      yield* sql`UPDATE outbox SET payload = '{"text":null}' WHERE payload LIKE '%bad%'`
      assert.deepStrictEqual(texts(yield* process.outbox.take("push", 10)), ["good"])
      assert.deepStrictEqual(yield* states, ["failed", "pending", "sending"])
      assert.deepStrictEqual(texts(yield* process.outbox.take("push", 10)), ["next"])
    })
  )
}

const ending = (law: Law) => {
  law(
    "a refused delivery comes again when it is due, and holds back the rest of its thread until then",
    Effect.gen(function* () {
      const process = yield* Store.startProcess
      const { outbox } = process
      yield* answerWith(process, [reply("1"), reply("2")])
      const [first] = yield* outbox.take("push", 10)
      assert.isDefined(first)
      yield* outbox.retry(first.id, 5000.4, "busy")
      assert.deepStrictEqual(yield* outbox.take("push", 10), [])
      yield* TestClock.setTime(4999)
      assert.deepStrictEqual(yield* outbox.take("push", 10), [])
      yield* TestClock.setTime(5000)
      const [again] = yield* outbox.take("push", 10)
      assert.deepStrictEqual(again, { ...first, attempts: 2 })
    })
  )

  law(
    "a failed delivery ends, and the next of its thread goes",
    Effect.gen(function* () {
      const process = yield* Store.startProcess
      yield* answerWith(process, [reply("1"), reply("2")])
      const [first] = yield* process.outbox.take("push", 10)
      assert.isDefined(first)
      yield* process.outbox.failed(first.id, "the chat is gone \ud83d")
      assert.deepStrictEqual(texts(yield* process.outbox.take("push", 10)), ["2"])
      const sql = yield* SqlClient.SqlClient
      const rows = yield* sql<object>`SELECT state, error_message, ended_at FROM outbox WHERE id = ${first.id}`
      assert.deepStrictEqual(rows, [{ state: "failed", error_message: "the chat is gone \ufffd", ended_at: 0 }])
    })
  )

  law(
    "an attempt without an answer leaves a doubt, which stays with the delivery to its end",
    Effect.gen(function* () {
      const process = yield* Store.startProcess
      const { outbox } = process
      yield* answerWith(process, [reply("1")], "push:a")
      yield* answerWith(process, [reply("2")], "push:b")
      const [first, second] = yield* outbox.take("push", 10)
      assert.isDefined(first)
      assert.isDefined(second)
      yield* outbox.retry(first.id, 0, "timed out", "unanswered")
      const [again] = yield* outbox.take("push", 10)
      assert.strictEqual(again?.inDoubt, true)
      yield* outbox.retry(first.id, 0, "busy")
      const [third] = yield* outbox.take("push", 10)
      assert.strictEqual(third?.inDoubt, true)
      yield* outbox.failed(first.id, "the chat is gone")
      yield* outbox.failed(second.id, "timed out", "unanswered")
      assert.deepStrictEqual(yield* states, ["unknown", "unknown"])
    })
  )

  law(
    "an end is final",
    Effect.gen(function* () {
      const process = yield* Store.startProcess
      const { outbox } = process
      for (const chat of ["a", "b"]) yield* answerWith(process, [reply(chat)], `push:${chat}`)
      const [first, second] = yield* outbox.take("push", 10)
      assert.isDefined(first)
      assert.isDefined(second)
      yield* outbox.delivered(first.id)
      yield* outbox.failed(second.id, "gone")
      const before = yield* Store.dump
      for (const { id } of [first, second]) {
        yield* outbox.delivered(id)
        yield* outbox.retry(id, 0, "late")
        yield* outbox.failed(id, "late")
      }
      assert.deepStrictEqual(yield* Store.dump, before)
      assert.deepStrictEqual(yield* outbox.take("push", 10), [])
    })
  )

  law(
    "what has not ended is counted by channel",
    Effect.gen(function* () {
      const process = yield* Store.startProcess
      yield* answerWith(process, [reply("1"), reply("2"), reply("3", { channel: "mail" })])
      yield* process.outbox.take("push", 10)
      assert.deepStrictEqual(yield* process.outbox.pending, [
        { channel: "mail", count: 1 },
        { channel: "push", count: 2 }
      ])
    })
  )
}

const afterDeath = (law: Law) => {
  law(
    "what a dead process was sending comes again in doubt, in its place; what it had not begun does not",
    Effect.gen(function* () {
      const dead = yield* Store.startProcess
      yield* answerWith(dead, [reply("a1"), reply("a2")], "push:a")
      yield* answerWith(dead, [reply("b1")], "push:b")
      assert.deepStrictEqual(texts(yield* dead.outbox.take("push", 1)), ["a1"])
      const next = yield* Store.startProcess
      const taken = yield* next.outbox.take("push", 10)
      assert.deepStrictEqual(
        taken.map((delivery) => [delivery.text, delivery.inDoubt, delivery.attempts]),
        [
          ["a1", true, 2],
          ["b1", false, 1]
        ]
      )
      assert.deepStrictEqual(yield* next.outbox.take("push", 10), [])
      for (const { id } of taken) yield* next.outbox.delivered(id)
      const [last] = yield* next.outbox.take("push", 10)
      assert.deepStrictEqual([last?.text, last?.inDoubt], ["a2", false])
    })
  )

  law(
    "what this process is sending does not come again",
    Effect.gen(function* () {
      const process = yield* Store.startProcess
      yield* answerWith(process, [reply("1")])
      yield* process.outbox.take("push", 10)
      yield* TestClock.adjust("1 day")
      assert.deepStrictEqual(yield* process.outbox.take("push", 10), [])
    })
  )

  law(
    "a process that was replaced may still say that its delivery arrived, and nothing else",
    Effect.gen(function* () {
      const old = yield* Store.startProcess
      for (const chat of ["a", "b"]) yield* answerWith(old, [reply(chat)], `push:${chat}`)
      const [first, second] = yield* old.outbox.take("push", 10)
      assert.isDefined(first)
      assert.isDefined(second)
      const next = yield* Store.startProcess
      assert.strictEqual((yield* next.outbox.take("push", 10)).length, 2)
      yield* old.outbox.retry(first.id, 0, "late")
      yield* old.outbox.failed(first.id, "late")
      assert.deepStrictEqual(yield* states, ["sending", "sending"])
      yield* old.outbox.delivered(second.id)
      assert.deepStrictEqual(yield* states, ["sending", "delivered"])
    })
  )
}

const texts = (deliveries: ReadonlyArray<Delivery>) => deliveries.map((delivery) => delivery.text)

const states = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ readonly state: string }>`SELECT state FROM outbox ORDER BY ord`
  return rows.map((row) => row.state)
})
