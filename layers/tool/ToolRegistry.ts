/** The registry in memory: tools and wrappers come and go with the scopes that added them. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Registration from "../../src/tool/Registration.ts"
import * as ToolName from "../../src/tool/ToolName.ts"
import { ToolNameRefused, ToolNameTaken, ToolRegistry } from "../../src/tool/ToolRegistry.ts"

export const layer: Layer.Layer<ToolRegistry> = Layer.sync(ToolRegistry, () => {
  const registrations = new Map<string, Registration.Registration>()
  const wrappers: Array<Registration.Wrapper> = []

  const register = Effect.fn("ToolRegistry.register")(function* (registration: Registration.Registration) {
    const { name } = registration.tool
    if (!ToolName.acceptable(name)) return yield* new ToolNameRefused({ tool: name })
    if (registrations.has(name)) return yield* new ToolNameTaken({ tool: name })
    yield* Effect.acquireRelease(
      Effect.sync(() => registrations.set(name, registration)),
      () => Effect.sync(() => registrations.delete(name))
    )
  })

  const wrap = Effect.fn("ToolRegistry.wrap")(function* (wrapper: Registration.Wrapper) {
    yield* Effect.acquireRelease(
      Effect.sync(() => wrappers.push(wrapper)),
      () => Effect.sync(() => wrappers.splice(wrappers.indexOf(wrapper), 1))
    )
  })

  return ToolRegistry.of({
    register,
    wrap,
    all: Effect.sync(() => inOrder(registrations.values()).map((registration) => registration.tool)),
    find: (name) => Effect.sync(() => registrations.get(name)),
    offered: (turn) =>
      Effect.sync(() => {
        const offered = inOrder(registrations.values()).filter(
          ({ offeredWhen, tool }) => tool.name === ToolName.answering || offeredWhen(turn)
        )
        return new Map(offered.map((registration) => [registration.tool.name, registration] as const))
      }),
    wrappers: Effect.sync(() => wrappers.slice())
  })
})

/** In the order of registration, but what declares the answer comes first. */
const inOrder = (registrations: Iterable<Registration.Registration>): ReadonlyArray<Registration.Registration> =>
  Array.from(registrations).toSorted((left, right) => Number(isAnswering(right)) - Number(isAnswering(left)))

const isAnswering = (registration: Registration.Registration): boolean => registration.tool.name === ToolName.answering
