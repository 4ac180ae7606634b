/**
 * The journal over SQL. Every operation is one transaction and as few statements as it can be: this is the hot path of every
 * message and of every step of a turn.
 *
 * A claimed write begins with the one statement that allots its sequence numbers, moves the thread's time and checks the owner
 * at once; no row means that the claim is void, and everything is rolled back.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import * as Journal from "../../src/conversation/Journal.ts"
import * as Ids from "../../src/Ids.ts"
import { Incarnation } from "../../src/storage/Incarnation.ts"
import * as Entry from "../../src/thread/Entry.ts"
import * as Threads from "../../src/thread/Threads.ts"
import * as WellFormed from "../../src/thread/WellFormed.ts"
import * as Attachments from "../attachment/Attachments.ts"
import * as OutboxRows from "../channel/OutboxRows.ts"
import * as Defects from "../storage/Defects.ts"
import * as Durability from "../storage/Durability.ts"
import * as EntryRows from "../thread/EntryRows.ts"

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const incarnation = (yield* Incarnation).id

  const transaction = <A, E>(effect: Effect.Effect<A, E | SqlError>) => Defects.orDefect(sql.withTransaction(effect))

  /** A write of a turn that goes on. */
  const onTheWay = <A, E>(effect: Effect.Effect<A, E | SqlError>) => Durability.deferred(transaction(effect))

  const accept = Effect.fn("Journal.accept")(function* (message: Journal.InboundMessage) {
    const now = yield* Clock.currentTimeMillis
    return yield* Defects.orUnavailable(
      Effect.catchTag(sql.withTransaction(acceptNew(sql, incarnation, message, now)), "Duplicate", () =>
        earlierReceipt(sql, message)
      )
    )
  })

  const cursor = Effect.fn("Journal.cursor")(function* (channel: string) {
    const [row] = yield* sql<{ readonly cursor: string }>`
      SELECT cursor FROM channel_cursors WHERE channel = ${WellFormed.text(channel)}`
    return row?.cursor ?? null
  }, Defects.orDefect)

  const take = Effect.fn("Journal.claim")(function* (threadId: Ids.ThreadId) {
    // An actor that wakes up again in the same process claims what is its own: nothing is written for that.
    const [thread] = yield* sql<{ readonly owner: Ids.IncarnationId | null }>`
      SELECT owner FROM threads WHERE id = ${threadId}`
    if (thread === undefined) return yield* new Threads.ThreadNotFound({ thread: threadId })
    if (thread.owner !== incarnation) {
      yield* sql`UPDATE threads SET owner = ${incarnation} WHERE id = ${threadId}`
    }
    return { threadId, incarnation }
  }, Defects.orDefect)

  const startTurn = Effect.fn("Journal.startTurn")(function* (
    claim: Journal.Claim,
    turn: Parameters<Journal.Journal["Service"]["startTurn"]>[1]
  ) {
    const now = yield* Clock.currentTimeMillis
    const { turnId } = turn
    yield* onTheWay(
      Effect.gen(function* () {
        const { first, running } = yield* allot(sql, claim, 1, now)
        if (running !== null) return yield* Defects.ruleBroken("startTurn", `turn ${running} runs in this thread`)
        yield* sql`INSERT INTO turns ${sql.insert({
          id: turnId,
          thread_id: claim.threadId,
          state: "running",
          started_at: now
        })}`
        yield* takeUp(sql, "startTurn", claim, turnId, turn.messageIds)
        yield* EntryRows.insert(sql, claim.threadId, first, now, [{ _tag: "TurnStarted", ...turn }])
      })
    )
  })

  const resumeTurn = Effect.fn("Journal.resumeTurn")(function* (
    claim: Journal.Claim,
    turnId: Ids.TurnId,
    options?: { readonly again: boolean }
  ) {
    const again = options?.again === true
    const now = yield* Clock.currentTimeMillis
    return yield* onTheWay(
      Effect.gen(function* () {
        const { first, running } = yield* allot(sql, claim, 1, now)
        yield* mustRun("resumeTurn", turnId, running)
        const [row] = yield* sql<{ readonly attempts: number }>`
          UPDATE turns SET attempts = attempts + ${again ? 0 : 1} WHERE id = ${turnId} RETURNING attempts`
        const attempt = row?.attempts ?? 1
        yield* EntryRows.insert(sql, claim.threadId, first, now, [
          { _tag: "TurnResumed", turnId, attempt, ...(again ? { storeFailed: true } : {}) }
        ])
        return attempt
      })
    )
  })

  const suspendTurn = Effect.fn("Journal.suspendTurn")(function* (
    claim: Journal.Claim,
    turnId: Ids.TurnId,
    progress?: Journal.Progress
  ) {
    const now = yield* Clock.currentTimeMillis
    yield* transaction(
      Effect.gen(function* () {
        const { running } = yield* allot(sql, claim, 0, now)
        yield* mustRun("suspendTurn", turnId, running)
        yield* sql`UPDATE turns SET attempts = attempts - 1 ${worked(sql, progress)} WHERE id = ${turnId}`
      })
    )
  })

  const fold = Effect.fn("Journal.fold")(function* (
    claim: Journal.Claim,
    turnId: Ids.TurnId,
    messageIds: ReadonlyArray<Ids.MessageId>,
    progress?: Journal.Progress
  ) {
    const now = yield* Clock.currentTimeMillis
    yield* onTheWay(
      Effect.gen(function* () {
        const { first, running } = yield* allot(sql, claim, 1, now)
        yield* mustRun("fold", turnId, running)
        yield* takeUp(sql, "fold", claim, turnId, messageIds)
        yield* EntryRows.insert(sql, claim.threadId, first, now, [{ _tag: "MessagesFolded", turnId, messageIds }])
        yield* noteProgress(sql, turnId, progress)
      })
    )
  })

  const append = Effect.fn("Journal.append")(function* (
    claim: Journal.Claim,
    entries: ReadonlyArray<Entry.Entry>,
    progress: Journal.Progress & { readonly replies?: ReadonlyArray<Journal.Reply> } = {}
  ) {
    const now = yield* Clock.currentTimeMillis
    return yield* onTheWay(
      Effect.gen(function* () {
        const { first, running } = yield* allot(sql, claim, entries.length, now, trimOf(entries))
        for (const entry of entries) yield* mustBeOfTurn("append", entry, running)
        const written = yield* EntryRows.insert(sql, claim.threadId, first, now, entries)
        yield* OutboxRows.insert(sql, claim.threadId, running, now, progress.replies ?? [])
        const work = workOf(entries)
        if (running === null) return written
        yield* work === undefined
          ? noteProgress(sql, running, progress)
          : sql`UPDATE turns SET ${counted(sql, work)} ${worked(sql, progress)} WHERE id = ${running}`
        return written
      })
    )
  })

  const endTurn = Effect.fn("Journal.endTurn")(function* (claim: Journal.Claim, end: TurnEnding) {
    const now = yield* Clock.currentTimeMillis
    return yield* transaction(
      Effect.gen(function* () {
        const entries: ReadonlyArray<Entry.Entry> = [...end.entries, turnEnded(end)]
        const { first, running } = yield* allot(sql, claim, entries.length, now, trimOf(end.entries))
        yield* mustRun("endTurn", end.turnId, running)
        for (const entry of end.entries) yield* mustBeOfTurn("endTurn", entry, running)
        const written = yield* EntryRows.insert(sql, claim.threadId, first, now, entries)
        yield* closeTurn(sql, end, now)
        yield* settleMessages(sql, end, now)
        yield* OutboxRows.insert(sql, claim.threadId, end.turnId, now, end.replies)
        return written
      })
    )
  })

  const note = Effect.fn("Journal.note")(function* (threadId: Ids.ThreadId, entry: Journal.NotedEntry) {
    const now = yield* Clock.currentTimeMillis
    return yield* Defects.orUnavailable(
      sql.withTransaction(
        Effect.gen(function* () {
          const [row] = yield* sql<{ readonly seq: number }>`
            UPDATE threads SET next_seq = next_seq + 1, updated_at = ${later(sql, now)}
            WHERE id = ${threadId} RETURNING next_seq - 1 AS seq`
          if (row === undefined) return yield* Defects.ruleBroken("note", `there is no thread ${threadId}`)
          const [written] = yield* EntryRows.insert(sql, threadId, row.seq, now, [entry])
          return written ?? { seq: row.seq, at: now, entry }
        })
      )
    )
  })

  return Journal.Journal.of({
    accept,
    note,
    cursor,
    claim: take,
    owed: Effect.fn("Journal.owed")((threadId: Ids.ThreadId) => Defects.orDefect(owed(sql, threadId))),
    owedThreads: Effect.fn("Journal.owedThreads")((limit: number) => Defects.orDefect(owedThreads(sql, limit))),
    oldestOwed: Defects.orDefect(oldestOwed(sql)),
    startTurn,
    resumeTurn,
    suspendTurn,
    fold,
    append,
    settled: Defects.orDefect(Effect.asVoid(sql`SELECT 1`)),
    endTurn
  })
})

