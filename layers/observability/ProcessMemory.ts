/** The edge to what the process has of memory. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as v8 from "node:v8"

/** The memory this process holds, in bytes, as the operating system counts it. */
export const residentBytes: Effect.Effect<number> = Effect.sync(() => process.memoryUsage.rss())

/** How many bytes of the heap are in use, and how many may be. A reference, since tests cannot fill it. */
export const Heap = Context.Reference<Effect.Effect<{ readonly used: number; readonly limit: number }>>(
  "troupe/observability/Heap",
  {
    defaultValue: () =>
      Effect.sync(() => {
        const { heap_size_limit: limit, used_heap_size: used } = v8.getHeapStatistics()
        return { used, limit }
      })
  }
)
