/**
 * The cluster in one process: this process owns every thread, which the lock on the data directory makes true. Actors get
 * volatile messages only, so there is no message storage; several machines need another runner layer and nothing else.
 */
import * as MessageStorage from "effect/cluster/MessageStorage"
import * as RunnerHealth from "effect/cluster/RunnerHealth"
import * as Runners from "effect/cluster/Runners"
import * as RunnerStorage from "effect/cluster/RunnerStorage"
import * as Sharding from "effect/cluster/Sharding"
import * as ShardingConfig from "effect/cluster/ShardingConfig"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Settings from "../../src/config/Settings.ts"

/** Far above what a process should hold; the bound that matters is how soon idle conversations leave memory. */
const maxResidentConversations = 200_000

export const layer = Layer.unwrap(
  Effect.map(Settings.Settings, ({ runtime }) =>
    Sharding.layer.pipe(
      Layer.provideMerge(Runners.layerNoop),
      Layer.provide([MessageStorage.layerNoop, RunnerStorage.layerMemory, RunnerHealth.layerNoop]),
      Layer.provide(
        ShardingConfig.layer({
          maxResidentEntities: maxResidentConversations,
          entityTerminationTimeout: runtime.shutdown_grace_seconds,
          // Nothing leaves the process, so encoding every message to prove that it could would be wasted.
          simulateRemoteSerialization: false
        })
      )
    )
  )
)
