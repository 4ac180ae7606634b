import * as Effect from "effect/Effect"

/** The memory this process holds, in bytes, as the operating system counts it. */
export const residentBytes: Effect.Effect<number> = Effect.sync(() => process.memoryUsage.rss())
