import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"

/** The environment variables of the process. Nothing else in the program reads them. */
export class Environment extends Context.Service<
  Environment,
  {
    /** The value of a variable; `None` if it is not set. One that is set but empty is `Some("")`. */
    readonly get: (name: string) => Effect.Effect<Option.Option<string>>
    /** All of them. */
    readonly all: Effect.Effect<Readonly<Record<string, string>>>
  }
>()("troupe/config/Environment") {
  /** An environment given as a table, for tests and for programs that embed the runtime. */
  static readonly layerTable = (variables: Readonly<Record<string, string>>): Layer.Layer<Environment> =>
    Layer.succeed(Environment, {
      get: (name) =>
        Effect.sync(() => (Object.hasOwn(variables, name) ? Option.fromUndefinedOr(variables[name]) : Option.none())),
      all: Effect.succeed(variables)
    })
}