/** Writes threads in the database of `SqlClient`, as the incarnation that is registered there. */
export const layer: Layer.Layer<Journal.Journal, never, SqlClient.SqlClient | Incarnation> = Layer.effect(
  Journal.Journal,
  make
)

type TurnEnding = Parameters<Journal.Journal["Service"]["endTurn"]>[1]

// ---------------------------------------------------------------------------------------------------------------------
// Accepting

class Duplicate extends Schema.TaggedError<Duplicate>()("Duplicate", {}) {}

/**
 * Writes first and finds a duplicate by the unique index: the usual message pays for no look-up, two deliveries of one message
 * at the same moment cannot both pass, and a duplicate is rolled back as a whole.
 */
const acceptNew = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  incarnation: Ids.IncarnationId,
  message: Journal.InboundMessage,
  now: number
) {
  const messageId = yield* Ids.makeMessageId
  const { seq, threadId } = yield* threadOf(sql, incarnation, message, now)
  yield* EntryRows.insert(sql, threadId, seq, now, [
    {
      _tag: "UserMessage",
      messageId,
      channel: message.channel,
      sender: message.sender,
      source: message.source,
      delivery: message.delivery,
      text: message.text,
      attachments: message.attachments.map(Attachments.metadataOf)
    }
  ])
  const written = yield* sql<{ readonly id: Ids.MessageId }>`INSERT INTO inbox ${sql.insert({
    id: messageId,
    thread_id: threadId,
    channel: WellFormed.text(message.channel),
    external_id: WellFormed.text(message.externalId),
    seq,
    source: message.source,
    delivery: message.delivery,
    foldable: message.source === "person" && message.delivery !== "after-turn" ? 1 : 0,
    state: "accepted",
    accepted_at: now
  })} ON CONFLICT (channel, external_id) DO NOTHING RETURNING id`
  if (written.length === 0) return yield* new Duplicate()
  yield* Attachments.write(sql, message.attachments, now)
  if (message.cursor !== undefined) yield* moveCursor(sql, message.channel, message.cursor, now)
  return { threadId, messageId, seq, duplicate: false }
})

