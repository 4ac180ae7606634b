/**
 * Words that the index of notes still shows although no note has them any more. FTS5 begins each page of its index with a word that
 * separates it from the page before, and keeps that when the word itself has gone. Merging the index writes all pages anew.
 */
import * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"
import * as NoteRows from "./NoteRows.ts"

/** Pages written in one transaction: some milliseconds. Others come in between. */
const pagesAtOnce = 64

/** Below the rows of every owner, so that no search finds it. */
const helperRow = 1

/** Takes out what is left of these words; of any words that are gone, where none are given. */
export const clear = Effect.fn("IndexTraces.clear")(function* (sql: SqlClient.SqlClient, gone?: ReadonlySet<string>) {
  if (!(yield* sql.onDialectOrElse({ sqlite: () => hasTraces(sql, gone), orElse: () => Effect.succeed(false) }))) return
  // A merge does nothing where there is only one segment: a row of its own makes another.
  const helper = { rowid: helperRow, title: "0", data: "" }
  yield* NoteRows.transaction(sql, sql`INSERT OR REPLACE INTO note_words ${sql.insert(helper)}`)
  // Negative for the first time: all segments become one.
  let pages = -pagesAtOnce
  while (yield* merge(sql, pages)) {
    pages = pagesAtOnce
    yield* Effect.yieldNow
  }
  yield* NoteRows.transaction(sql, sql`DELETE FROM note_words WHERE rowid = ${helperRow}`)
})

/** One step. Gives whether there may be more to do: with less than two changes there was nothing. */
const merge = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, pages: number) {
  const changes = Effect.map(sql<{ readonly n: number }>`SELECT total_changes() AS n`, ([row]) => row?.n ?? 0)
  const step = Effect.gen(function* () {
    const before = yield* changes
    yield* sql`INSERT INTO note_words (note_words, rank) VALUES ('merge', ${pages})`
    return (yield* changes) - before >= 2
  })
  return yield* NoteRows.transaction(sql, step)
})

const hasTraces = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, gone: ReadonlySet<string> | undefined) {
  yield* sql`CREATE VIRTUAL TABLE IF NOT EXISTS temp.note_vocabulary USING fts5vocab(main, note_words, row)`
  // The first byte tells the index of whole words from those of their beginnings; the last may be half a letter.
  const rows = yield* sql<{ readonly beginning: string }>`
    SELECT DISTINCT hex(substr(term, 2)) AS beginning FROM note_words_idx WHERE length(term) > 1`
  const begins = gone === undefined ? undefined : beginningsOf(gone)
  for (const { beginning } of rows) {
    if (begins !== undefined && !begins.has(beginning)) continue
    const [word] = yield* sql`
      SELECT 1 AS found FROM note_vocabulary
      WHERE term >= CAST(unhex(${beginning}) AS TEXT) AND term < CAST(unhex(${beginning} || 'FF') AS TEXT) LIMIT 1`
    if (word === undefined) return true
  }
  return false
})

/** Every beginning of every word, by bytes. */
const beginningsOf = (words: ReadonlySet<string>): ReadonlySet<string> => {
  const beginnings = new Set<string>()
  for (const word of words) {
    let beginning = ""
    for (const byte of new TextEncoder().encode(word)) {
      beginning += byte.toString(16).padStart(2, "0").toUpperCase()
      beginnings.add(beginning)
    }
  }
  return beginnings
}
