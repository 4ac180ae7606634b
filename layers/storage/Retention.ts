/**
 * Removes what has come to the end of its time, a bounded amount in each run: records of replies, messages and earlier lives of
 * the process, contents of attachments and of changed files, side effects, answered questions, notes that have expired, what is left of deleted ones, and
 * files that the runtime wrote for a while. Threads and their entries stay.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import * as Settings from "../../src/config/Settings.ts"
import * as Ids from "../../src/Ids.ts"
import * as ManagedRoot from "../../src/file/ManagedRoot.ts"
import * as TemporaryFolders from "../../src/file/TemporaryFolders.ts"
import { DataDirectory } from "../../src/storage/DataDirectory.ts"
import { Incarnation } from "../../src/storage/Incarnation.ts"
import * as Forgetting from "../memory/Forgetting.ts"
import * as StorageMetrics from "../../src/storage/StorageMetrics.ts"

/** Rows in one transaction, and transactions in one run: other writers come in between, and the next run goes on. */
const batch = 500
const batches = 40

/** How many of each kind a run removed. */
export interface Removed {
  readonly replies: number
  readonly messages: number
  readonly incarnations: number
  readonly attachments: number
  readonly notes: number
  readonly tombstones: number
  readonly contents: number
  readonly effects: number
  readonly approvals: number
  readonly files: number
}

/** One run over everything. */
export const run = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const me = (yield* Incarnation).id
  const { retention } = yield* Settings.Settings
  const now = yield* Clock.currentTimeMillis
  const before = (days: number) => now - Duration.toMillis(Duration.days(days))

  // Ids sort by the time they were made, so an index finds the old ones; those that have not ended are few.
  const replies = yield* rows("replies", () => {
    const limit = before(retention.replies_days)
    return sql`DELETE FROM outbox WHERE ord IN (
      SELECT ord FROM outbox WHERE id < ${Ids.lowerBound("out", limit)} AND ended_at < ${limit} ORDER BY id LIMIT ${batch}
    ) RETURNING ord`
  })
  const messages = yield* rows("messages", () => {
    const limit = before(retention.messages_days)
    return sql`DELETE FROM inbox WHERE id IN (
      SELECT id FROM inbox WHERE id < ${Ids.lowerBound("msg", limit)} AND ended_at < ${limit} ORDER BY id LIMIT ${batch}
    ) RETURNING id`
  })
  const incarnations = yield* rows("incarnations", () => {
    const limit = before(retention.processes_days)
    return sql`DELETE FROM incarnations WHERE id IN (
      SELECT id FROM incarnations WHERE id < ${Ids.lowerBound("inc", limit)} AND id <> ${me}
        AND COALESCE(ended_at, started_at) < ${limit}
        AND NOT EXISTS (SELECT 1 FROM threads WHERE threads.owner = incarnations.id)
        AND NOT EXISTS (SELECT 1 FROM outbox WHERE outbox.sender = incarnations.id)
      ORDER BY id LIMIT ${batch}
    ) RETURNING id`
  })
  const contentsOf = (table: "attachments" | "kept_contents", limit: number, mostBytes: number) =>
    sql`DELETE FROM ${sql(table)} WHERE sha256 IN (
      SELECT sha256 FROM (
        SELECT sha256, used_at, SUM(bytes) OVER (ORDER BY used_at DESC, sha256) AS total FROM ${sql(table)}
      ) AS kept
      WHERE used_at < ${limit} OR (total > ${mostBytes} AND used_at < ${now - youngest})
      ORDER BY used_at LIMIT ${batch}
    ) RETURNING sha256`
  const bytesIn = (table: "attachments" | "kept_contents") =>
    Effect.map(
      sql<{ readonly total: number }>`SELECT COALESCE(SUM(bytes), 0) AS total FROM ${sql(table)}`,
      ([row]) => row?.total ?? 0
    )
  const attachments = yield* rows("attachments", () =>
    contentsOf("attachments", before(retention.attachments_days), retention.attachments_max_bytes)
  )
  yield* Metric.update(StorageMetrics.attachmentBytes, yield* bytesIn("attachments"))
  const contents = yield* rows("contents", () =>
    contentsOf("kept_contents", before(retention.undo_days), retention.undo_max_bytes)
  )
  yield* Metric.update(StorageMetrics.undoBytes, yield* bytesIn("kept_contents"))
  const effects = yield* rows("effects", () => {
    const limit = before(retention.side_effects_days)
    return sql`DELETE FROM side_effects WHERE ord IN (
      SELECT ord FROM side_effects WHERE began_at < ${limit} ORDER BY began_at LIMIT ${batch}
    ) RETURNING ord`
  })
  const approvals = yield* rows("approvals", () => {
    const limit = before(retention.approvals_days)
    return sql`DELETE FROM approvals WHERE id IN (
      SELECT id FROM approvals WHERE id < ${Ids.lowerBound("apr", limit)} AND state NOT IN ('waiting', 'approved')
      ORDER BY id LIMIT ${batch}
    ) RETURNING id`
  })
  const notes = yield* rows("notes", () => Forgetting.expireSome(sql, batch, now))
  const tombstones = yield* rows("tombstones", () => {
    const limit = before(retention.tombstones_days)
    return sql`DELETE FROM note_tombstones WHERE id IN (
      SELECT id FROM note_tombstones WHERE deleted_at < ${limit} ORDER BY deleted_at LIMIT ${batch}
    ) RETURNING id`
  })
  const files = yield* temporaryFiles(before(retention.spill_days))
  yield* sql.unsafe("PRAGMA optimize")
  const inTables = { replies, messages, incarnations, attachments, contents, effects, approvals, notes, tombstones }
  return { ...inTables, files } satisfies Removed
}).pipe(Effect.withSpan("storage.retention"))

