import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as SqlClient from "effect/sql/SqlClient"
import * as ApprovalRows from "../../layers/approval/ApprovalRows.ts"
import { ApprovalStore } from "../../src/approval/ApprovalStore.ts"
import * as Action from "../../src/policy/Action.ts"
import { Policy } from "../../src/policy/Policy.ts"
import * as Laws from "../laws/Approvals.ts"
import * as Store from "../laws/Store.ts"
import * as Fixtures from "../tool/Fixtures.ts"

/** The rows of a turn, as its journal writes them. */
const prepared = Layer.effect(
  Laws.Prepared,
  Effect.map(SqlClient.SqlClient, (sql) =>
    Laws.Prepared.of(({ threadId, turnId }) =>
      Effect.orDie(
        Effect.andThen(
          sql`INSERT INTO threads ${sql.insert({ id: threadId, key: `phone:${threadId}`, agent: "troupe", created_at: 0, updated_at: 0 })}`,
          Effect.asVoid(
            sql`INSERT INTO turns ${sql.insert({ id: turnId, thread_id: threadId, state: "running", started_at: 0 })}`
          )
        )
      )
    )
  )
)

Laws.laws(
  "in memory",
  Layer.merge(
    ApprovalStore.layerMemory,
    Layer.succeed(Laws.Prepared, () => Effect.void)
  )
)
for (const { layer, name } of Store.backends) {
  Laws.laws(name, Layer.merge(ApprovalRows.layer, prepared).pipe(Layer.provide(layer)))
}

describe("a yes is needed", () => {
  it.effect("for the tools that a pattern or a rule names", () =>
    Effect.gen(function* () {
      const { judge } = yield* Policy
      const caller = { agent: "troupe", channel: "phone", thread: "phone:main", tainted: false, actions: [Action.call] }
      const decisions = yield* Effect.forEach(["wait", "memory_get", "waits", "grep", "pay"], (tool) =>
        Effect.map(judge({ ...caller, tool }), ({ verdict }) => verdict.decision)
      )
      assert.deepStrictEqual(decisions, ["ask", "ask", "allow", "allow", "ask"])
    }).pipe(
      Effect.provide(
        Fixtures.pipeline({
          tools: {
            approval: { require_approval: ["memory_*", "wait"], rules: { money: { tools: ["pay"], quorum: 2 } } }
          }
        })
      )
    )
  )
})
