/**
 * Replies as rows of `outbox`: written by the journal, read by the outbox.
 */
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import * as Outbox from "../../src/channel/Outbox.ts"
import type * as Journal from "../../src/conversation/Journal.ts"
import * as Ids from "../../src/Ids.ts"
import * as Entry from "../../src/thread/Entry.ts"
import * as WellFormed from "../../src/thread/WellFormed.ts"
import * as Defects from "../storage/Defects.ts"

/** What a query for deliveries selects. */
export interface Row {
  readonly ord: number
  readonly id: Ids.DeliveryId
  readonly thread_id: Ids.ThreadId
  readonly turn_id: Ids.TurnId | null
  readonly channel: string
  readonly chat: string
  readonly payload: string
  readonly attempts: number
  readonly created_at: number
  readonly in_doubt: number
}

/** Writes a turn's replies, in their order, due at once. */
export const insert = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  thread: Ids.ThreadId,
  turn: Ids.TurnId | null,
  now: number,
  replies: ReadonlyArray<Journal.Reply>
): Effect.fn.Return<void, SqlError> {
  const rows: ReadonlyArray<Record<string, unknown>> = yield* Effect.forEach(replies, (reply) =>
    Effect.map(Effect.all([Ids.makeDeliveryId, encode(reply)]), ([id, payload]) => ({
      id,
      thread_id: thread,
      turn_id: turn,
      channel: WellFormed.text(reply.channel),
      chat: WellFormed.text(reply.chat),
      payload,
      state: "pending",
      next_attempt_at: now,
      created_at: now
    }))
  )
  if (Arr.isReadonlyArrayNonEmpty(rows)) yield* sql`INSERT INTO outbox ${sql.insert(rows)}`
})

/** Reads a row back. Fails, naming the delivery, when the row cannot be read. */
export const decode = (row: Row): Effect.Effect<Outbox.Delivery, Defects.UnreadableRow> =>
  decodePayload(row.payload).pipe(
    Effect.map((payload) => ({
      id: row.id,
      threadId: row.thread_id,
      turnId: row.turn_id,
      channel: row.channel,
      chat: row.chat,
      ...payload,
      attempts: row.attempts,
      createdAt: row.created_at,
      inDoubt: row.in_doubt === 1
    })),
    Effect.mapError(() => new Defects.UnreadableRow({ table: "outbox", key: row.id }))
  )

const Payload = Schema.fromJsonString(
  Schema.Struct({
    text: Schema.String,
    format: Schema.optionalKey(Entry.AnswerFormat),
    files: Schema.optionalKey(Schema.Array(Entry.SentFile)),
    repair: Schema.optionalKey(Outbox.Repair)
  })
)
const decodePayload = Schema.decodeUnknownEffect(Payload)
const encodePayload = Schema.encodeEffect(Payload)

const encode = ({ files, format, text }: Journal.Reply): Effect.Effect<string> =>
  payloadOf({ text, ...(format === undefined ? {} : { format }), ...(files === undefined ? {} : { files }) })

/** The payload of a reply, as it is stored. */
export const payloadOf = (payload: Parameters<typeof encodePayload>[0]): Effect.Effect<string> =>
  Effect.orDie(Effect.map(encodePayload(payload), WellFormed.json))