const rows = Effect.fnUntraced(function* (
  kind: Exclude<StorageMetrics.Kind, "files">,
  remove: () => Effect.Effect<ReadonlyArray<object>, SqlError>
) {
  let removed = 0
  for (let round = 0; round < batches; round++) {
    const count = (yield* remove()).length
    removed += count
    if (count < batch) break
    yield* Effect.yieldNow
  }
  if (removed > 0) yield* Metric.update(StorageMetrics.removedOf(kind), removed)
  return removed
})

/** What may still be about to be handed to a model is left alone, whatever its size. */
const youngest = Duration.toMillis("1 hour")

interface TemporaryFile {
  readonly path: string
  readonly bytes: number
  readonly at: number
}

const temporaryFiles = Effect.fnUntraced(function* (limit: number) {
  const files = yield* FileSystem.FileSystem
  const { retention } = yield* Settings.Settings
  const now = yield* Clock.currentTimeMillis
  const found = (yield* findTemporary).toSorted((one, other) => one.at - other.at)
  let total = found.reduce((sum, file) => sum + file.bytes, 0)
  let removed = 0
  for (const { at, bytes, path } of found) {
    const tooMany = total > retention.spill_max_bytes && now - at > youngest
    if (at >= limit && !tooMany) continue
    if (Option.isNone(yield* Effect.option(files.remove(path, { force: true })))) continue
    total -= bytes
    removed++
  }
  yield* Metric.update(StorageMetrics.spillBytes, total)
  if (removed > 0) yield* Metric.update(StorageMetrics.removedOf("files"), removed)
  return removed
})

const findTemporary = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  const settings = yield* Settings.Settings
  const now = yield* Clock.currentTimeMillis
  const found: Array<TemporaryFile> = []
  const root = yield* Effect.option(files.realPath(ManagedRoot.of(settings, yield* DataDirectory)))
  if (Option.isNone(root)) return found
  for (const { isOurs, subdir } of TemporaryFolders.of(settings)) {
    // A folder that is a link out of the managed files is not one of them.
    const folder = yield* Effect.option(files.realPath(paths.join(root.value, subdir)))
    if (Option.isNone(folder) || !isWithin(paths.relative(root.value, folder.value), paths.sep)) continue
    const names = yield* Effect.orElseSucceed(files.readDirectory(folder.value), (): Array<string> => [])
    for (const name of names.filter(isOurs)) {
      const path = paths.join(folder.value, name)
      const info = yield* Effect.option(files.stat(path))
      if (Option.isNone(info) || info.value.type !== "File") continue
      const at = Option.match(info.value.mtime, { onNone: () => now, onSome: (time) => time.getTime() })
      found.push({ path, bytes: Number(info.value.size), at })
    }
  }
  return found
})

const isWithin = (relative: string, separator: string): boolean => relative.split(separator)[0] !== ".."
