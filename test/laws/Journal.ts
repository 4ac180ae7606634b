/** What every journal must hold, whatever database is under it. */
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as SqlClient from "effect/sql/SqlClient"
import * as TestClock from "effect/testing/TestClock"
import type { Claim, ClaimLost } from "../../src/conversation/Journal.ts"
import * as Ids from "../../src/Ids.ts"
import type { StorageUnavailable } from "../../src/storage/StorageError.ts"
import type * as Entry from "../../src/thread/Entry.ts"
import * as Model from "./JournalModel.ts"
import { answered, assistant, beginTurn, guidance, logOf, message, reply, startTurn } from "./Messages.ts"
import * as Store from "./Store.ts"

export const laws = (name: string, backend: Store.Backend) =>
  describe(`Journal: ${name}`, () => {
    const law: Law = (title, body) => it.effect(title, () => Effect.provide(Effect.scoped(body), backend))
    accepting(law)
    claiming(law)
    turns(law)
    atomicity(law)
    debts(law)
    texts(law)
    Model.property(backend)
  })

type Law = <E>(title: string, body: Effect.Effect<void, E, SqlClient.SqlClient | Scope.Scope>) => void

const accepting = (law: Law) => {
  law(
    "200 messages to 50 threads at once: every thread has its own without gaps, each message once",
    Effect.gen(function* () {
      const { journal, threads } = yield* Store.startProcess
      const sent = Array.from({ length: 200 }, (_, index) =>
        message({ thread: `console:${index % 50}`, text: `text ${index}` })
      )
      const receipts = yield* Effect.forEach(sent, journal.accept, { concurrency: "unbounded" })
      assert.strictEqual(new Set(receipts.map((receipt) => receipt.messageId)).size, 200)
      const byThread = Map.groupBy(receipts, (receipt) => receipt.threadId)
      assert.strictEqual(byThread.size, 50)
      for (const [threadId, own] of byThread) {
        const { entries } = yield* threads.entries(threadId, { from: 1, limit: 100 })
        assert.deepStrictEqual(
          entries.map((stored) => stored.seq),
          [1, 2, 3, 4]
        )
        assert.deepStrictEqual(
          entries.map(({ entry }) => entry._tag === "UserMessage" && entry.messageId),
          own.toSorted((one, other) => one.seq - other.seq).map((receipt) => receipt.messageId)
        )
        assert.strictEqual((yield* threads.get(threadId)).entries, 4)
      }
    })
  )

  law(
    "the order of the log is the order of acceptance, also while a turn writes",
    Effect.gen(function* () {
      const process = yield* Store.startProcess
      const { claim, threadId, turnId } = yield* beginTurn(process)
      const texts = Array.from({ length: 20 }, (_, index) => `text ${index}`)
      yield* Effect.all(
        [
          Effect.forEach(texts, (text) => process.journal.accept(message({ text }))),
          Effect.forEach(texts, (text) => process.journal.append(claim, [guidance(turnId, text)]))
        ],
        { concurrency: 2 }
      )
      const entries = yield* logOf(process, threadId)
      assert.deepStrictEqual(
        entries.map((stored) => stored.seq),
        Array.from({ length: 42 }, (_, index) => index + 1)
      )
      const of = (tag: Entry.EntryKind) =>
        entries.flatMap(({ entry }) => (entry._tag === tag && "text" in entry ? [entry.text] : []))
      assert.deepStrictEqual(of("UserMessage"), ["hello", ...texts])
      assert.deepStrictEqual(of("Guidance"), texts)
    })
  )

  for (const times of [1, 3, 50]) {
    law(
      `a message handed in ${times} more times at once is one message`,
      Effect.gen(function* () {
        const { journal, threads } = yield* Store.startProcess
        const inbound = message({ externalId: "same", cursor: "1" })
        const first = yield* journal.accept(inbound)
        assert.isFalse(first.duplicate)
        const before = yield* Store.dump
        const again = yield* Effect.all(
          Array.from({ length: times }, () => journal.accept({ ...inbound, text: "other", cursor: "2" })),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(
          again,
          again.map(() => ({ ...first, duplicate: true }))
        )
        assert.deepStrictEqual(yield* Store.dump, before)
        assert.strictEqual((yield* threads.get(first.threadId)).entries, 1)
      })
    )
  }

  law(
    "F024 of 50 first deliveries at once exactly one is new",
    Effect.gen(function* () {
      const { journal } = yield* Store.startProcess
      const inbound = message({ externalId: "same" })
      const all = yield* Effect.all(
        Array.from({ length: 50 }, () => journal.accept(inbound)),
        {
          concurrency: "unbounded"
        }
      )
      assert.strictEqual(all.filter((receipt) => !receipt.duplicate).length, 1)
      assert.strictEqual(new Set(all.map((receipt) => receipt.messageId)).size, 1)
    })
  )

  law(
    "the same id on another channel is another message",
    Effect.gen(function* () {
      const { journal } = yield* Store.startProcess
      yield* journal.accept(message({ externalId: "7", channel: "console" }))
      const other = yield* journal.accept(message({ externalId: "7", channel: "web" }))
      assert.deepStrictEqual([other.duplicate, other.seq], [false, 2])
    })
  )

  law(
    "F022 the channel's cursor is stored with the message, and each channel has its own",
    Effect.gen(function* () {
      const { journal } = yield* Store.startProcess
      assert.isNull(yield* journal.cursor("one"))
      yield* journal.accept(message({ channel: "one", cursor: "10" }))
      yield* journal.accept(message({ channel: "two", cursor: "3" }))
      yield* journal.accept(message({ channel: "one", cursor: "11" }))
      yield* journal.accept(message({ channel: "one" }))
      // The next life of the process goes on from there.
      const { journal: next } = yield* Store.startProcess
      assert.strictEqual(yield* next.cursor("one"), "11")
      assert.strictEqual(yield* next.cursor("two"), "3")
      assert.isNull(yield* next.cursor("three"))
    })
  )

  law(
    "a known thread keeps its agent",
    Effect.gen(function* () {
      const { journal, threads } = yield* Store.startProcess
      const { threadId } = yield* journal.accept(message({ agent: "first" }))
      yield* journal.accept(message({ agent: "second" }))
      assert.strictEqual((yield* threads.get(threadId)).agent, "first")
    })
  )
}

const claiming = (law: Law) => {
  law(
    "a thread that does not exist cannot be claimed",
    Effect.gen(function* () {
      const { journal } = yield* Store.startProcess
      const id = yield* Ids.makeThreadId
      assert.strictEqual((yield* Effect.flip(journal.claim(id)))._tag, "ThreadNotFound")
    })
  )

  law(
    "a process that claims again what it owns writes nothing",
    Effect.gen(function* () {
      const { journal } = yield* Store.startProcess
      const { threadId } = yield* journal.accept(message())
      const claim = yield* journal.claim(threadId)
      const before = yield* Store.dump
      assert.deepStrictEqual(yield* journal.claim(threadId), claim)
      assert.deepStrictEqual(yield* Store.dump, before)
    })
  )

  law(
    "every write of a deposed owner fails and changes nothing; its successor's go through",
    Effect.gen(function* () {
      const old = yield* Store.startProcess
      const { claim, messageId, threadId, turnId } = yield* beginTurn(old)
      const waiting = yield* old.journal.accept(message())
      const successor = yield* Store.startProcess
      const taken = yield* successor.journal.claim(threadId)
      const before = yield* Store.dump
      for (const [operation, write] of writes(old, claim, turnId, waiting.messageId)) {
        const error = yield* Effect.flip(write)
        assert.deepStrictEqual([operation, error._tag, error.threadId], [operation, "ClaimLost", threadId])
        assert.deepStrictEqual(yield* Store.dump, before, operation)
      }
      assert.strictEqual(yield* successor.journal.resumeTurn(taken, turnId), 2)
      yield* successor.journal.endTurn(taken, answered(turnId))
      assert.strictEqual((yield* successor.threads.receipt(messageId)).state, "answered")
    })
  )

  law(
    "a claim that was never given is void",
    Effect.gen(function* () {
      const process = yield* Store.startProcess
      const other = yield* Store.startProcess
      const { messageId, threadId } = yield* process.journal.accept(message())
      const turnId = yield* Ids.makeTurnId
      const forged: Claim = { threadId, incarnation: other.incarnation }
      const turn = { turnId, messageIds: [messageId], agent: "main" }
      assert.strictEqual((yield* Effect.flip(other.journal.startTurn(forged, turn)))._tag, "ClaimLost")
    })
  )
  law(
    "a new thread belongs to who accepted its first message, until another claims it",
    Effect.gen(function* () {
      const first = yield* Store.startProcess
      const second = yield* Store.startProcess
      const sql = yield* SqlClient.SqlClient
      const owner = Effect.map(sql<{ readonly owner: string }>`SELECT owner FROM threads`, (rows) => rows[0]?.owner)
      const { threadId } = yield* first.journal.accept(message())
      assert.strictEqual(yield* owner, first.incarnation)
      yield* second.journal.claim(threadId)
      yield* first.journal.accept(message())
      assert.strictEqual(yield* owner, second.incarnation)
    })
  )
}

type WriteError = ClaimLost | StorageUnavailable

/** Every claimed write, valid but for its claim. */
const writes = (process: Store.Process, claim: Claim, turnId: Ids.TurnId, waiting: Ids.MessageId) => {
  const { journal } = process
  const other = Ids.TurnId.make(turnId.replace(/.$/, (last) => (last === "0" ? "1" : "0")))
  return [
    ["startTurn", journal.startTurn(claim, { turnId: other, messageIds: [waiting], agent: "main" })],
    ["resumeTurn", journal.resumeTurn(claim, turnId)],
    ["suspendTurn", journal.suspendTurn(claim, turnId)],
    ["fold", journal.fold(claim, turnId, [waiting])],
    ["append", journal.append(claim, [guidance(turnId)])],
    ["endTurn", journal.endTurn(claim, answered(turnId, { replies: [reply("hi")] }))]
  ] as const
}

const turns = (law: Law) => {
  law(
    "how long a turn has worked is kept with every write that says so, and left as it is by the others",
    Effect.gen(function* () {
      const process = yield* Store.startProcess
      const { journal } = process
      const sql = yield* SqlClient.SqlClient
      const { claim, threadId, turnId } = yield* beginTurn(process)
      const folded = yield* journal.accept(message())
      const kept: Array<number | undefined> = []
      const writes = [
        Effect.void,
        journal.append(claim, [assistant(turnId, 1)], { activeMillis: 100 }),
        journal.append(claim, [guidance(turnId)], { activeMillis: 200 }),
        journal.append(claim, [guidance(turnId)]),
        journal.fold(claim, turnId, [folded.messageId], { activeMillis: 300 }),
        journal.suspendTurn(claim, turnId, { activeMillis: 400 }),
        journal.resumeTurn(claim, turnId)
      ]
      for (const write of writes) {
        yield* write
        kept.push((yield* journal.owed(threadId)).running?.activeMillis)
      }
      assert.deepStrictEqual(kept, [0, 100, 200, 200, 300, 400, 400])
      yield* journal.endTurn(claim, answered(turnId, { activeMillis: 500 }))
      assert.deepStrictEqual(yield* sql<object>`SELECT active_millis FROM turns`, [{ active_millis: 500 }])
    })
  )

  law(
    "a turn's life: what it took up, its steps and tokens, its outcome",
    Effect.gen(function* () {
      const process = yield* Store.startProcess
      const sql = yield* SqlClient.SqlClient
      const { journal, threads } = process
      const { claim, messageId, threadId, turnId } = yield* beginTurn(process)
      assert.strictEqual((yield* threads.receipt(messageId)).state, "running")
      yield* journal.append(claim, [assistant(turnId, 1)])
      const folded = yield* journal.accept(message())
      yield* journal.fold(claim, turnId, [folded.messageId])
      assert.strictEqual((yield* threads.receipt(folded.messageId)).turnId, turnId)
      yield* journal.append(claim, [guidance(turnId), assistant(turnId, 2)])
      const running = { turnId, attempts: 1, steps: 2, activeMillis: 0, startedAt: 0 }
      assert.deepStrictEqual((yield* journal.owed(threadId)).running, running)
      yield* TestClock.adjust("3 seconds")
      yield* journal.endTurn(claim, answered(turnId, { entries: [assistant(turnId, 3)] }))
      const [row] = yield* sql<object>`SELECT * FROM turns`
      assert.deepStrictEqual(row, {
        id: turnId,
        thread_id: threadId,
        state: "answered",
        attempts: 1,
        started_at: 0,
        ended_at: 3000,
        active_millis: 0,
        steps: 3,
        provider: "offline",
        model: "model-3",
        input_tokens: 30,
        output_tokens: 9,
        error_code: null,
        error_message: null
      })
      for (const id of [messageId, folded.messageId]) {
        const receipt = yield* threads.receipt(id)
        assert.deepStrictEqual([receipt.state, receipt.turnId, receipt.endedAt], ["answered", turnId, 3000])
      }
      assert.deepStrictEqual(
        (yield* logOf(process, threadId)).map(({ entry }) => entry._tag),
        [
          "UserMessage",
          "TurnStarted",
          "AssistantMessage",
          "UserMessage",
          "MessagesFolded",
          "Guidance",
          "AssistantMessage",
          "AssistantMessage",
          "TurnEnded"
        ]
      )
    })
  )

  const failure = { code: "model:overloaded", message: "The model is overloaded." }
  const endings = [
    { state: "answered", given: undefined, outcome: ["answered", null] },
    { state: "stopped", given: undefined, outcome: ["stopped", null] },
    { state: "failed", given: failure, outcome: ["failed", failure] },
    { state: "failed", given: undefined, outcome: ["failed", { code: "turn:failed", message: "The turn failed." }] },
    { state: "parked", given: failure, outcome: ["failed", { code: "turn:parked", message: failure.message }] }
  ] as const
  for (const { given, outcome, state } of endings) {
    law(
      `a turn that is ${state} ${given === undefined ? "plainly" : "with a failure"} gives its messages one outcome`,
      Effect.gen(function* () {
        const process = yield* Store.startProcess
        const { claim, messageId, threadId, turnId } = yield* beginTurn(process)
        const end = answered(turnId, { state, ...(given === undefined ? {} : { failure: given }) })
        yield* process.journal.endTurn(claim, end)
        const receipt = yield* process.threads.receipt(messageId)
        assert.deepStrictEqual<unknown>([receipt.state, receipt.failure], outcome)
        assert.deepStrictEqual(yield* process.journal.owed(threadId), { running: null, waiting: [] })
      })
    )
  }

  law(
    "an outcome never changes: not by a second end, not by a later turn, not by a stop",
    Effect.gen(function* () {
      const process = yield* Store.startProcess
      const { claim, messageId, turnId } = yield* beginTurn(process)
      yield* process.journal.endTurn(claim, answered(turnId))
      const receipt = yield* process.threads.receipt(messageId)
      yield* refused(process.journal.endTurn(claim, answered(turnId, { state: "failed" })))
      yield* refused(process.journal.append(claim, [guidance(turnId)]))
      yield* refused(process.journal.resumeTurn(claim, turnId))
      const later = yield* process.journal.accept(message())
      const otherTurn = yield* startTurn(process, claim, [later.messageId])
      yield* refused(process.journal.fold(claim, otherTurn, [messageId]))
      yield* process.journal.endTurn(claim, answered(otherTurn, { state: "stopped" }))
      assert.deepStrictEqual(yield* process.threads.receipt(messageId), receipt)
    })
  )

  law(
    "an end settles what the turn took up, and no message that waits",
    Effect.gen(function* () {
      const process = yield* Store.startProcess
      const { claim, messageId, turnId } = yield* beginTurn(process)
      const joined = yield* process.journal.accept(message())
      yield* process.journal.fold(claim, turnId, [joined.messageId])
      const waiting = yield* process.journal.accept(message())
      yield* process.journal.endTurn(claim, answered(turnId, { state: "stopped" }))
      const states = yield* Effect.forEach([messageId, joined.messageId, waiting.messageId], process.threads.receipt)
      assert.deepStrictEqual(
        states.map(({ state }) => state),
        ["stopped", "stopped", "accepted"]
      )
    })
  )

  law(
    "one turn runs in a thread at a time: the journal refuses a second, and so does the database",
    Effect.gen(function* () {
      const process = yield* Store.startProcess
      const sql = yield* SqlClient.SqlClient
      const { claim, threadId } = yield* beginTurn(process)
      const waiting = yield* process.journal.accept(message())
      const turnId = yield* Ids.makeTurnId
      const turn = { turnId, messageIds: [waiting.messageId], agent: "main" }
      yield* refused(process.journal.startTurn(claim, turn))
      const row = { id: turnId, thread_id: threadId, state: "running", started_at: 0 }
      const error = yield* Effect.flip(sql`INSERT INTO turns ${sql.insert(row)}`)
      assert.strictEqual(error.reason._tag, "UniqueViolation")
    })
  )

  law(
    "a turn takes up only what waits in its thread, and folds only what may fold",
    Effect.gen(function* () {
      const process = yield* Store.startProcess
      const { journal } = process
      const { claim, messageId, turnId } = yield* beginTurn(process)
      const fine = yield* journal.accept(message())
      const unfit = [
        yield* journal.accept(message({ source: "task" })),
        yield* journal.accept(message({ source: "schedule" })),
        yield* journal.accept(message({ delivery: "after-turn" })),
        yield* journal.accept(message({ thread: "console:other" }))
      ]
      for (const id of [messageId, ...unfit.map((receipt) => receipt.messageId)]) {
        yield* refused(journal.fold(claim, turnId, [fine.messageId, id]))
      }
      yield* journal.endTurn(claim, answered(turnId))
      const own = unfit.slice(0, 3).map((receipt) => receipt.messageId)
      yield* startTurn(process, claim, [fine.messageId, ...own])
    })
  )

  law(
    "entries that record an operation are written by that operation alone",
    Effect.gen(function* () {
      const process = yield* Store.startProcess
      const { claim, turnId } = yield* beginTurn(process)
      const log = yield* logOf(process, claim.threadId)
      const recorded: ReadonlyArray<Entry.Entry> = [
        ...log.map((stored) => stored.entry),
        { _tag: "TurnResumed", turnId, attempt: 2 },
        { _tag: "MessagesFolded", turnId, messageIds: [] },
        { _tag: "TurnEnded", turnId, state: "answered" }
      ]
      for (const entry of recorded) {
        yield* refused(process.journal.append(claim, [entry]))
        yield* refused(process.journal.endTurn(claim, answered(turnId, { entries: [entry] })))
      }
    })
  )

  law(
    "each life of the process counts once, and not when it left on purpose",
    Effect.gen(function* () {
      const process = yield* Store.startProcess
      const { claim, threadId, turnId } = yield* beginTurn(process)
      assert.strictEqual(yield* process.journal.resumeTurn(claim, turnId), 2)
      assert.strictEqual(yield* process.journal.resumeTurn(claim, turnId), 3)
      yield* process.journal.suspendTurn(claim, turnId)
      assert.strictEqual(yield* process.journal.resumeTurn(claim, turnId), 3)
      const resumed = (yield* logOf(process, threadId)).flatMap(({ entry }) =>
        entry._tag === "TurnResumed" ? [entry.attempt] : []
      )
      assert.deepStrictEqual(resumed, [2, 3, 3])
      assert.strictEqual(yield* process.journal.resumeTurn(claim, turnId, { again: true }), 3)
    })
  )

  law(
    "a new turn may be suspended too",
    Effect.gen(function* () {
      const process = yield* Store.startProcess
      const { claim, turnId } = yield* beginTurn(process)
      yield* process.journal.suspendTurn(claim, turnId)
      assert.strictEqual(yield* process.journal.resumeTurn(claim, turnId), 1)
    })
  )

  law(
    "trimmed history begins where the trim says, and never earlier again",
    Effect.gen(function* () {
      const process = yield* Store.startProcess
      const { claim, threadId, turnId } = yield* beginTurn(process)
      const trim = (keepFrom: number): Entry.Entry => ({ _tag: "HistoryTrimmed", turnId, keepFrom, removedMessages: 1 })
      const from = Effect.map(process.threads.get(threadId), (thread) => thread.historyFrom)
      assert.strictEqual(yield* from, 1)
      yield* process.journal.append(claim, [trim(3)])
      assert.strictEqual(yield* from, 3)
      yield* process.journal.append(claim, [trim(2)])
      assert.strictEqual(yield* from, 3)
      yield* process.journal.endTurn(claim, answered(turnId, { entries: [trim(4)] }))
      assert.strictEqual(yield* from, 4)
      assert.strictEqual((yield* logOf(process, threadId)).length, 6)
    })
  )

  law(
    "compacted history is read from where the compaction says, and its tokens are the turn's",
    Effect.gen(function* () {
      const process = yield* Store.startProcess
      const { claim, threadId, turnId } = yield* beginTurn(process)
      const compacted = (readFrom: number): Entry.Entry => ({
        _tag: "Compacted",
        turnId,
        step: 1,
        how: "summary",
        summary: "what was said",
        keepFrom: readFrom + 1,
        readFrom,
        tokensBefore: 100,
        provider: "p",
        model: "m",
        usage: { inputTokens: 40, outputTokens: 2 }
      })
      const from = Effect.map(process.threads.get(threadId), (thread) => thread.historyFrom)
      yield* process.journal.append(claim, [assistant(turnId, 1)])
      const before = yield* tokensOf(turnId)
      yield* process.journal.append(claim, [compacted(2)])
      assert.strictEqual(yield* from, 2)
      yield* process.journal.append(claim, [compacted(1)])
      assert.strictEqual(yield* from, 2)
      const after = yield* tokensOf(turnId)
      assert.deepStrictEqual(after, { steps: 1, input: before.input + 80, output: before.output + 4 })
    })
  )
}

/** What the row of a turn has counted. */
const tokensOf = (turnId: Ids.TurnId) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [row] = yield* sql<{ readonly steps: number; readonly input: number; readonly output: number }>`
      SELECT steps, input_tokens AS input, output_tokens AS output FROM turns WHERE id = ${turnId}`
    return row ?? assert.fail("no such turn")
  }).pipe(Effect.orDie)

