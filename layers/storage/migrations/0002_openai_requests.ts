/** Requests of the OpenAI-compatible endpoint: how they are found again. Fingerprints only; the words are in the log. */
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const strict = sql.onDialectOrElse({ sqlite: () => sql.literal("STRICT"), orElse: () => sql.literal("") })
  const int = sql.onDialectOrElse({ sqlite: () => sql.literal("INTEGER"), orElse: () => sql.literal("BIGINT") })

  yield* sql`CREATE TABLE openai_requests (
    message_id TEXT NOT NULL PRIMARY KEY REFERENCES inbox (id) ON DELETE CASCADE,
    thread_id TEXT NOT NULL REFERENCES threads (id),
    seq ${int} NOT NULL,
    digest TEXT NOT NULL,
    conversation TEXT,
    instructions TEXT NOT NULL,
    created_at ${int} NOT NULL
  ) ${strict}`
  yield* sql`CREATE INDEX openai_requests_digest ON openai_requests (digest, message_id)`
  yield* sql`CREATE INDEX openai_requests_conversation ON openai_requests (conversation, message_id)
    WHERE conversation IS NOT NULL`
  yield* sql`CREATE INDEX openai_requests_thread ON openai_requests (thread_id, seq)`
})
