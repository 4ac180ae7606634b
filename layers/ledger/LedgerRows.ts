/** Side effects as rows: what changes while they happen in columns, the rest as JSON. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as SqlClient from "effect/sql/SqlClient"
import * as Ids from "../../src/Ids.ts"
import * as SideEffect from "../../src/ledger/SideEffect.ts"
import * as Defects from "../storage/Defects.ts"

const Files = SideEffect.FilesChanged.mapFields(({ action, paths }) => ({ action, paths }))
const Call = SideEffect.CallMade.mapFields(({ line, tool }) => ({ line, tool }))

/** What the column `what` holds of a change of files, and of a call. */
export type Files = typeof Files.Type
export type Call = typeof Call.Type

const Row = Schema.Union([
  Schema.Struct({ kind: Schema.Literal("FilesChanged"), what: Schema.fromJsonString(Files) }),
  Schema.Struct({ kind: Schema.Literal("CallMade"), what: Schema.fromJsonString(Call) })
])

const columns = Schema.Struct({
  ord: Schema.Int,
  thread_id: Ids.ThreadId,
  turn_id: Ids.TurnId,
  call_id: Ids.CallId,
  state: SideEffect.State,
  began_at: Schema.Int
})
const decodeColumns = Schema.decodeUnknownEffect(columns)
const decodeRow = Schema.decodeUnknownEffect(Row)

export const encodeFiles = Schema.encodeSync(Schema.fromJsonString(Files))
export const encodeCall = Schema.encodeSync(Schema.fromJsonString(Call))

/** Where and when a side effect began. */
export interface Origin {
  readonly threadId: Ids.ThreadId
  readonly turnId: Ids.TurnId
  readonly callId: Ids.CallId
}

/** Writes that a side effect begins, and gives its place in the ledger. */
export const begin = (
  sql: SqlClient.SqlClient,
  { callId, threadId, turnId }: Origin,
  what: { readonly kind: "FilesChanged" | "CallMade"; readonly what: string },
  now: number
) =>
  Effect.map(
    sql<{ readonly ord: number }>`INSERT INTO side_effects ${sql.insert({
      thread_id: threadId,
      turn_id: turnId,
      call_id: callId,
      ...what,
      state: "begun",
      began_at: now
    })} RETURNING ord`,
    ([row]) => row?.ord ?? 0
  )

export const end = (sql: SqlClient.SqlClient, ord: number, state: SideEffect.State, what?: string) =>
  what === undefined
    ? sql`UPDATE side_effects SET state = ${state} WHERE ord = ${ord}`
    : sql`UPDATE side_effects SET state = ${state}, what = ${what} WHERE ord = ${ord}`

/** The newest `most` of a turn, oldest first. */
export const ofTurn = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  threadId: Ids.ThreadId,
  turnId: Ids.TurnId,
  most: number
) {
  const rows = yield* sql<{ readonly ord: number }>`SELECT * FROM side_effects
    WHERE turn_id = ${turnId} AND thread_id = ${threadId} ORDER BY ord DESC LIMIT ${most}`
  return yield* Effect.forEach(rows.toReversed(), read)
})

const read = (row: { readonly ord: number }): Effect.Effect<SideEffect.SideEffect> =>
  Effect.all([decodeColumns(row), decodeRow(row)]).pipe(
    Effect.map(([{ began_at, call_id, ord, state, thread_id, turn_id }, { kind, what }]): SideEffect.SideEffect => {
      const common = { ord, threadId: thread_id, turnId: turn_id, callId: call_id, state, at: began_at }
      return kind === "FilesChanged" ? { _tag: kind, ...common, ...what } : { _tag: kind, ...common, ...what }
    }),
    Effect.catch(() => Effect.die(new Defects.UnreadableRow({ table: "side_effects", key: String(row.ord) })))
  )

/** The newest turn of a thread with a change of files that stands. */
export const undoable = (sql: SqlClient.SqlClient, threadId: Ids.ThreadId) =>
  Effect.map(
    sql<{ readonly turnId: Ids.TurnId }>`SELECT turn_id AS "turnId" FROM side_effects
      WHERE thread_id = ${threadId} AND kind = 'FilesChanged' AND state <> 'undone' ORDER BY ord DESC LIMIT 1`,
    ([row]) => row?.turnId ?? null
  )

/** Marks changes of files as taken back. */
export const markUndone = (sql: SqlClient.SqlClient, ords: ReadonlyArray<number>) =>
  ords.length === 0 ? Effect.void : sql`UPDATE side_effects SET state = 'undone' WHERE ord IN ${sql.in(ords)}`