const file = (words: string) => ({
  name: "notes.txt",
  mediaType: "text/plain",
  content: new TextEncoder().encode(words)
})

const atomicity = (law: Law) => {
  law(
    "F092 an operation that fails at any of its statements leaves nothing",
    Effect.gen(function* () {
      const process = yield* Store.startProcess
      const { claim, turnId } = yield* beginTurn(process)
      const waiting = yield* process.journal.accept(message())
      const operations: ReadonlyArray<readonly [string, Effect.Effect<unknown, WriteError>]> = [
        ["accept a new thread", process.journal.accept(message({ thread: "console:new", cursor: "9" }))],
        ["accept", process.journal.accept(message({ cursor: "9" }))],
        ["accept with files", process.journal.accept(message({ attachments: [file("one"), file("two")] }))],
        ...writes(process, claim, turnId, waiting.messageId).filter(([operation]) => operation !== "startTurn"),
        ["append a response", process.journal.append(claim, [assistant(turnId, 1), guidance(turnId)])]
      ]
      for (const [operation, write] of operations) yield* leavesNothing(operation, write)

      yield* process.journal.endTurn(claim, answered(turnId))
      const otherTurn = yield* Ids.makeTurnId
      const turn = { turnId: otherTurn, messageIds: [waiting.messageId], agent: "main" }
      yield* leavesNothing("startTurn", process.journal.startTurn(claim, turn))
    })
  )

  law(
    "an operation that is interrupted leaves nothing, whether it waits for the database or has begun",
    Effect.gen(function* () {
      const process = yield* Store.startProcess
      const { claim, turnId } = yield* beginTurn(process)
      const sql = yield* SqlClient.SqlClient
      const before = yield* Store.dump
      const write = process.journal.endTurn(claim, answered(turnId, { replies: [reply("hi")] }))

      const holding = yield* Deferred.make<void>()
      const release = yield* Deferred.make<void>()
      const holder = yield* Effect.forkChild(
        sql.withTransaction(Effect.andThen(Deferred.succeed(holding, undefined), Deferred.await(release)))
      )
      yield* Deferred.await(holding)
      const waiting = yield* Effect.forkChild(write, { startImmediately: true })
      yield* Fiber.interrupt(waiting)
      yield* Deferred.succeed(release, undefined)
      yield* Fiber.join(holder)
      assert.deepStrictEqual(yield* Store.dump, before)

      const count = yield* countOf(write)
      for (let nth = 1; nth <= count; nth++) {
        const reached = yield* Deferred.make<void>()
        const begun = yield* Effect.forkChild(Store.withHangingStatement(nth, reached)(write))
        yield* Deferred.await(reached)
        yield* Fiber.interrupt(begun)
        assert.deepStrictEqual(yield* Store.dump, before, `statement ${nth}`)
      }
      yield* write
    })
  )
}

