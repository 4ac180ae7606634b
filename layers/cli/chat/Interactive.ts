import * as Effect from "effect/Effect"
export const chat = (_t: unknown) => Effect.void
