import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { Environment } from "../../src/config/Environment.ts"

/** The environment of this process: the one place that touches `process.env`. */
export const layer: Layer.Layer<Environment> = Layer.succeed(Environment, {
  get: (name) => Effect.sync(() => Option.fromUndefinedOr(process.env[name])),
  all: Effect.sync(() =>
    Object.fromEntries(
      Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
    )
  )
})
