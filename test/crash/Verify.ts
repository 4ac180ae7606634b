/**
 * What must hold when everything is over, whatever happened on the way: the tables, what was sent, and what the outside world
 * saw are compared. Gives what does not hold, in words; nothing means that all of it does.
 */
import { DatabaseSync } from "node:sqlite"
import type { Sent } from "./Driver.ts"
import type * as Protocol from "./Protocol.ts"

/** What there is to compare. */
export interface Evidence {
  readonly database: string
  readonly sent: ReadonlyArray<Sent>
  readonly effects: ReadonlyArray<Protocol.Effected>
  readonly deliveries: ReadonlyArray<Protocol.Delivered>
  readonly seen: ReadonlyMap<string, ReadonlyArray<number>>
}

export interface Counts {
  readonly messages: number
  readonly turns: number
  readonly folds: number
  readonly resumed: number
  readonly calls: number
  readonly inDoubt: number
  readonly byState: Readonly<Record<string, number>>
}

interface Row {
  readonly thread: string
  readonly seq: number
  readonly kind: string
  readonly payload: string
}

/** An entry as it is in the table; the fields that the checks read. */
interface Stored {
  readonly _tag: string
  readonly turnId?: string
  readonly messageId?: string
  readonly messageIds?: ReadonlyArray<string>
  readonly text?: string
  readonly calls?: ReadonlyArray<{ readonly callId: string; readonly name: string; readonly arguments: string }>
  readonly callId?: string
  readonly outcome?: string
  readonly state?: string
}

export const verify = (evidence: Evidence): { readonly problems: ReadonlyArray<string>; readonly counts: Counts } => {
  const database = new DatabaseSync(evidence.database, { readOnly: true })
  const all = <Shape>(sql: string): ReadonlyArray<Shape> =>
    database
      .prepare(sql)
      .all()
      .map((row) => Object.assign(row))
  const problems: Array<string> = []
  const must = (holds: boolean, words: string) => {
    if (!holds) problems.push(words)
  }

  const [integrity] = all<{ readonly integrity_check: string }>("PRAGMA integrity_check")
  must(integrity?.integrity_check === "ok", `the database is damaged: ${integrity?.integrity_check}`)
  must(all("PRAGMA foreign_key_check").length === 0, "a row names another that is not there")

  const rows = all<Row>(`SELECT t.key AS thread, e.seq, e.kind, e.payload FROM thread_entries e
    JOIN threads t ON t.id = e.thread_id ORDER BY e.thread_id, e.seq`)
  const threads = new Map<string, Array<Stored & { readonly seq: number }>>()
  for (const { kind, payload, seq, thread } of rows) {
    const entries = threads.get(thread) ?? []
    threads.set(thread, entries)
    entries.push({ _tag: kind, ...JSON.parse(payload), seq })
  }
  const inbox = all<Inbox[number]>("SELECT id, external_id, state, turn_id, error_message FROM inbox")

  messages(evidence, threads, inbox, must)
  for (const [thread, entries] of threads) {
    log(thread, entries, must)
    turnsOf(thread, entries, inbox, must)
    callsOf(thread, entries, evidence.effects, must)
  }
  const replies = all<{ id: string; thread_id: string; state: string; turn_id: string | null }>(
    "SELECT id, thread_id, state, turn_id FROM outbox ORDER BY ord"
  )
  deliveries(evidence.deliveries, replies, threads, must)
  for (const [thread, seqs] of evidence.seen) {
    must(
      seqs.every((seq, index) => seq === index + 1) && seqs.length === (threads.get(thread)?.length ?? 0),
      `${thread}: a watcher saw ${seqs.length} entries of ${threads.get(thread)?.length ?? 0}, or not in order`
    )
  }

  const entries = [...threads.values()].flat()
  const of = (tag: string) => entries.filter((entry) => entry._tag === tag)
  database.close()
  return {
    problems,
    counts: {
      messages: inbox.length,
      turns: of("TurnStarted").length,
      folds: of("MessagesFolded").length,
      resumed: of("TurnResumed").length,
      calls: of("ToolResult").length,
      inDoubt: evidence.deliveries.filter(({ inDoubt }) => inDoubt).length,
      byState: Object.fromEntries(
        [...Map.groupBy(inbox, ({ state }) => state)].map(([state, rows]) => [state, rows.length])
      )
    }
  }
}

type Must = (holds: boolean, words: string) => void
type Log = ReadonlyArray<Stored & { readonly seq: number }>
type Inbox = ReadonlyArray<{
  readonly id: string
  readonly external_id: string
  readonly state: string
  readonly turn_id: string | null
  readonly error_message: string | null
}>

/** Every message that was sent is accepted once, has one outcome, and has its place in the order of its thread. */
const messages = (evidence: Evidence, threads: ReadonlyMap<string, Log>, inbox: Inbox, must: Must) => {
  const byTag = Map.groupBy(inbox, ({ external_id: tag }) => tag)
  for (const { tag } of evidence.sent) {
    const rows = byTag.get(tag) ?? []
    must(rows.length === 1, `${tag}: accepted ${rows.length} times`)
  }
  must(inbox.length === evidence.sent.length, `${inbox.length} messages for ${evidence.sent.length} that were sent`)
  for (const { error_message: error, external_id: tag, state } of inbox) {
    must(state === "answered" || state === "stopped", `${tag}: its outcome is ${state}: ${error}`)
  }
  for (const [thread, sent] of Map.groupBy(evidence.sent, ({ thread }) => thread)) {
    const tags = (threads.get(thread) ?? []).flatMap((entry) =>
      entry._tag === "UserMessage" ? [/<([^>]+)>/.exec(entry.text ?? "")?.[1] ?? ""] : []
    )
    must(tags.join(" ") === sent.map(({ tag }) => tag).join(" "), `${thread}: the order is ${tags.join(" ")}`)
  }
}

