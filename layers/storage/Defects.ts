/**
 * Failures of the store that no caller can answer: the one place where they are told apart from typed errors.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SqlError from "effect/sql/SqlError"
import type { StorageTrouble } from "../../src/storage/StorageError.ts"
import { isStorageUnavailable, StorageUnavailable } from "../../src/storage/StorageError.ts"
import * as NodeSqlite from "./NodeSqlite.ts"

/**
 * Turns a failed statement into a defect: `StorageUnavailable` when the store cannot do its work for now, which whoever runs
 * the operation waits out, and the `SqlError` itself when the statement is wrong.
 */
export const orDefect = <A, E, R>(effect: Effect.Effect<A, E | SqlError.SqlError, R>) =>
  Effect.catchDefect(
    Effect.catchIf(effect, isSqlError, (error) => Effect.die(error)),
    // The control of a transaction fails as a defect already.
    (defect) => Effect.die((SqlError.isSqlError(defect) ? unavailable(defect) : undefined) ?? defect)
  )

/** The same for operations whose callers are told that the store cannot do its work for now. */
export const orUnavailable = <A, E, R>(effect: Effect.Effect<A, E | SqlError.SqlError, R>) =>
  Effect.catchDefect(orDefect(effect), (defect): Effect.Effect<never, StorageUnavailable> =>
    isStorageUnavailable(defect) ? Effect.fail(defect) : Effect.die(defect)
  )

/** What a failed statement says about the store; undefined when it says something about the statement. */
export const unavailable = (error: SqlError.SqlError): StorageUnavailable | undefined => {
  const reason = own[NodeSqlite.resultCode(error) ?? 0] ?? troubles[NodeSqlite.primaryCode(error) ?? 0]
  return reason === undefined ? undefined : new StorageUnavailable({ reason })
}

const own: Readonly<Record<number, StorageTrouble>> = {
  [NodeSqlite.movedCode]: "moved",
  [NodeSqlite.unflushedCode]: "unflushed"
}

// SQLite's primary result codes, https://sqlite.org/rescode.html
const troubles: Readonly<Record<number, StorageTrouble>> = {
  5: "busy",
  6: "busy",
  8: "read-only",
  10: "io",
  13: "full",
  14: "io"
}

/** A stored row that this release cannot read. `key` names the row, never its content. */
export class UnreadableRow extends Schema.TaggedError<UnreadableRow>()("UnreadableRow", {
  table: Schema.String,
  key: Schema.String
}) {
  override get message() {
    return (
      `The row ${this.key} of the table ${this.table} does not have the form this release writes. ` +
      "Restore a backup, or open it with the release that wrote it."
    )
  }
}

/** A caller broke a rule of the store; the transaction was rolled back. Always a bug, so always a defect. */
class RuleBroken extends Schema.TaggedError<RuleBroken>()("RuleBroken", {
  operation: Schema.String,
  rule: Schema.String
}) {
  override get message() {
    return `${this.operation}: ${this.rule}. Nothing was written.`
  }
}

export const ruleBroken = (operation: string, rule: string): Effect.Effect<never> =>
  Effect.die(new RuleBroken({ operation, rule }))

const isSqlError = (error: unknown): error is SqlError.SqlError => SqlError.isSqlError(error)
