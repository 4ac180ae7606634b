/** Agents: who answers in a thread. */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

export interface Agent {
  readonly name: string
  /** The agent's own prompt; the runtime adds what every agent must know. */
  readonly prompt: string
  /** Absent: what `[llm]` says. */
  readonly provider?: string
  readonly model?: string
  /** Patterns of tool names. At most one of the two lists is not empty. */
  readonly tools: { readonly allow: ReadonlyArray<string>; readonly deny: ReadonlyArray<string> }
}

export class AgentNotFound extends Schema.TaggedError<AgentNotFound>()("AgentNotFound", {
  agent: Schema.String,
  known: Schema.Array(Schema.String)
}) {
  readonly code = "agent_not_found"
  override get message() {
    return `There is no agent ${JSON.stringify(this.agent)}. Known agents: ${this.known.join(", ")}.`
  }
}

export class Agents extends Context.Service<
  Agents,
  {
    /** Every agent that is configured, the main one first. */
    readonly all: ReadonlyArray<Agent>
    readonly get: (name: string) => Effect.Effect<Agent, AgentNotFound>
    /** The agent that answers where none was chosen. */
    readonly main: Agent
  }
>()("troupe/agent/Agents") {}
