/** Files of messages in the database, each content once, under its SHA-256. The journal writes them together with their message. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as SqlClient from "effect/sql/SqlClient"
import type * as Attachment from "../../src/attachment/Attachment.ts"
import { Attachments } from "../../src/attachment/Attachments.ts"
import type * as Entry from "../../src/thread/Entry.ts"
import * as Fingerprint from "../Fingerprint.ts"
import * as Defects from "../storage/Defects.ts"

export const layer: Layer.Layer<Attachments, never, SqlClient.SqlClient> = Layer.effect(
  Attachments,
  Effect.map(SqlClient.SqlClient, (sql) =>
    Attachments.of({
      keep: Effect.fn("Attachments.keep")((file: Attachment.Judged) =>
        Effect.flatMap(Clock.currentTimeMillis, (now) =>
          Effect.as(Defects.orDefect(write(sql, [file], now)), metadataOf(file))
        )
      ),
      contents: Effect.fn("Attachments.contents")((sha256: ReadonlyArray<string>) =>
        sha256.length === 0 ? Effect.succeed(none) : Defects.orDefect(read(sql, sha256))
      )
    })
  )
)

const none: ReadonlyMap<string, Uint8Array> = new Map()

const read = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, sha256: ReadonlyArray<string>) {
  const rows = yield* sql<{ readonly sha256: string; readonly content: Uint8Array }>`
    SELECT sha256, content FROM attachments WHERE sha256 IN ${sql.in(sha256)}`
  return new Map(rows.map(({ content, sha256 }) => [sha256, content]))
})

/** What the entry of a message says of a file. */
export const metadataOf = ({ content, ...file }: Attachment.Judged): Entry.Attachment => ({
  ...file,
  bytes: content.length,
  sha256: Fingerprint.ofBytes(content)
})

/** Writes contents, inside the transaction of their message. One that is there already is used anew. */
export const write = (sql: SqlClient.SqlClient, files: ReadonlyArray<Attachment.Judged>, now: number) =>
  Effect.forEach(
    files,
    ({ content }) =>
      sql`INSERT INTO attachments ${sql.insert({
        sha256: Fingerprint.ofBytes(content),
        content,
        bytes: content.length,
        used_at: now
      })} ON CONFLICT (sha256) DO UPDATE SET used_at = excluded.used_at`,
    { discard: true }
  )