/** The thread of the key, made when it is new, with the next sequence number. */
const threadOf = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  incarnation: Ids.IncarnationId,
  message: Journal.InboundMessage,
  now: number
) {
  const id = yield* Ids.makeThreadId
  const rows = yield* sql<{ readonly threadId: Ids.ThreadId; readonly seq: number }>`INSERT INTO threads ${sql.insert({
    id,
    key: message.thread,
    agent: WellFormed.text(message.agent),
    next_seq: 2,
    // Most likely who will serve it. Then the first claim is no write of its own, which would be one more flush to the disk.
    owner: incarnation,
    created_at: now,
    updated_at: now
  })} ON CONFLICT (key) DO UPDATE SET next_seq = threads.next_seq + 1, updated_at = ${later(sql, now)}
    RETURNING id AS "threadId", next_seq - 1 AS seq`
  return rows[0] ?? { threadId: id, seq: 1 }
})

const moveCursor = (sql: SqlClient.SqlClient, channel: string, cursor: string, now: number) =>
  sql`INSERT INTO channel_cursors ${sql.insert({
    channel: WellFormed.text(channel),
    cursor: WellFormed.text(cursor),
    updated_at: now
  })} ON CONFLICT (channel) DO UPDATE SET cursor = excluded.cursor, updated_at = excluded.updated_at`

const earlierReceipt = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, message: Journal.InboundMessage) {
  const rows = yield* sql<Omit<Journal.Accepted, "duplicate">>`
    SELECT thread_id AS "threadId", id AS "messageId", seq FROM inbox
    WHERE channel = ${WellFormed.text(message.channel)} AND external_id = ${WellFormed.text(message.externalId)}`
  const [earlier] = rows
  return earlier === undefined
    ? yield* Defects.ruleBroken("accept", "a message was refused as a duplicate of one that is not there")
    : { ...earlier, duplicate: true }
})

// ---------------------------------------------------------------------------------------------------------------------
// Claimed writes

interface Allotted {
  /** The first of the sequence numbers. */
  readonly first: number
  /** The turn that runs in the thread. */
  readonly running: Ids.TurnId | null
}

