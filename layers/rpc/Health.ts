/**
 * The health check, for supervisors: open to all, and about progress. A process that runs and serves nobody is not well.
 *
 * `ok` (200): nothing waits, or not for long. `behind` (503): the oldest message has waited for longer than turns may take.
 * `failing` (503): the store cannot be written, and `problem` says why. `unavailable` (503): the store does not answer.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { Settings } from "../../src/config/Settings.ts"
import { Overview } from "../../src/rpc/Overview.ts"
import * as StorageError from "../../src/storage/StorageError.ts"
import * as Wire from "../../src/rpc/Wire.ts"

export const layer = HttpRouter.use((router) =>
  Effect.gen(function* () {
    const overview = yield* Overview
    const { runtime } = yield* Settings
    // Some messages wait for a turn to end and then for their own, and a person may take a while to approve.
    const longest = 10 * Duration.toMillis(runtime.agent_timeout_seconds)
    yield* router.add(
      "GET",
      Wire.healthPath,
      overview.read.pipe(
        Effect.timeout("2 seconds"),
        Effect.map(({ oldestOwedMillis, storageFailing }) => {
          const behind = oldestOwedMillis !== null && oldestOwedMillis > longest
          return storageFailing === null
            ? answer(behind ? "behind" : "ok", oldestOwedMillis)
            : answer("failing", oldestOwedMillis, StorageError.explain(storageFailing.reason))
        }),
        Effect.catchCause((cause) =>
          Effect.as(Effect.logWarning("The health check failed", cause), answer("unavailable", null))
        )
      )
    )
  })
)

const answer = (
  status: "ok" | "behind" | "failing" | "unavailable",
  oldestOwedMillis: number | null,
  problem?: string
) =>
  HttpServerResponse.jsonUnsafe(
    { status, oldest_owed_ms: oldestOwedMillis, ...(problem === undefined ? {} : { problem }) },
    { status: status === "ok" ? 200 : 503 }
  )
