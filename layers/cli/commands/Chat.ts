import * as Effect from "effect/Effect"
export const run = (_c: unknown, _f: unknown) => Effect.void