const debts = (law: Law) => {
  law(
    "what waits is owed in the order of acceptance, with what a turn needs to know of it",
    Effect.gen(function* () {
      const process = yield* Store.startProcess
      const { journal } = process
      const first = yield* journal.accept(message({ delivery: "after-tool" }))
      const second = yield* journal.accept(message({ source: "schedule", delivery: "after-turn" }))
      const { threadId } = first
      assert.deepStrictEqual(yield* journal.owed(threadId), {
        running: null,
        waiting: [
          { messageId: first.messageId, seq: 1, delivery: "after-tool", source: "person" },
          { messageId: second.messageId, seq: 2, delivery: "after-turn", source: "schedule" }
        ]
      })
      const claim = yield* journal.claim(threadId)
      const turnId = yield* startTurn(process, claim, [first.messageId])
      const owed = yield* journal.owed(threadId)
      assert.deepStrictEqual(owed.running, { turnId, attempts: 1, steps: 0, activeMillis: 0, startedAt: 0 })
      assert.deepStrictEqual(
        owed.waiting.map((waiting) => waiting.messageId),
        [second.messageId]
      )
    })
  )

  law(
    "threads with a debt are listed, the oldest debt first, until it is paid",
    Effect.gen(function* () {
      const process = yield* Store.startProcess
      const { journal } = process
      assert.deepStrictEqual([yield* journal.owedThreads(10), yield* journal.oldestOwed], [[], null])
      const running = yield* beginTurn(process, "console:running")
      yield* TestClock.adjust("10 seconds")
      const waiting = yield* journal.accept(message({ thread: "console:waiting" }))
      yield* TestClock.adjust("5 seconds")
      yield* journal.accept(message({ thread: "console:running" }))
      assert.deepStrictEqual(yield* journal.owedThreads(10), [running.threadId, waiting.threadId])
      assert.deepStrictEqual(yield* journal.owedThreads(1), [running.threadId])
      assert.strictEqual(yield* journal.oldestOwed, 15_000)

      yield* journal.endTurn(running.claim, answered(running.turnId))
      assert.deepStrictEqual(yield* journal.owedThreads(10), [waiting.threadId, running.threadId])
      assert.strictEqual(yield* journal.oldestOwed, 5000)

      const claim = yield* journal.claim(waiting.threadId)
      const turnId = yield* startTurn(process, claim, [waiting.messageId])
      yield* journal.endTurn(claim, answered(turnId))
      assert.deepStrictEqual(yield* journal.owedThreads(10), [running.threadId])
    })
  )

  law(
    "a running turn without messages is a debt too",
    Effect.gen(function* () {
      const process = yield* Store.startProcess
      const { claim, threadId, turnId } = yield* beginTurn(process)
      yield* process.journal.endTurn(claim, answered(turnId))
      yield* startTurn(process, claim, [])
      assert.deepStrictEqual(yield* process.journal.owedThreads(10), [threadId])
      assert.isNull(yield* process.journal.oldestOwed)
    })
  )
}