const log = (thread: string, entries: Log, must: Must) =>
  must(
    entries.every(({ seq }, index) => seq === index + 1),
    `${thread}: its log has gaps`
  )

/** A turn ends once, nothing of it comes after its end, and a message is taken up once and answered by name. */
const turnsOf = (thread: string, entries: Log, inbox: Inbox, must: Must) => {
  const taken = entries.flatMap(({ messageIds }) => messageIds ?? [])
  must(new Set(taken).size === taken.length, `${thread}: a message was taken up twice`)
  const turns = Map.groupBy(
    entries.filter(({ turnId }) => turnId !== undefined),
    ({ turnId }) => turnId ?? ""
  )
  for (const [turnId, own] of turns) {
    const name = `${thread} ${turnId}`
    const ends = own.filter(({ _tag }) => _tag === "TurnEnded")
    must(own.filter(({ _tag }) => _tag === "TurnStarted").length === 1, `${name}: it did not begin once`)
    must(ends.length === 1, `${name}: it ended ${ends.length} times`)
    must(own.at(-1)?._tag === "TurnEnded", `${name}: something came after its end`)
    must(ends[0]?.state === "answered" || ends[0]?.state === "stopped", `${name}: it ended as ${ends[0]?.state}`)
    const answers = own.filter(({ _tag, calls }) => _tag === "AssistantMessage" && (calls ?? []).length === 0)
    const words = answers.map(({ text }) => text ?? "").join(" ")
    const messages = inbox.filter((row) => row.turn_id === turnId)
    for (const { external_id: tag, state } of messages) {
      must(state === ends[0]?.state, `${tag}: ${state}, and its turn ${ends[0]?.state}`)
      if (state === "answered") must(words.includes(`<${tag}>`), `${tag}: the answer does not name it: ${words}`)
    }
  }
}

/** A call has one result, and its effects outside are what the result says. */
const callsOf = (thread: string, entries: Log, effects: ReadonlyArray<Protocol.Effected>, must: Must) => {
  const results = Map.groupBy(
    entries.filter(({ _tag }) => _tag === "ToolResult"),
    ({ callId }) => callId ?? ""
  )
  const called = entries.flatMap(({ calls }) => calls ?? [])
  must(called.length === results.size, `${thread}: ${results.size} results for ${called.length} calls`)
  for (const { callId, name } of called) {
    const [result, ...more] = results.get(callId) ?? []
    must(
      result !== undefined && more.length === 0,
      `${callId}: ${more.length + (result === undefined ? 0 : 1)} results`
    )
    const outside = effects.filter((effect) => effect.callId === callId)
    const times = outside.length
    const outcome = result?.outcome ?? "none"
    must(
      outside.every(({ tool }) => tool === name),
      `${callId}: an effect of another tool`
    )
    if (outcome === "completed") must(times >= 1, `${callId} of ${name}: completed without an effect`)
    // What only reads leaves nothing behind when it is broken off, so it may count as not run.
    if (name !== "look" && ["skipped", "denied", "invalid"].includes(outcome)) {
      must(times === 0, `${callId} of ${name}: ${outcome}, and had ${times} effects`)
    }
    if (name === "fire" || name === "careful") must(times <= 1, `${callId} of ${name}: had its effect ${times} times`)
    must(new Set(outside.map(({ key }) => key)).size <= 1, `${callId} of ${name}: its effects have different keys`)
  }
}

/** Every reply arrived, in the order of its thread; what arrived again was marked. */
const deliveries = (
  arrived: ReadonlyArray<Protocol.Delivered>,
  replies: ReadonlyArray<{
    readonly id: string
    readonly thread_id: string
    readonly state: string
    readonly turn_id: string | null
  }>,
  threads: ReadonlyMap<string, Log>,
  must: Must
) => {
  const known = new Set(replies.map(({ id }) => id))
  must(
    arrived.every(({ id }) => known.has(id)),
    "something arrived that is no reply"
  )
  for (const { id, state } of replies) {
    const own = arrived.filter((delivery) => delivery.id === id)
    must(state === "delivered", `the reply ${id} is ${state}`)
    must(own.length > 0, `the reply ${id} never arrived`)
    must(
      own.slice(1).every(({ inDoubt }) => inDoubt),
      `the reply ${id} arrived ${own.length} times and was not marked`
    )
  }
  const firsts = arrived.filter((delivery, index) => arrived.findIndex(({ id }) => id === delivery.id) === index)
  for (const [thread, own] of Map.groupBy(replies, ({ thread_id: thread }) => thread)) {
    const order = firsts.filter(({ threadId }) => threadId === thread).map(({ id }) => id)
    must(order.join(" ") === own.map(({ id }) => id).join(" "), `${thread}: its replies arrived in another order`)
  }
  const replied = new Set(replies.map(({ turn_id: turnId }) => turnId))
  for (const [thread, entries] of threads) {
    if (!thread.startsWith("outside:")) continue
    for (const { _tag, state, turnId } of entries) {
      if (_tag === "TurnEnded" && state === "answered") must(replied.has(turnId ?? ""), `${turnId}: it has no reply`)
    }
  }
}
