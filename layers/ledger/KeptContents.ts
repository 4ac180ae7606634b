/** Contents of files as they were before a change, each once, under its SHA-256. */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type * as SqlClient from "effect/sql/SqlClient"
import type { Affected, FileState } from "../../src/file/FileChanges.ts"
import type { FileError } from "../../src/file/FileError.ts"
import * as Fingerprint from "../Fingerprint.ts"

/** A content to keep, or undefined for what is no file or is too large. */
export const read = (
  { content }: Affected,
  state: FileState,
  most: number
): Effect.Effect<Uint8Array | undefined, FileError> =>
  state._tag !== "File" || state.bytes > most
    ? Effect.undefined
    : Effect.map(Stream.runCollect(content), (parts) => new Uint8Array(Buffer.concat(parts)))

/** Keeps a content. One that is kept already is used anew. */
export const write = (sql: SqlClient.SqlClient, content: Uint8Array, now: number) =>
  sql`INSERT INTO kept_contents ${sql.insert({
    sha256: Fingerprint.ofBytes(content),
    content,
    bytes: content.length,
    used_at: now
  })} ON CONFLICT (sha256) DO UPDATE SET used_at = excluded.used_at`

export const find = (sql: SqlClient.SqlClient, sha256: string) =>
  Effect.map(
    sql<{ readonly content: Uint8Array }>`SELECT content FROM kept_contents WHERE sha256 = ${sha256}`,
    ([row]) => row?.content
  )