const texts = (law: Law) => {
  const samples: ReadonlyArray<readonly [name: string, given: string, stored: string]> = [
    ["emoji at both edges", "😀 middle 👩‍👩‍👧", "😀 middle 👩‍👩‍👧"],
    ["a lone high surrogate at the end", "cut \ud83d", "cut \ufffd"],
    ["a lone low surrogate at the start", "\ude00 cut", "\ufffd cut"],
    ["surrogates in the wrong order", "\ude00\ud83d", "\ufffd\ufffd"],
    ["NUL", "a\u0000b\u0000", "ab"],
    ["NUL between the halves of an emoji", "\ud83d\u0000\ude00", "\ufffd\ufffd"],
    ["line and paragraph separators", "a\u2028b\u2029c", "a\u2028b\u2029c"],
    ["control characters", "\u0001\u0007\u001b[31m\u007f\r\n\t", "\u0001\u0007\u001b[31m\u007f\r\n\t"],
    ["text that looks like an escape", String.raw`\ud83d \u0000 \\u0000 \n`, String.raw`\ud83d \u0000 \\u0000 \n`],
    ["a backslash before a NUL", "\\\u0000", "\\"],
    ["quotes and SQL", `"'); DROP TABLE threads; --`, `"'); DROP TABLE threads; --`],
    ["one megabyte", "💾".repeat(262_144), "💾".repeat(262_144)],
    ["nothing", "", ""]
  ]
  for (const [name, given, stored] of samples) {
    law(
      `text comes back well-formed: ${name}`,
      Effect.gen(function* () {
        const process = yield* Store.startProcess
        const { claim, threadId, turnId } = yield* beginTurn(process)
        const { messageId } = yield* process.journal.accept(message({ text: given, sender: { name: given } }))
        const callId = yield* Ids.makeCallId
        const result: Entry.Entry = {
          _tag: "ToolResult",
          turnId,
          callId,
          name: "echo",
          outcome: "completed",
          text: given,
          data: { nested: [given, { [given]: given }] },
          durationMillis: 1
        }
        const appended = yield* process.journal.append(claim, [result])
        const failure = { code: "test:failed", message: given }
        const end = answered(turnId, { state: "failed", failure, replies: [reply(given)] })
        const ended = yield* process.journal.endTurn(claim, end)

        const entryAt = (from: number) =>
          Effect.map(process.threads.entries(threadId, { from, limit: 1 }), ({ entries }) => entries[0])
        const [user, tool] = [yield* entryAt(3), yield* entryAt(4)]
        assert.deepInclude(user?.entry, { _tag: "UserMessage", messageId, text: stored, sender: { name: stored } })
        assert.deepStrictEqual(tool?.entry, {
          ...result,
          text: stored,
          data: { nested: [stored, { [stored]: stored }] }
        })
        assert.deepStrictEqual([...appended, ...ended], [yield* entryAt(4), yield* entryAt(5)])
        const [delivery] = yield* process.outbox.take("push", 1)
        assert.strictEqual(delivery?.text, stored)
      })
    )
  }

  law(
    "words of the runtime and of a failure are cleaned as well",
    Effect.gen(function* () {
      const process = yield* Store.startProcess
      const { claim, messageId, turnId } = yield* beginTurn(process)
      const failure = { code: "test:\u0000failed", message: "cut \ud83d" }
      yield* process.journal.endTurn(claim, answered(turnId, { state: "failed", failure }))
      const receipt = yield* process.threads.receipt(messageId)
      assert.deepStrictEqual(receipt.failure, { code: "test:failed", message: "cut \ufffd" })
    })
  )
}

