import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Live from "../../layers/config/Environment.ts"
import { Environment } from "../../src/config/Environment.ts"

const get = (name: string) => Effect.flatMap(Environment, (environment) => environment.get(name))

it.effect("the live environment is the one of the process", () =>
  Effect.gen(function* () {
    assert.deepStrictEqual(yield* get("PATH"), Option.fromUndefinedOr(process.env["PATH"]))
    assert.deepStrictEqual(yield* get("TROUPE_SURELY_NOT_SET"), Option.none())
  }).pipe(Effect.provide(Live.layer))
)

it.effect("a table stands for one, and an empty value is a value", () =>
  Effect.gen(function* () {
    assert.deepStrictEqual(yield* get("A"), Option.some(""))
    assert.deepStrictEqual(yield* get("toString"), Option.none())
  }).pipe(Effect.provide(Environment.layerTable({ A: "" })))
)
