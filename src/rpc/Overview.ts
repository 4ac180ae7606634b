/** The state of the whole runtime in a few numbers, for `Status` and the health check. */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { Failing } from "../storage/StorageHealth.ts"

export interface Figures {
  readonly threads: number
  /** Conversations that hold memory now. */
  readonly activeConversations: number
  readonly runningTurns: number
  /** Questions that wait for a person's answer. */
  readonly waitingApprovals: number
  /** Age of the oldest message without an outcome, in milliseconds; null when nothing is owed. */
  readonly oldestOwedMillis: number | null
  readonly undelivered: ReadonlyArray<{ readonly channel: string; readonly count: number }>
  /** Why the store cannot be written, and since when; null when it can. */
  readonly storageFailing: Failing | null
  /** Threads with owed work and replies that a restored copy holds back. */
  readonly held: { readonly threads: number; readonly replies: number }
}

export class Overview extends Context.Service<Overview, { readonly read: Effect.Effect<Figures> }>()(
  "troupe/rpc/Overview"
) {}
