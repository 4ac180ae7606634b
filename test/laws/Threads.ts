/** What every reader of threads must hold, whatever database is under it. */
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Scope from "effect/Scope"
import * as SqlClient from "effect/sql/SqlClient"
import * as TestClock from "effect/testing/TestClock"
import * as Ids from "../../src/Ids.ts"
import { type EntryPage, pageBytes, type ThreadCursor, ThreadKey, type ThreadPage } from "../../src/thread/Threads.ts"
import { beginTurn, guidance, message } from "./Messages.ts"
import * as Store from "./Store.ts"

export const laws = (name: string, backend: Store.Backend) =>
  describe(`Threads: ${name}`, () => {
    const law: Law = (title, body) => it.effect(title, () => Effect.provide(Effect.scoped(body), backend))
    finding(law)
    listing(law)
    entries(law)
  })

type Law = <E>(title: string, body: Effect.Effect<void, E, SqlClient.SqlClient | Scope.Scope>) => void

const finding = (law: Law) => {
  law(
    "a thread is found by its id and by its key",
    Effect.gen(function* () {
      const { journal, threads } = yield* Store.startProcess
      yield* TestClock.adjust("1 second")
      const { threadId } = yield* journal.accept(message({ thread: "web:größe/1" }))
      const key = ThreadKey.make("web:größe/1")
      const thread = {
        id: threadId,
        key,
        agent: "main",
        title: null,
        entries: 1,
        historyFrom: 1,
        createdAt: 1000,
        updatedAt: 1000
      }
      assert.deepStrictEqual(yield* threads.get(threadId), thread)
      assert.deepStrictEqual(yield* threads.byKey(key), thread)
      yield* TestClock.adjust("1 second")
      yield* journal.accept(message({ thread: "web:größe/1" }))
      assert.deepStrictEqual(yield* threads.get(threadId), { ...thread, entries: 2, updatedAt: 2000 })
    })
  )

  law(
    "what is not there is said not to be there",
    Effect.gen(function* () {
      const { threads } = yield* Store.startProcess
      const id = yield* Ids.makeThreadId
      const key = ThreadKey.make("console:none")
      assert.strictEqual((yield* Effect.flip(threads.get(id))).thread, id)
      assert.strictEqual((yield* Effect.flip(threads.byKey(key))).thread, key)
      const messageId = yield* Ids.makeMessageId
      assert.strictEqual((yield* Effect.flip(threads.receipt(messageId))).messageId, messageId)
      assert.deepStrictEqual(yield* threads.entries(id, { from: 1, limit: 10 }), { entries: [], next: null })
      assert.deepStrictEqual(yield* threads.latest(id, 10), [])
      assert.deepStrictEqual(yield* threads.list({ limit: 10 }), { threads: [], next: null })
    })
  )

  law(
    "a receipt tells where the message is and how far it has come",
    Effect.gen(function* () {
      const { journal, threads } = yield* Store.startProcess
      yield* TestClock.adjust("7 seconds")
      const { messageId, threadId } = yield* journal.accept(message())
      assert.deepStrictEqual(yield* threads.receipt(messageId), {
        messageId,
        threadId,
        seq: 1,
        state: "accepted",
        turnId: null,
        failure: null,
        acceptedAt: 7000,
        endedAt: null
      })
    })
  )
}

