/**
 * The outbox over SQL.
 *
 * A row that is `sending` names the incarnation that sends it. One process owns a store at a time, so a row of another
 * incarnation was left behind by a process that died, and nobody knows whether the channel got it.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as SqlClient from "effect/sql/SqlClient"
import * as Outbox from "../../src/channel/Outbox.ts"
import type * as Ids from "../../src/Ids.ts"
import * as Monotonic from "../../src/Monotonic.ts"
import { Incarnation } from "../../src/storage/Incarnation.ts"
import * as WellFormed from "../../src/thread/WellFormed.ts"
import * as Defects from "../storage/Defects.ts"
import * as OutboxRows from "./OutboxRows.ts"

/** No reply waits for longer, so one that would has been put off by a process whose time of day was ahead. */
const longestWait = Duration.toMillis("25 hours")

/** Less than this is what a time server corrects all the time. */
const setBackMillis = 1000

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const me = (yield* Incarnation).id
  // The condition of the partial indexes, word for word: an index is used only for a query that repeats its condition.
  const open = sql.literal("state IN ('pending', 'sending')")

  const failed = Effect.fn("Outbox.failed")(function* (
    id: Ids.DeliveryId,
    reason: string,
    outcome: Outbox.Outcome = "refused"
  ) {
    const now = yield* Clock.currentTimeMillis
    const doubt = outcome === "unanswered" ? 1 : 0
    yield* sql`UPDATE outbox SET state = CASE WHEN in_doubt = 1 OR ${doubt} = 1 THEN 'unknown' ELSE 'failed' END,
      in_doubt = CASE WHEN ${doubt} = 1 THEN 1 ELSE in_doubt END,
      sender = NULL, ended_at = ${now}, error_message = ${WellFormed.text(reason)}
      WHERE id = ${id} AND state = 'sending' AND sender = ${me}`
  }, Defects.orDefect)

  // A row that cannot be read is given up alone: the ones taken with it must still be handed out.
  const readable = (row: OutboxRows.Row) =>
    OutboxRows.decode(row).pipe(
      Effect.map((delivery) => [delivery]),
      Effect.catch((error) =>
        Effect.logError(error.message).pipe(
          Effect.andThen(failed(row.id, "The stored reply cannot be read")),
          Effect.as([])
        )
      )
    )

  let lastLead = yield* Monotonic.lead

  // What waits until a time of day would wait for longer when that is set back.
  const keepWaits = Effect.gen(function* () {
    const leadNow = yield* Monotonic.lead
    const setBack = Math.round(lastLead - leadNow)
    if (setBack >= setBackMillis) {
      const now = yield* Clock.currentTimeMillis
      yield* Effect.logInfo("The time of day was set back; replies that wait are not kept for longer", {
        millis: setBack
      })
      yield* sql`UPDATE outbox SET next_attempt_at = next_attempt_at - ${setBack} WHERE ${open} AND next_attempt_at > ${now}`
    }
    lastLead = leadNow
  })

  const take = Effect.fn("Outbox.take")(function* (channel: string, limit: number) {
    yield* keepWaits
    const now = yield* Clock.currentTimeMillis
    const rows = yield* sql<OutboxRows.Row>`
      UPDATE outbox SET state = 'sending', sender = ${me}, attempts = attempts + 1,
        in_doubt = CASE WHEN state = 'sending' THEN 1 ELSE in_doubt END
      WHERE ord IN (
        SELECT ord FROM outbox AS head
        WHERE channel = ${channel} AND ${open} AND held = 0 AND (next_attempt_at <= ${now} OR next_attempt_at > ${now + longestWait}) AND (state = 'pending' OR sender <> ${me})
          AND NOT EXISTS (
            SELECT 1 FROM outbox AS earlier
            WHERE earlier.thread_id = head.thread_id AND earlier.channel = head.channel
              AND earlier.ord < head.ord AND earlier.${open} AND earlier.held = 0
          )
        ORDER BY next_attempt_at, ord LIMIT ${Math.max(0, limit)}
      )
      RETURNING ord, id, thread_id, turn_id, channel, chat, payload, attempts, created_at, in_doubt`
    // What RETURNING gives has no order.
    const inOrder = rows.toSorted((one, other) => one.ord - other.ord)
    return (yield* Effect.forEach(inOrder, readable)).flat()
  }, Defects.orDefect)

  // True whoever says it: a process that was replaced may learn late that its delivery arrived.
  const delivered = Effect.fn("Outbox.delivered")(function* (id: Ids.DeliveryId) {
    const now = yield* Clock.currentTimeMillis
    yield* sql`UPDATE outbox SET state = 'delivered', sender = NULL, ended_at = ${now}, error_message = NULL
      WHERE id = ${id} AND state = 'sending'`
  }, Defects.orDefect)

  const retry = Effect.fn("Outbox.retry")(function* (
    id: Ids.DeliveryId,
    retryAt: number,
    reason: string,
    outcome: Outbox.Outcome = "refused"
  ) {
    yield* sql`UPDATE outbox SET state = 'pending', sender = NULL, next_attempt_at = ${Math.round(retryAt)},
      in_doubt = CASE WHEN ${outcome} = 'unanswered' THEN 1 ELSE in_doubt END, error_message = ${WellFormed.text(reason)}
      WHERE id = ${id} AND state = 'sending' AND sender = ${me}`
  }, Defects.orDefect)

  const rewrite = Effect.fn("Outbox.rewrite")(function* (id: Ids.DeliveryId, rewriting: Outbox.Rewriting) {
    const now = yield* Clock.currentTimeMillis
    yield* sql`UPDATE outbox SET state = 'pending', sender = NULL, next_attempt_at = ${now},
      payload = ${yield* OutboxRows.payloadOf(rewriting)}
      WHERE id = ${id} AND state = 'sending' AND sender = ${me}`
  }, Defects.orDefect)

  const pending = Defects.orDefect(
    sql<{ readonly channel: string; readonly count: number }>`
      SELECT channel, COUNT(*) AS count FROM outbox WHERE ${open} AND held = 0 GROUP BY channel ORDER BY channel`
  )

  return Outbox.Outbox.of({ take, delivered, retry, failed, rewrite, pending })
})

/** The replies in the database of `SqlClient`, sent as the incarnation that is registered there. */
export const layer: Layer.Layer<Outbox.Outbox, never, SqlClient.SqlClient | Incarnation> = Layer.effect(
  Outbox.Outbox,
  make
)
