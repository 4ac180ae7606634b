/** Where a path leads, without links. A call of the system takes microseconds; handing it to a thread and back takes ten times as long. */
import { realpathSync } from "node:fs"
import * as Effect from "effect/Effect"

export const of = (path: string): Effect.Effect<string, "not there"> =>
  Effect.try({ try: () => realpathSync.native(path), catch: () => "not there" as const })