const listing = (law: Law) => {
  law(
    "threads are listed most recently active first",
    Effect.gen(function* () {
      const process = yield* Store.startProcess
      const ids = yield* makeThreads(process, 5)
      yield* TestClock.adjust("1 second")
      yield* process.journal.accept(message({ thread: "console:2" }))
      const { next, threads } = yield* process.threads.list({ limit: 10 })
      assert.deepStrictEqual(
        threads.map((thread) => thread.id),
        [2, 4, 3, 1, 0].map((index) => ids[index])
      )
      assert.isNull(next)
    })
  )

  law(
    "the last page says that it is the last, also when it is full",
    Effect.gen(function* () {
      const process = yield* Store.startProcess
      yield* makeThreads(process, 4)
      const first = yield* process.threads.list({ limit: 2 })
      assert.isNotNull(first.next)
      const second = yield* process.threads.list({ limit: 2, ...(first.next === null ? {} : { before: first.next }) })
      assert.deepStrictEqual([second.threads.length, second.next], [2, null])
    })
  )

  for (const limit of [1, 3, 7]) {
    law(
      `pages of ${limit} show every thread once, also when all are of the same moment`,
      Effect.gen(function* () {
        const process = yield* Store.startProcess
        const ids = yield* Effect.forEach(Array.from({ length: 20 }), (_, index) =>
          Effect.map(process.journal.accept(message({ thread: `console:${index}` })), (receipt) => receipt.threadId)
        )
        const seen = yield* pages(process, limit)
        assert.strictEqual(seen.length, 20)
        assert.sameMembers(seen, ids)
      })
    )

    law(
      `pages of ${limit} show a quiet thread once while others are active, and never one twice`,
      Effect.gen(function* () {
        const process = yield* Store.startProcess
        const ids = yield* makeThreads(process, 20)
        // Between two pages a thread far down and one just shown become active, and a new one begins.
        let round = 0
        const active = [5, 0, 18, 9, 13]
        const between = Effect.suspend(() => {
          const index = active[round % active.length] ?? 0
          round++
          return Effect.all([
            TestClock.adjust("1 second"),
            Effect.orDie(process.journal.accept(message({ thread: `console:${index}` }))),
            Effect.orDie(process.journal.accept(message({ thread: `console:new-${round}` })))
          ])
        })
        const seen = yield* pages(process, limit, between)
        assert.strictEqual(new Set(seen).size, seen.length)
        const quiet = ids.filter((_, index) => !active.includes(index))
        assert.deepStrictEqual(
          seen.filter((id) => quiet.includes(id)),
          quiet.toReversed()
        )
        // One that moved up before it was shown is at the top of the next look.
        const again = yield* pages(process, limit)
        assert.includeMembers(again, ids)
      })
    )
  }

  law(
    "a clock that was set back does not move a thread down",
    Effect.gen(function* () {
      const process = yield* Store.startProcess
      yield* TestClock.setTime(100_000)
      const { threadId } = yield* process.journal.accept(message())
      yield* TestClock.setTime(50_000)
      yield* process.journal.accept(message())
      assert.strictEqual((yield* process.threads.get(threadId)).updatedAt, 100_000)
    })
  )
}

