/** Grants in memory: each capability has at most one way of being given, the one registered last. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Capability from "../../src/tool/Capability.ts"
import type * as ToolContext from "../../src/tool/ToolContext.ts"

/** Adds the service of one capability, made for this turn, to what is granted. */
type AddTo = (granted: Capability.Granted, turn: ToolContext.TurnScope) => Effect.Effect<Capability.Granted>

export const layer: Layer.Layer<Capability.Grants> = Layer.sync(Capability.Grants, () => {
  const grants: Array<AddTo> = []

  const register = Effect.fn("Grants.register")(function* <Self, Shape>(
    capability: Capability.Capability<Self, Shape>,
    grant: Capability.Grant<Shape>
  ) {
    const addTo: AddTo = (granted, turn) => Effect.map(grant(turn), (service) => granted.with(capability, service))
    yield* Effect.acquireRelease(
      Effect.sync(() => grants.push(addTo)),
      () => Effect.sync(() => grants.splice(grants.indexOf(addTo), 1))
    )
  })

  const forTurn = Effect.fn("Grants.forTurn")(function* (turn: ToolContext.TurnScope) {
    let granted = Capability.nothingGranted
    for (const addTo of grants.slice()) granted = yield* addTo(granted, turn)
    return granted
  })

  return Capability.Grants.of({ register, forTurn })
})
