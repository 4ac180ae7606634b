/**
 * Failures of the store that no caller can answer: the one place where they are told apart from typed errors.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SqlError from "effect/sql/SqlError"

/**
 * Turns a failed statement into a defect. A full disk or a database that stays busy is to become a typed error of the
 * repositories: this is where it is recognised then (`error.reason`).
 */
export const orDefect = <A, E, R>(effect: Effect.Effect<A, E | SqlError.SqlError, R>) =>
  Effect.catchIf(effect, isSqlError, (error) => Effect.die(error))

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
