/**
 * Capabilities: the named authorities a tool's handler may require.
 *
 * A capability is a service class. A tool lists the classes it needs; its handler can use these services and no others,
 * and the pipeline hands a call exactly the listed ones out of what the turn was granted. Authority shrinks by leaving
 * a service out of the grant; nothing can put it back.
 *
 * ```ts
 * class FsRead extends Capability.Service<FsRead, { readonly read: (path: string) => Effect<string> }>()("FsRead") {}
 * ```
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type * as ToolContext from "./ToolContext.ts"

const TypeId = "~troupe/tool/Capability"

/** The class of a capability: a service key that knows its public name, as used in policies and in docs. */
export interface Capability<in out Self, in out Shape> extends Context.Service<Self, Shape> {
  readonly [TypeId]: typeof TypeId
  readonly capability: string
}

export interface Any {
  readonly [TypeId]: typeof TypeId
  readonly key: string
  readonly capability: string
  readonly Identifier: unknown
  readonly Service: unknown
}

/** The services that a list of capabilities stands for. */
export type Services<Capabilities extends ReadonlyArray<Any>> = Capabilities[number]["Identifier"]

/** Declares a capability. `name` is public: PascalCase, unique among all capabilities. */
export const Service =
  <Self, Shape>() =>
  <const Name extends string>(name: Name) => {
    const key = Context.Service<Self, Shape>()(`troupe/capability/${name}`)
    return Object.assign(key, { [TypeId]: TypeId, capability: name } as const)
  }

/** A tool asked for a capability that this turn, or this chain of agents, was not given. */
export class CapabilityNotGranted extends Schema.TaggedError<CapabilityNotGranted>()("CapabilityNotGranted", {
  capability: Schema.String,
  tool: Schema.String
}) {
  readonly code = "tool:capability_not_granted"
  override get message() {
    return `The tool ${this.tool} needs the capability ${this.capability}, which this turn was not given.`
  }
}

/** Makes the service of one capability for one turn, so that it reaches this thread and this house and nothing else. */
export type Grant<Shape> = (context: ToolContext.TurnScope) => Effect.Effect<Shape>

/**
 * Who can give which capability. Layers register one grant a capability; a turn is given what its agent may have.
 */
export class Grants extends Context.Service<
  Grants,
  {
    readonly register: <Self, Shape>(
      capability: Capability<Self, Shape>,
      grant: Grant<Shape>
    ) => Effect.Effect<void, never, Scope.Scope>
    /** All registered capabilities, made for this turn. Delegation narrows the result. */
    readonly forTurn: (scope: ToolContext.TurnScope) => Effect.Effect<Granted>
  }
>()("troupe/tool/Grants") {}

/** The capability services of one turn. */
export interface Granted {
  /** Exactly the listed capabilities, or the first one that is missing. */
  readonly pick: <const Capabilities extends ReadonlyArray<Any>>(
    tool: string,
    capabilities: Capabilities
  ) => Effect.Effect<Context.Context<Services<Capabilities>>, CapabilityNotGranted>
  /** The same grant without the capabilities that are not in the list. */
  readonly narrow: (capabilities: ReadonlyArray<string>) => Granted
  /** The same grant with one more capability, or with another service for it. */
  readonly with: <Self, Shape>(capability: Capability<Self, Shape>, service: NoInfer<Shape>) => Granted
  readonly names: ReadonlyArray<string>
}

/** A service under the public name of its capability and the key of its class. */
interface Entry {
  readonly capability: string
  readonly key: string
  readonly service: unknown
}

const grantedFrom = (entries: ReadonlyArray<Entry>): Granted => ({
  pick: <const Capabilities extends ReadonlyArray<Any>>(tool: string, capabilities: Capabilities) =>
    Effect.suspend(() => {
      const services = new Map<string, unknown>()
      for (const { capability, key } of capabilities) {
        const entry = entries.find((one) => one.key === key)
        if (entry === undefined) return Effect.fail(new CapabilityNotGranted({ capability, tool }))
        services.set(key, entry.service)
      }
      return Effect.succeed(Context.makeUnsafe<Services<Capabilities>>(services))
    }),
  narrow: (names) => grantedFrom(entries.filter((entry) => names.includes(entry.capability))),
  with: ({ capability, key }, service) =>
    grantedFrom([...entries.filter((entry) => entry.key !== key), { capability, key, service }]),
  names: entries.map((entry) => entry.capability)
})

/** A grant of nothing; `with` adds to it. */
export const nothingGranted: Granted = grantedFrom([])
