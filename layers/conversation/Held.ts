/** What is held, in the tables: marked there when the copy was restored (`layers/storage/Restore.ts`). */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as SqlClient from "effect/sql/SqlClient"
import * as Held from "../../src/conversation/Held.ts"
import * as Journal from "../../src/conversation/Journal.ts"
import type * as Ids from "../../src/Ids.ts"
import type * as Entry from "../../src/thread/Entry.ts"
import * as Threads from "../../src/thread/Threads.ts"
import * as TurnEntries from "../../src/turn/TurnEntries.ts"
import * as TurnState from "../../src/turn/TurnState.ts"
import * as Defects from "../storage/Defects.ts"
import * as Installation from "../storage/Installation.ts"

/** What the rows of dropped work say. */
const failure: Entry.Failure = {
  code: "storage:restored",
  message: "This was owed when the backup was made. What became of it is not known, and it was not done again."
}

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const journal = yield* Journal.Journal
  const threads = yield* Threads.Threads

  const restored = Effect.provideService(Installation.restored, SqlClient.SqlClient, sql)
  const released = Effect.provideService(Installation.noteReleased, SqlClient.SqlClient, sql)

  // The first condition on the state is that of the index, and SQLite takes the index only where it stands as it is.
  const heldThreads = sql<{
    readonly threadId: Ids.ThreadId
    readonly key: Threads.ThreadKey
    readonly running: Ids.TurnId | null
    readonly waiting: number
  }>`SELECT id AS "threadId", key,
      (SELECT turns.id FROM turns WHERE turns.thread_id = threads.id AND turns.state = 'running') AS running,
      (SELECT COUNT(*) FROM inbox WHERE inbox.thread_id = threads.id AND inbox.state IN ('accepted', 'running')
        AND inbox.state = 'accepted') AS waiting
    FROM threads WHERE held = 1 ORDER BY id LIMIT ${Held.listed}`

  const heldReplies = sql<(typeof Held.HeldReply)["Type"]>`
    SELECT outbox.id AS "deliveryId", threads.key, outbox.channel, outbox.chat, outbox.created_at AS "createdAt"
    FROM outbox JOIN threads ON threads.id = outbox.thread_id WHERE outbox.held = 1 ORDER BY ord LIMIT ${Held.listed}`

  const list = Effect.gen(function* () {
    const found = yield* Effect.all({ restored, threads: heldThreads, replies: heldReplies })
    return { ...found, threads: found.threads.map((thread) => ({ ...thread, running: thread.running !== null })) }
  })

  const count = Effect.map(
    sql<Held.HeldCount>`SELECT (SELECT COUNT(*) FROM threads WHERE held = 1) AS threads,
      (SELECT COUNT(*) FROM outbox WHERE held = 1) AS replies`,
    ([row]) => row ?? { threads: 0, replies: 0 }
  )

  const holds = (threadId: Ids.ThreadId) =>
    Effect.map(sql`SELECT 1 FROM threads WHERE id = ${threadId} AND held = 1`, (rows) => rows.length > 0)

  const resume = Effect.gen(function* () {
    yield* sql`UPDATE outbox SET held = 0 WHERE held = 1`
    yield* sql`UPDATE threads SET held = 0 WHERE held = 1`
    yield* released
  })

  /** Ends what the thread owed in the snapshot. Messages that came in since are owed still. */
  const dropThread = Effect.fnUntraced(function* (thread: Ids.ThreadId, turnId: Ids.TurnId | null, until: number) {
    const now = yield* Clock.currentTimeMillis
    yield* sql`UPDATE inbox SET state = 'unknown', ended_at = ${now}, error_code = ${failure.code},
      error_message = ${failure.message}
      WHERE thread_id = ${thread} AND state IN ('accepted', 'running') AND (state = 'running' OR accepted_at <= ${until})`
    yield* sql`UPDATE threads SET held = 0 WHERE id = ${thread}`
    if (turnId === null) return
    const claim = yield* Effect.orDie(journal.claim(thread))
    const entries = yield* openCalls(thread, turnId)
    yield* Effect.orDie(journal.endTurn(claim, { turnId, state: "failed", failure, entries, replies: [] }))
  })

  /** A result for every call that has none, so that the history stays valid. */
  const openCalls = Effect.fnUntraced(function* (thread: Ids.ThreadId, turnId: Ids.TurnId) {
    let state = TurnState.initial(turnId)
    let from: number | null = 1
    while (from !== null) {
      const page: Threads.EntryPage = yield* threads.entries(thread, { from, limit: pageSize })
      for (const { entry } of page.entries) state = TurnState.apply(state, entry)
      from = page.next
    }
    return state.pending.map((call) => TurnEntries.refused(turnId, call, TurnEntries.unknownOutcome))
  })

  const drop = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const until = (yield* restored)?.restoredAt ?? now
    yield* sql`UPDATE outbox SET held = 0, state = 'unknown', sender = NULL, ended_at = ${now},
      error_message = ${failure.message} WHERE held = 1`
    for (;;) {
      const some = yield* heldThreads
      if (some.length === 0) break
      yield* Effect.forEach(some, ({ running, threadId }) => dropThread(threadId, running, until), { discard: true })
    }
    yield* released
  })

  return Held.Held.of({
    list: Defects.orDefect(list).pipe(Effect.withSpan("Held.list")),
    count: Defects.orDefect(count),
    holds: (threadId) => Defects.orDefect(holds(threadId)),
    release: Effect.fn("Held.release")((how: Held.Release) =>
      Defects.orUnavailable(sql.withTransaction(Effect.tap(count, () => (how === "resume" ? resume : drop))))
    )
  })
})

const pageSize = 500

export const layer: Layer.Layer<Held.Held, never, SqlClient.SqlClient | Journal.Journal | Threads.Threads> =
  Layer.effect(Held.Held, make)
