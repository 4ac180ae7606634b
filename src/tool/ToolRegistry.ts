/**
 * All tools of the process and their handlers. A tool comes in through `layer`, which does not compile without a handler
 * for each tool; what a turn may see of it is decided when the turn starts and checked again on each call.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Registration from "./Registration.ts"
import type * as Tool from "./Tool.ts"
import type * as ToolContext from "./ToolContext.ts"

export class ToolNameTaken extends Schema.TaggedError<ToolNameTaken>()("ToolNameTaken", { tool: Schema.String }) {
  override get message() {
    return `Two tools are named ${JSON.stringify(this.tool)}. A name has one binding: give one of them another name.`
  }
}

/** The name is an old name of another tool, or not 1 to 64 of the letters, digits, `_` and `-` that all models take. */
export class ToolNameRefused extends Schema.TaggedError<ToolNameRefused>()("ToolNameRefused", {
  tool: Schema.String
}) {
  override get message() {
    return (
      `A tool cannot be named ${JSON.stringify(this.tool)}. Use 1 to 64 letters, digits, "_" and "-", ` +
      "and no old name of another tool."
    )
  }
}

export type RegisterError = ToolNameTaken | ToolNameRefused

export class ToolRegistry extends Context.Service<
  ToolRegistry,
  {
    /** Adds a tool for the life of the scope. */
    readonly register: (registration: Registration.Registration) => Effect.Effect<void, RegisterError, Scope.Scope>
    /** Adds a wrapper for the life of the scope, around those added before it. */
    readonly wrap: (wrapper: Registration.Wrapper) => Effect.Effect<void, never, Scope.Scope>
    /** Every registered tool, also those that no turn is offered now. */
    readonly all: Effect.Effect<ReadonlyArray<Tool.Any>>
    /** The tool of this name, offered now or not. */
    readonly find: (name: string) => Effect.Effect<Registration.Registration | undefined>
    /** What the turn is offered, before policy: name → registration, `pre_response` first. */
    readonly offered: (turn: ToolContext.TurnScope) => Effect.Effect<ReadonlyMap<string, Registration.Registration>>
    /** Innermost first. */
    readonly wrappers: Effect.Effect<ReadonlyArray<Registration.Wrapper>>
  }
>()("troupe/tool/ToolRegistry") {}

/** When a turn is offered the tools of a layer: a predicate, or an effect (of the settings, say) that gives one. */
export type Offering<E = never, R = never> = Registration.OfferedWhen | Effect.Effect<Registration.OfferedWhen, E, R>

/** No handler but those of the tools. */
type NoOthers<Tools extends ReadonlyArray<Tool.Any>, Given> = {
  readonly [Name in Exclude<keyof Given, Tools[number]["name"]>]: never
}

/**
 * Registers tools with their handlers for the life of the layer. `handlers` is an object with one handler for each tool,
 * or an effect that gives one; what that effect requires, the layer requires.
 *
 * ```ts
 * export const layer = ToolRegistry.layer([CurrentDatetime], Effect.gen(function* () {
 *   const { tools } = yield* Settings
 *   return { current_datetime: ({ format }) => render(format ?? tools.time.default_format) }
 * }))
 * ```
 */
export const layer = <
  const Tools extends ReadonlyArray<Tool.Any>,
  Given extends Tool.Handlers<Tools>,
  E = never,
  R = never,
  OfferE = never,
  OfferR = never
>(
  tools: Tools,
  handlers: (Given & NoOthers<Tools, Given>) | Effect.Effect<Given & NoOthers<Tools, Given>, E, R>,
  options?: { readonly offeredWhen?: Offering<OfferE, OfferR> }
): Layer.Layer<never, E | OfferE | RegisterError, ToolRegistry | Exclude<R | OfferR, Scope.Scope>> =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const registry = yield* ToolRegistry
      const given: Tool.Handlers<Tools> = Effect.isEffect(handlers) ? yield* handlers : handlers
      const offering = options?.offeredWhen
      const offeredWhen = Effect.isEffect(offering) ? yield* offering : offering
      yield* Effect.forEach(bindAll(tools, given, offeredWhen), registry.register, { discard: true })
    })
  )

/** Binds each tool to the handler of its name. */
export const bindAll = <const Tools extends ReadonlyArray<Tool.Any>>(
  tools: Tools,
  handlers: Tool.Handlers<Tools>,
  offeredWhen?: Registration.OfferedWhen
): ReadonlyArray<Registration.Registration> => {
  const bindOne = <Name extends Tools[number]["name"]>(name: Name) =>
    tools
      .filter((tool): tool is Extract<Tools[number], { readonly name: Name }> => tool.name === name)
      .map((tool) => Registration.bind(tool, handlers[name], offeredWhen))
  return tools.flatMap((tool) => bindOne(tool.name))
}
