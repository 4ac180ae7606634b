/** Questions and grants as rows: what is looked for and what changes in columns, the rest as JSON. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SqlClient from "effect/sql/SqlClient"
import * as Approval from "../../src/approval/Approval.ts"
import { ApprovalStore, mostListed } from "../../src/approval/ApprovalStore.ts"
import * as Grant from "../../src/approval/Grant.ts"
import type * as Ids from "../../src/Ids.ts"
import * as Defects from "../storage/Defects.ts"

interface Row {
  readonly id: string
  readonly state: string
  readonly revision: number
  readonly about: string
}

const Stored = Schema.fromJsonString(Approval.Approval)
const decodeApproval = Schema.decodeEffect(Stored)
const encodeApproval = Schema.encodeSync(Stored)
const StoredGrant = Schema.fromJsonString(Grant.Grant)
const decodeGrant = Schema.decodeEffect(StoredGrant)
const encodeGrant = Schema.encodeSync(StoredGrant)

const unreadable = (table: string, key: string) => () => Effect.die(new Defects.UnreadableRow({ table, key }))

const read = ({ about, id }: Row): Effect.Effect<Approval.Approval> =>
  Effect.catch(decodeApproval(about), unreadable("approvals", id))

const readGrant = ({ about, id }: Pick<Row, "about" | "id">): Effect.Effect<Grant.Grant> =>
  Effect.catch(decodeGrant(about), unreadable("approval_grants", id))

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  const columns = (approval: Approval.Approval) => ({
    id: approval.approvalId,
    thread_id: approval.threadId,
    turn_id: approval.turnId,
    call_id: approval.callId,
    effect: approval.effect,
    state: approval.state,
    revision: 1,
    about: encodeApproval(approval)
  })

  const rowOf = (id: Ids.ApprovalId) => Effect.map(sql<Row>`SELECT * FROM approvals WHERE id = ${id}`, ([row]) => row)

  const keep = (grant: Grant.Grant) =>
    sql`INSERT INTO approval_grants ${sql.insert({
      id: grant.grantId,
      effect: grant.effect,
      turn_id: grant.scope === "turn" ? grant.turnId : null,
      about: encodeGrant(grant)
    })}`

  /** Writes what was made of a row, if it is still that row. */
  const replace = (row: Row, after: Approval.Approval, grant: Grant.Grant | undefined) =>
    sql.withTransaction(
      Effect.gen(function* () {
        const written = yield* sql`UPDATE approvals SET state = ${after.state}, revision = ${row.revision + 1},
          about = ${encodeApproval(after)} WHERE id = ${row.id} AND revision = ${row.revision} RETURNING id`
        if (written.length > 0 && grant !== undefined) yield* keep(grant)
        return written.length > 0
      })
    )

  const change = <E>(
    id: Ids.ApprovalId,
    step: (approval: Approval.Approval) => Result.Result<Approval.Approval | undefined, E>,
    grant?: (approval: Approval.Approval) => Grant.Grant | undefined
  ): Effect.Effect<Approval.Approval | undefined, E> =>
    Effect.gen(function* () {
      for (;;) {
        const row = yield* Defects.orDefect(rowOf(id))
        if (row === undefined) return undefined
        const after = yield* Effect.fromResult(step(yield* read(row)))
        if (after === undefined || (yield* Defects.orDefect(replace(row, after, grant?.(after))))) return after
      }
    })

  const all = (rows: ReadonlyArray<Row>) => Effect.forEach(rows, read)

  return ApprovalStore.of({
    insert: (approval) => Defects.orDefect(Effect.asVoid(sql`INSERT INTO approvals ${sql.insert(columns(approval))}`)),
    find: (id) =>
      Effect.flatMap(Defects.orDefect(rowOf(id)), (row) => (row === undefined ? Effect.undefined : read(row))),
    ofCall: (callId, effect) =>
      Defects.orDefect(
        sql<Row>`SELECT * FROM approvals WHERE call_id = ${callId} AND effect = ${effect} ORDER BY id DESC LIMIT 1`
      ).pipe(Effect.flatMap(([row]) => (row === undefined ? Effect.undefined : read(row)))),
    callState: (callId) =>
      Effect.map(
        Defects.orDefect(
          sql<{ readonly state: string }>`SELECT DISTINCT state FROM approvals WHERE call_id = ${callId}`
        ),
        (rows) => (rows.length === 0 ? "unasked" : rows.some(({ state }) => state === "used") ? "begun" : "held")
      ),
    change,
    waiting: (threadId) =>
      Effect.flatMap(
        Defects.orDefect(
          threadId === undefined
            ? sql<Row>`SELECT * FROM approvals WHERE state IN ('waiting', 'approved') AND state = 'waiting'
                ORDER BY id LIMIT ${mostListed}`
            : sql<Row>`SELECT * FROM approvals WHERE thread_id = ${threadId} AND state IN ('waiting', 'approved')
                AND state = 'waiting' ORDER BY id LIMIT ${mostListed}`
        ),
        all
      ),
    open: (turnId) =>
      Effect.flatMap(
        Defects.orDefect(
          sql<Row>`SELECT * FROM approvals WHERE thread_id = (SELECT thread_id FROM turns WHERE id = ${turnId})
            AND turn_id = ${turnId} AND state IN ('waiting', 'approved') ORDER BY id LIMIT ${mostListed}`
        ),
        all
      ),
    insertGranted: (approval) =>
      Defects.orDefect(
        sql.withTransaction(
          Effect.gen(function* () {
            const found = yield* sql`SELECT id FROM approval_grants WHERE id = ${approval.grantId}`
            if (found.length > 0) yield* sql`INSERT INTO approvals ${sql.insert(columns(approval))}`
            return found.length > 0
          })
        )
      ),
    grants: (effect) =>
      Effect.flatMap(
        Defects.orDefect(
          effect === undefined
            ? sql<Row>`SELECT * FROM approval_grants ORDER BY id DESC LIMIT ${mostListed}`
            : sql<Row>`SELECT * FROM approval_grants WHERE effect = ${effect} ORDER BY id DESC LIMIT ${mostListed}`
        ),
        (rows) => Effect.forEach(rows, readGrant)
      ),
    revoke: (grantId) =>
      Effect.flatMap(Defects.orDefect(sql`DELETE FROM approval_grants WHERE id = ${grantId} RETURNING id`), (rows) =>
        rows.length > 0 ? Effect.void : Effect.fail(new Grant.GrantNotFound({ grantId }))
      ),
    endTurn: (turnId) => Defects.orDefect(Effect.asVoid(sql`DELETE FROM approval_grants WHERE turn_id = ${turnId}`))
  })
})

export const layer: Layer.Layer<ApprovalStore, never, SqlClient.SqlClient> = Layer.effect(ApprovalStore, make)