const allot = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  claim: Journal.Claim,
  count: number,
  now: number,
  keepFrom = 1
) {
  const { incarnation, threadId } = claim
  const rows = yield* sql<Allotted>`
    UPDATE threads SET next_seq = next_seq + ${count}, updated_at = ${later(sql, now)},
      history_from = CASE WHEN history_from < ${keepFrom} THEN ${keepFrom} ELSE history_from END
    WHERE id = ${threadId} AND owner = ${incarnation}
    RETURNING next_seq - ${count} AS first,
      (SELECT turns.id FROM turns WHERE turns.thread_id = ${threadId} AND turns.state = 'running') AS running`
  return rows[0] ?? (yield* new Journal.ClaimLost({ threadId }))
})

// A clock that was set back must not move a thread down the list: a page already shown would then show it again.
const later = (sql: SqlClient.SqlClient, now: number) =>
  sql`CASE WHEN threads.updated_at < ${now} THEN ${now} ELSE threads.updated_at END`

const mustRun = (operation: string, turnId: Ids.TurnId, running: Ids.TurnId | null): Effect.Effect<void> =>
  running === turnId ? Effect.void : Defects.ruleBroken(operation, `turn ${turnId} does not run in this thread`)

// These are written by the operation that they record, so that the rows and the log never disagree.
const recorded: ReadonlySet<Entry.EntryKind> = new Set([
  "UserMessage",
  "TurnStarted",
  "TurnResumed",
  "MessagesFolded",
  "FilesRestored",
  "TurnEnded"
])

const mustBeOfTurn = (operation: string, entry: Entry.Entry, running: Ids.TurnId | null): Effect.Effect<void> => {
  if (entry._tag === "UserMessage" || recorded.has(entry._tag)) {
    return Defects.ruleBroken(operation, `a ${entry._tag} entry has its own operation`)
  }
  return mustRun(operation, entry.turnId, running)
}

/** Gives waiting messages to the turn. A fold takes only messages that may fold. */
const takeUp = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  operation: "startTurn" | "fold",
  claim: Journal.Claim,
  turnId: Ids.TurnId,
  messageIds: ReadonlyArray<Ids.MessageId>
) {
  if (messageIds.length === 0) return
  const kind = operation === "fold" ? sql`AND foldable = 1` : sql``
  const taken = yield* sql<object>`
    UPDATE inbox SET state = 'running', turn_id = ${turnId}
    WHERE id IN ${sql.in(messageIds)} AND thread_id = ${claim.threadId} AND state = 'accepted' ${kind} RETURNING id`
  if (taken.length !== messageIds.length) {
    const missing = `${messageIds.length - taken.length} of ${messageIds.length} messages`
    return yield* Defects.ruleBroken(operation, `${missing} do not wait in this thread or may not join the turn`)
  }
})

/** Where history begins after these entries; 1 when none of them makes it shorter. */
const trimOf = (entries: ReadonlyArray<Entry.Entry>): number =>
  entries.reduce((from, entry) => {
    if (entry._tag === "HistoryTrimmed") return Math.max(from, entry.keepFrom)
    return entry._tag === "Compacted" ? Math.max(from, entry.readFrom) : from
  }, 1)

interface Work {
  readonly step: number
  readonly provider: string
  readonly model: string
  readonly usage: Entry.Usage
}

/** What models that were asked for the entries add to the turn's row. */
const workOf = (entries: ReadonlyArray<Entry.Entry>): Work | undefined =>
  entries.reduce<Work | undefined>((work, entry) => {
    if (!asked(entry)) return work
    const { model, provider, step, usage } = entry
    return { step, provider, model, usage: Entry.addUsage(work?.usage ?? Entry.noUsage, usage) }
  }, undefined)

type Asked = Extract<Entry.Entry, { _tag: "AssistantMessage" | "Compacted" | "ToolUseJudged" }>

const asked = (entry: Entry.Entry): entry is Asked =>
  entry._tag === "AssistantMessage" || entry._tag === "Compacted" || entry._tag === "ToolUseJudged"

const counted = (sql: SqlClient.SqlClient, work: Work) =>
  sql`steps = ${work.step}, provider = ${WellFormed.text(work.provider)}, model = ${WellFormed.text(work.model)},
    input_tokens = input_tokens + ${work.usage.inputTokens}, output_tokens = output_tokens + ${work.usage.outputTokens}`

const worked = (sql: SqlClient.SqlClient, { activeMillis }: Journal.Progress = {}) =>
  activeMillis === undefined ? sql`` : sql`, active_millis = ${activeMillis}`

const noteProgress = (sql: SqlClient.SqlClient, turnId: Ids.TurnId, { activeMillis }: Journal.Progress = {}) =>
  activeMillis === undefined ? Effect.void : sql`UPDATE turns SET active_millis = ${activeMillis} WHERE id = ${turnId}`

