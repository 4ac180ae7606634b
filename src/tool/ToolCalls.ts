/**
 * Running tool calls: the one pipeline for main agents, task workers, scripts, MCP and RPC.
 *
 * Inside out: handler → extension wrappers → mask → record → limits → spill → taint → approval → events. The set of tools is fixed when a turn
 * starts; each call is checked again before it runs.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as JsonSchema from "effect/JsonSchema"
import type * as Ids from "../Ids.ts"
import type * as Taint from "../policy/Taint.ts"
import type * as Capability from "./Capability.ts"
import type * as Registration from "./Registration.ts"
import type * as Tool from "./Tool.ts"
import type * as ToolContext from "./ToolContext.ts"
import type * as ToolResult from "./ToolResult.ts"

/** How a tool is put to a model. */
export interface Offer {
  readonly name: string
  readonly description: string
  readonly parameters: JsonSchema.JsonSchema
}

/** Which of the offered tools an agent may use: all that no deny pattern matches and, if there is one, an allow pattern does. */
export interface Policy {
  readonly allow: ReadonlyArray<string>
  readonly deny: ReadonlyArray<string>
}

/** The tools of one turn. Counts calls, so it must not be shared between turns. */
export interface TurnTools {
  readonly scope: ToolContext.TurnScope
  readonly granted: Capability.Granted
  readonly registrations: ReadonlyMap<string, Registration.Registration>
  readonly offers: ReadonlyArray<Offer>
  /** Calls so far, by tool. Owned by the pipeline. */
  readonly counts: Map<string, number>
  /** Calls that a person allowed. Owned by the pipeline. */
  readonly approved: Set<string>
  /** What was read that others wrote. Owned by the pipeline. */
  readonly reading: Taint.Reading
}

export interface Call {
  readonly callId: Ids.CallId
  readonly parentCallId?: Ids.CallId
  readonly name: string
  /** As the model wrote them; decoding is lenient about fences, missing braces and the like, never about content. */
  readonly arguments: string
}

export class ToolCalls extends Context.Service<
  ToolCalls,
  {
    /**
     * What the agent may use in this turn: offered, allowed by its policy, and granted. `authority` changes what is
     * granted: a delegated agent's is narrowed, and a turn may add capabilities that only it can give. `readBefore`: what
     * others wrote that is before the model already.
     */
    readonly forTurn: (
      scope: ToolContext.TurnScope,
      policy: Policy,
      authority?: (granted: Capability.Granted) => Capability.Granted,
      readBefore?: () => ReadonlyArray<Taint.Taint>
    ) => Effect.Effect<TurnTools>
    /**
     * Runs one call to its result. It does not fail: every failure is a result with status `error`. When the calling
     * fiber is interrupted, an interruptible tool is interrupted and an atomic one is waited for; either way there is no
     * result then. A caller that needs the result of every call runs this uninterruptibly and stops it with `cancel`.
     */
    readonly run: (tools: TurnTools, call: Call) => Effect.Effect<ToolResult.ToolResult>
    /** Calls a tool from code, through the same pipeline, with typed parameters, success and errors. */
    readonly call: <T extends Tool.Any>(
      tools: TurnTools,
      tool: T,
      parameters: Tool.ParametersOf<T>,
      parent?: Ids.CallId
    ) => Effect.Effect<Tool.SuccessOf<T>, Tool.CallError<T>>
    /** Cancels one running call, whose result becomes `cancelled`. False when it is not running or is atomic. */
    readonly cancel: (callId: Ids.CallId) => Effect.Effect<boolean>
    /** The name a tool goes by: trimmed, with old names mapped to today's. */
    readonly canonicalName: (name: string) => string
    /** What a restart may do with this call; `unknown` for a tool that is not registered. */
    readonly replay: (call: Pick<Call, "name" | "arguments">) => Effect.Effect<Tool.Replay>
  }
>()("troupe/tool/ToolCalls") {}
