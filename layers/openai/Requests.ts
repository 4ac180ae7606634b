/** The recorded requests over SQL. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as SqlClient from "effect/sql/SqlClient"
import type * as Ids from "../../src/Ids.ts"
import * as Requests from "../../src/openai/Requests.ts"
import * as Defects from "../storage/Defects.ts"

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const columns = sql.literal(
    `message_id AS "messageId", thread_id AS "threadId", seq, digest, conversation, instructions`
  )

  const record = Effect.fn("Requests.record")(function* (request: Requests.Request) {
    const now = yield* Clock.currentTimeMillis
    yield* sql`INSERT INTO openai_requests ${sql.insert({
      message_id: request.messageId,
      thread_id: request.threadId,
      seq: request.seq,
      digest: request.digest,
      conversation: request.conversation,
      instructions: request.instructions,
      created_at: now
    })} ON CONFLICT (message_id) DO NOTHING`
  }, Defects.orDefect)

  const byExternalId = Effect.fn("Requests.byExternalId")(function* (externalId: string) {
    const [found] = yield* sql<Requests.Place & { readonly digest: string | null }>`
      SELECT inbox.id AS "messageId", inbox.thread_id AS "threadId", inbox.seq AS seq, openai_requests.digest AS digest
      FROM inbox LEFT JOIN openai_requests ON openai_requests.message_id = inbox.id
      WHERE inbox.channel = 'openai' AND inbox.external_id = ${externalId}`
    return Option.fromUndefinedOr(found)
  }, Defects.orDefect)

  const byDigest = Effect.fn("Requests.byDigest")(function* (digest: string, since: number) {
    const [found] = yield* sql<Requests.Request>`SELECT ${columns} FROM openai_requests
      WHERE digest = ${digest} AND created_at >= ${since} ORDER BY message_id DESC LIMIT 1`
    return Option.fromUndefinedOr(found)
  }, Defects.orDefect)

  const byConversation = Effect.fn("Requests.byConversation")(
    (conversation: string, limit: number) =>
      sql<Requests.Request>`SELECT ${columns} FROM openai_requests
        WHERE conversation = ${conversation} ORDER BY message_id DESC LIMIT ${limit}`,
    Defects.orDefect
  )

  const byMessage = Effect.fn("Requests.byMessage")(function* (messageId: Ids.MessageId) {
    const [found] = yield* sql<Requests.Place>`
      SELECT inbox.id AS "messageId", inbox.thread_id AS "threadId", inbox.seq AS seq
      FROM inbox LEFT JOIN openai_requests ON openai_requests.message_id = inbox.id
      WHERE inbox.id = ${messageId} AND inbox.channel = 'openai' AND COALESCE(openai_requests.digest, '') <> ${deleted}`
    return Option.fromUndefinedOr(found)
  }, Defects.orDefect)

  // A row stays: it says where in its thread the request was, and that its Idempotency-Key has been used.
  const remove = Effect.fn("Requests.remove")(
    (messageId: Ids.MessageId) => sql`
      INSERT INTO openai_requests (message_id, thread_id, seq, digest, instructions, created_at)
      SELECT id, thread_id, seq, ${deleted}, '', accepted_at FROM inbox WHERE id = ${messageId} AND channel = 'openai'
      ON CONFLICT (message_id) DO UPDATE SET digest = ${deleted}, conversation = NULL`,
    Effect.asVoid,
    Defects.orDefect
  )

  const latest = Effect.fn("Requests.latest")(function* (threadId: Ids.ThreadId) {
    const [found] = yield* sql<Requests.Request>`SELECT ${columns} FROM openai_requests
      WHERE thread_id = ${threadId} ORDER BY seq DESC LIMIT 1`
    return Option.fromUndefinedOr(found)
  }, Defects.orDefect)

  return Requests.Requests.of({ record, byExternalId, byDigest, byConversation, byMessage, remove, latest })
})

/** In place of the fingerprint of a request whose response was deleted. No fingerprint is this. */
const deleted = "deleted"

/** Reads and writes the requests in the database of `SqlClient`. */
export const layer: Layer.Layer<Requests.Requests, never, SqlClient.SqlClient> = Layer.effect(Requests.Requests, make)