// ---------------------------------------------------------------------------------------------------------------------
// Ending a turn

const turnEnded = (end: TurnEnding): Entry.Entry => ({
  _tag: "TurnEnded",
  turnId: end.turnId,
  state: end.state,
  ...(end.reason === undefined ? {} : { reason: end.reason }),
  ...(end.failure === undefined ? {} : { failure: end.failure })
})

const closeTurn = (sql: SqlClient.SqlClient, end: TurnEnding, now: number) => {
  const work = workOf(end.entries)
  const spent = work === undefined ? sql`` : sql`, ${counted(sql, work)}`
  const failure = failureOf(end)
  return sql`UPDATE turns SET state = ${end.state}, ended_at = ${now},
    error_code = ${failure?.code ?? null}, error_message = ${failure?.message ?? null} ${spent} ${worked(sql, end)}
    WHERE id = ${end.turnId}`
}

const settleMessages = (sql: SqlClient.SqlClient, end: TurnEnding, now: number) => {
  const state: Threads.MessageState = end.state === "parked" ? "failed" : end.state
  const failure = failureOf(end)
  return sql`UPDATE inbox SET state = ${state}, ended_at = ${now},
    error_code = ${failure?.code ?? null}, error_message = ${failure?.message ?? null}
    WHERE turn_id = ${end.turnId} AND state = 'running'`
}

/** What the rows of a turn and of its messages say: a turn that did not answer always has a code and a sentence. */
const failureOf = (end: TurnEnding): Entry.Failure | undefined => {
  if (end.state === "answered" || end.state === "stopped") return end.failure && clean(end.failure)
  const message = end.failure?.message ?? end.reason
  return end.state === "parked"
    ? clean({ code: "turn:parked", message: message ?? "The turn ended the process too often and is not tried again." })
    : clean({ code: end.failure?.code ?? "turn:failed", message: message ?? "The turn failed." })
}

const clean = (failure: Entry.Failure): Entry.Failure => ({
  code: WellFormed.text(failure.code),
  message: WellFormed.text(failure.message)
})

// ---------------------------------------------------------------------------------------------------------------------
// What is owed

// The condition of the partial index, word for word: an index is used only for a query that repeats its condition.
const owedState = "state IN ('accepted', 'running')"

// What a restored copy holds back is not owed, until it is released.
const notHeld = (thread: "inbox.thread_id" | "turns.thread_id") =>
  `NOT EXISTS (SELECT 1 FROM threads WHERE threads.id = ${thread} AND threads.held = 1)`

const owed = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, threadId: Ids.ThreadId) {
  const [running] = yield* sql<Journal.RunningTurn>`
    SELECT id AS "turnId", attempts, steps, active_millis AS "activeMillis", started_at AS "startedAt" FROM turns
    WHERE thread_id = ${threadId} AND state = 'running' AND ${sql.literal(notHeld("turns.thread_id"))}`
  const waiting = yield* sql<Journal.WaitingMessage>`
    SELECT id AS "messageId", seq, delivery, source FROM inbox
    WHERE thread_id = ${threadId} AND ${sql.literal(owedState)} AND state = 'accepted'
      AND ${sql.literal(notHeld("inbox.thread_id"))} ORDER BY seq`
  return { running: running ?? null, waiting }
})

const owedThreads = (sql: SqlClient.SqlClient, limit: number) =>
  Effect.map(
    sql<{ readonly id: Ids.ThreadId }>`
      SELECT thread_id AS id FROM (
        SELECT thread_id, accepted_at AS since FROM inbox
          WHERE ${sql.literal(owedState)} AND ${sql.literal(notHeld("inbox.thread_id"))}
        UNION ALL SELECT thread_id, started_at AS since FROM turns
          WHERE state = 'running' AND ${sql.literal(notHeld("turns.thread_id"))}
      ) AS debts GROUP BY thread_id ORDER BY MIN(since), thread_id LIMIT ${Math.max(0, limit)}`,
    (rows) => rows.map((row) => row.id)
  )

const oldestOwed = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  const now = yield* Clock.currentTimeMillis
  const [row] = yield* sql<{ readonly since: number | null }>`
    SELECT MIN(accepted_at) AS since FROM inbox
    WHERE ${sql.literal(owedState)} AND ${sql.literal(notHeld("inbox.thread_id"))}`
  const since = row?.since ?? null
  return since === null ? null : Math.max(0, now - since)
})