/** A breach of a rule is a defect, and nothing of it is stored. */
const refused = Effect.fnUntraced(function* <E>(write: Effect.Effect<unknown, E>) {
  const before = yield* Store.dump
  const exit = yield* Effect.exit(write)
  assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause), "expected a defect")
  assert.deepStrictEqual(yield* Store.dump, before)
})

/** Fails an operation at its first statement, its second and so on; at last it must go through. */
const leavesNothing = Effect.fnUntraced(function* (operation: string, write: Effect.Effect<unknown, WriteError>) {
  const before = yield* Store.dump
  const count = yield* countOf(write)
  for (let nth = 1; nth <= count; nth++) {
    const exit = yield* Effect.exit(Store.withFailingStatement(nth)(write))
    assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause), `${operation}, statement ${nth}`)
    assert.deepStrictEqual(yield* Store.dump, before, `${operation}, statement ${nth}`)
  }
})

/** How many statements an operation sends. Counted on a run that is rolled back, so that the operation stays possible. */
const countOf = Effect.fnUntraced(function* (write: Effect.Effect<unknown, WriteError>) {
  const sql = yield* SqlClient.SqlClient
  const counted = Effect.flatMap(Store.countStatements(write), (count) => Effect.fail(new Counted({ count })))
  const outcome = yield* Effect.flip(sql.withTransaction(counted))
  return outcome instanceof Counted ? outcome.count : yield* Effect.die(outcome)
})

class Counted extends Schema.TaggedError<Counted>()("Counted", { count: Schema.Int }) {}
