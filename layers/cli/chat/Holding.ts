/** Whether a thread is held back, as far as the daemon says: a restored copy leaves some alone until a person has decided. */
import * as Effect from "effect/Effect"
import { TroupeClient } from "../../../src/client/TroupeClient.ts"
import type * as Ids from "../../../src/Ids.ts"

/** False also when the daemon does not say it: then there is nothing to tell. */
export const holds = (threadId: Ids.ThreadId): Effect.Effect<boolean, never, TroupeClient> =>
  Effect.flatMap(TroupeClient, (client) => client.Held()).pipe(
    Effect.map(({ threads }) => threads.some((thread) => thread.threadId === threadId)),
    Effect.timeout("5 seconds"),
    Effect.orElseSucceed(() => false)
  )
