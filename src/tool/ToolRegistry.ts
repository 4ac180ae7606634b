/**
 * All tools of the process and their handlers. A tool comes in through `layer`, which does not compile without a handler
 * for each tool; what a turn may see of it is decided when the turn starts and checked again on each call.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type * as Tool from "./Tool.ts"
import type * as ToolContext from "./ToolContext.ts"

/** Whether a turn is offered a tool. Pure in the turn: it is asked once, when the turn starts. */
export type OfferedWhen = (turn: ToolContext.TurnScope) => boolean

/** A tool with its handler, types forgotten. Only `ToolRegistry.layer` makes one, so that the two always fit. */
export interface Registration {
  readonly tool: Tool.Any
  readonly handler: (parameters: never) => Effect.Effect<unknown, Tool.Failure, never> | Tool.Atomic<unknown, Tool.Failure, never>
  readonly offeredWhen: OfferedWhen
}

/**
 * Around every handler, innermost: sees raw parameters and the raw result of each call of each tool. Must be pure: it is
 * applied again whenever the list of tools is rebuilt.
 */
export interface Wrapper {
  readonly name: string
  readonly wrap: <A, E, R>(
    tool: Tool.Any,
    parameters: unknown,
    call: Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E | Tool.Failure, R>
}

export class ToolNameTaken extends Schema.TaggedError<ToolNameTaken>()("ToolNameTaken", { tool: Schema.String }) {
  override get message() {
    return `Two tools are named ${JSON.stringify(this.tool)}. A name has one binding: rename one, or offer them in different turns.`
  }
}

export class ToolRegistry extends Context.Service<
  ToolRegistry,
  {
    readonly register: (registration: Registration) => Effect.Effect<void, ToolNameTaken, Scope.Scope>
    readonly wrap: (wrapper: Wrapper) => Effect.Effect<void, never, Scope.Scope>
    /** Every registered tool, also those that no turn is offered now. */
    readonly all: Effect.Effect<ReadonlyArray<Tool.Any>>
    /** What the turn is offered, before policy: name → registration, `pre_response` first. */
    readonly offered: (turn: ToolContext.TurnScope) => Effect.Effect<ReadonlyMap<string, Registration>>
    readonly wrappers: Effect.Effect<ReadonlyArray<Wrapper>>
  }
>()("troupe/tool/ToolRegistry") {}