const entries = (law: Law) => {
  law(
    "entries come in pages from any place, oldest first, and the latest are the last ones",
    Effect.gen(function* () {
      const process = yield* Store.startProcess
      const { claim, threadId, turnId } = yield* beginTurn(process)
      const texts = Array.from({ length: 8 }, (_, index) => guidance(turnId, `text ${index}`))
      yield* process.journal.append(claim, texts)
      const page = (from: number, limit: number) =>
        Effect.map(process.threads.entries(threadId, { from, limit }), (found) => ({
          seqs: found.entries.map((stored) => stored.seq),
          next: found.next
        }))
      assert.deepStrictEqual(yield* page(1, 4), { seqs: [1, 2, 3, 4], next: 5 })
      assert.deepStrictEqual(yield* page(5, 4), { seqs: [5, 6, 7, 8], next: 9 })
      assert.deepStrictEqual(yield* page(7, 4), { seqs: [7, 8, 9, 10], next: null })
      assert.deepStrictEqual(yield* page(9, 4), { seqs: [9, 10], next: null })
      assert.deepStrictEqual(yield* page(11, 4), { seqs: [], next: null })
      assert.deepStrictEqual(yield* page(1, 0), { seqs: [], next: null })
      assert.deepStrictEqual(yield* page(1, -1), { seqs: [], next: null })
      assert.deepStrictEqual(yield* page(-5, 2), { seqs: [1, 2], next: 3 })
      const latest = yield* process.threads.latest(threadId, 3)
      assert.deepStrictEqual(
        latest,
        texts.slice(5).map((entry, index) => ({ seq: 8 + index, at: 0, entry }))
      )
      assert.strictEqual((yield* process.threads.latest(threadId, 100)).length, 10)
      assert.deepStrictEqual(yield* process.threads.latest(threadId, -1), [])
    })
  )

  law(
    "a page is bounded in bytes too, and holds one entry however large it is",
    Effect.gen(function* () {
      const process = yield* Store.startProcess
      const { claim, threadId, turnId } = yield* beginTurn(process)
      const large = (count: number) => guidance(turnId, "\u0001é".repeat(count))
      // In bytes: 8 for each pair, so two and a half to a page, then one that is larger than a page.
      const part = Math.floor(pageBytes / 8 / 2.5)
      const texts = [large(part), large(part), large(part), large(pageBytes), large(1), large(part)]
      yield* process.journal.append(claim, texts)
      const pages: Array<ReadonlyArray<number>> = []
      let from: number | null = 3
      while (from !== null) {
        const page: EntryPage = yield* process.threads.entries(threadId, { from, limit: 100 })
        pages.push(page.entries.map(({ seq }) => seq))
        from = page.next
      }
      assert.deepStrictEqual(pages, [[3, 4], [5], [6], [7, 8]])
      const latest = (limit: number) =>
        Effect.map(process.threads.latest(threadId, limit), (found) => found.map(({ seq }) => seq))
      assert.deepStrictEqual(yield* latest(100), [7, 8])
      assert.deepStrictEqual(yield* latest(1), [8])
    })
  )

  law(
    "the database refuses to change or remove an entry",
    Effect.gen(function* () {
      const process = yield* Store.startProcess
      yield* beginTurn(process)
      const sql = yield* SqlClient.SqlClient
      const before = yield* Store.dump
      for (const statement of [
        sql`UPDATE thread_entries SET payload = '{}'`,
        sql`UPDATE thread_entries SET seq = seq + 10`,
        sql`DELETE FROM thread_entries`
      ]) {
        const error = yield* Effect.flip(statement)
        assert.include(error.message, "append-only")
      }
      assert.deepStrictEqual(yield* Store.dump, before)
    })
  )

  law(
    "an entry that cannot be read is a defect that names the thread and the place, and not the content",
    Effect.gen(function* () {
      const process = yield* Store.startProcess
      const { threadId } = yield* process.journal.accept(message())
      const sql = yield* SqlClient.SqlClient
      for (const [seq, payload] of [
        [2, `{"_tag":"Nonsense","text":"a secret"}`],
        [3, "{ a secret"]
      ] as const) {
        const row = { thread_id: threadId, seq, kind: "Nonsense", payload, created_at: 0 }
        yield* sql`INSERT INTO thread_entries ${sql.insert(row)}`
        const exit = yield* Effect.exit(process.threads.latest(threadId, 1))
        assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
        const text = Exit.isFailure(exit) ? Cause.pretty(exit.cause) : ""
        assert.include(text, `${threadId} ${seq}`)
        assert.notInclude(text, "a secret")
      }
      assert.strictEqual((yield* process.threads.entries(threadId, { from: 1, limit: 1 })).entries.length, 1)
    })
  )
}

/** Threads `console:0`, `console:1`, … a second apart. */
const makeThreads = (process: Store.Process, count: number) =>
  Effect.forEach(Array.from({ length: count }), (_, index) =>
    Effect.andThen(
      TestClock.adjust("1 second"),
      Effect.map(process.journal.accept(message({ thread: `console:${index}` })), (receipt) => receipt.threadId)
    )
  )

/** The ids of all pages, with something happening between two of them. */
const pages = Effect.fnUntraced(function* (
  process: Store.Process,
  limit: number,
  between: Effect.Effect<unknown> = Effect.void
) {
  const seen: Array<Ids.ThreadId> = []
  let before: ThreadCursor | null = null
  do {
    const page: ThreadPage = yield* process.threads.list({ limit, ...(before === null ? {} : { before }) })
    assert.isAtMost(page.threads.length, limit)
    seen.push(...page.threads.map((thread) => thread.id))
    before = page.next
    yield* between
  } while (before !== null)
  return seen
})
