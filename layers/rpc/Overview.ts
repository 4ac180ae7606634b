/** The figures, counted in the store when they are asked for. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Sharding from "effect/cluster/Sharding"
import * as SqlClient from "effect/sql/SqlClient"
import * as SqlSchema from "effect/sql/SqlSchema"
import { Outbox } from "../../src/channel/Outbox.ts"
import { Held } from "../../src/conversation/Held.ts"
import { Journal } from "../../src/conversation/Journal.ts"
import { Overview } from "../../src/rpc/Overview.ts"
import { StorageHealth } from "../../src/storage/StorageHealth.ts"

export const layer: Layer.Layer<Overview, never, SqlClient.SqlClient | Journal | Outbox | Held | StorageHealth> =
  Layer.effect(
    Overview,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const journal = yield* Journal
      const outbox = yield* Outbox
      const held = yield* Held
      const health = yield* StorageHealth
      const count = SqlSchema.findOne({
        Request: Schema.Void,
        Result: Schema.Struct({ threads: Schema.Int, running: Schema.Int, approvals: Schema.Int }),
        execute: () => sql`SELECT
        (SELECT count(*) FROM threads) AS threads,
        (SELECT count(*) FROM approvals WHERE state IN ('waiting', 'approved') AND state = 'waiting') AS approvals,
        (SELECT count(*) FROM turns WHERE state = 'running'
          AND NOT EXISTS (SELECT 1 FROM threads WHERE threads.id = turns.thread_id AND threads.held = 1)) AS running`
      })
      const sharding = yield* Effect.serviceOption(Sharding.Sharding)
      const actors = Option.match(sharding, {
        onNone: () => Effect.succeed(0),
        onSome: (shards) => shards.activeEntityCount
      })
      return Overview.of({
        read: Effect.gen(function* () {
          const { approvals, running, threads } = yield* Effect.orDie(count())
          return {
            threads,
            activeConversations: yield* actors,
            runningTurns: running,
            waitingApprovals: approvals,
            oldestOwedMillis: yield* journal.oldestOwed,
            undelivered: yield* outbox.pending,
            storageFailing: yield* health.failing,
            held: yield* held.count
          }
        }).pipe(Effect.withSpan("Overview.read"))
      })
    })
  )
