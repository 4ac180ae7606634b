import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as ToolRegistryLive from "../../layers/tool/ToolRegistry.ts"
import { Settings } from "../../src/config/Settings.ts"
import * as Tool from "../../src/tool/Tool.ts"
import * as ToolRegistry from "../../src/tool/ToolRegistry.ts"
import * as Fixtures from "./Fixtures.ts"

const toolOf = <const Name extends string>(name: Name) =>
  Tool.make(name, {
    description: "A tool for tests.",
    parameters: Schema.Struct({}),
    success: Schema.Struct({}),
    failure: Tool.NoFailure,
    limits: { timeout: "1 second", output: { maxChars: 10 } },
    cancellation: "interruptible",
    replay: "safe",
    capabilities: []
  })

const named = (name: string, offeredWhen?: () => boolean) => {
  const tool = toolOf(name)
  const [registration] = ToolRegistry.bindAll([tool], { [name]: () => Effect.succeed({}) }, offeredWhen)
  return registration === undefined ? Effect.die("nothing was bound") : Effect.succeed(registration)
}

const register = (name: string, offeredWhen?: () => boolean) =>
  Effect.flatMap(named(name, offeredWhen), (registration) =>
    ToolRegistry.ToolRegistry.use((registry) => registry.register(registration))
  )

describe("the registry", () => {
  it.effect("refuses a second tool of a name, until the first is gone", () =>
    Effect.gen(function* () {
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* register("one")
          assert.strictEqual((yield* Effect.flip(register("one")))._tag, "ToolNameTaken")
        })
      )
      assert.deepStrictEqual(yield* (yield* ToolRegistry.ToolRegistry).all, [])
      yield* register("one")
    }).pipe(Effect.provide(ToolRegistryLive.layer))
  )

  it.effect("refuses names that models do not take, and old names", () =>
    Effect.gen(function* () {
      for (const name of ["", "a b", "a.b", "ä", "x".repeat(65), "http_client", "unknown_tool"]) {
        assert.strictEqual((yield* Effect.flip(register(name)))._tag, "ToolNameRefused", name)
      }
    }).pipe(Effect.provide(ToolRegistryLive.layer))
  )

  it.effect("offers what its turn is offered, pre_response first and always", () =>
    Effect.gen(function* () {
      yield* register("b")
      yield* register("a", () => false)
      yield* register("pre_response", () => false)
      const registry = yield* ToolRegistry.ToolRegistry
      const offered = yield* registry.offered(yield* Fixtures.makeScope())
      assert.deepStrictEqual(Array.from(offered.keys()), ["pre_response", "b"])
      assert.deepStrictEqual(
        (yield* registry.all).map((tool) => tool.name),
        ["pre_response", "b", "a"]
      )
      assert.strictEqual((yield* registry.find("a"))?.tool.name, "a")
      assert.isUndefined(yield* registry.find("c"))
    }).pipe(Effect.provide(ToolRegistryLive.layer))
  )

  it.effect("gets tools from layers, with handlers and offers out of effects", () => {
    const tools = ToolRegistry.layer(
      [toolOf("one"), toolOf("two")],
      Effect.succeed({ one: () => Effect.succeed({}), two: () => Effect.succeed({}) }),
      { offeredWhen: Settings.useSync((settings) => () => settings.tools.wait.enabled) }
    )
    return Effect.gen(function* () {
      const registry = yield* ToolRegistry.ToolRegistry
      assert.lengthOf(yield* registry.all, 2)
      assert.strictEqual((yield* registry.offered(yield* Fixtures.makeScope())).size, 0)
      assert.isTrue(Exit.isFailure(yield* Effect.exit(Layer.build(Layer.fresh(tools)))))
    }).pipe(Effect.provide(Layer.provideMerge(tools, Layer.merge(ToolRegistryLive.layer, Settings.layer()))))
  })
})
