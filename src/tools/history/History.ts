/** The capability to look at and shorten the history of the conversation that a turn belongs to, and of no other. */
import type * as Effect from "effect/Effect"
import * as Capability from "../../tool/Capability.ts"

export interface Info {
  /** Messages of people and answers to them that the model still sees; a summary of older ones counts as one. */
  readonly totalMessages: number
  /** Whether a summary stands for older messages. */
  readonly summarised: boolean
  /** The most that are sent to the model; null when there is no limit. */
  readonly maxHistoryMessages: number | null
}

export interface Trimmed extends Info {
  readonly removedMessages: number
}

export class History extends Capability.Service<
  History,
  {
    readonly info: Effect.Effect<Info>
    /** Takes all but the latest `keepLatest` messages out of what the model sees; the log keeps them. 0 takes out all. */
    readonly trim: (keepLatest: number) => Effect.Effect<Trimmed>
  }
>()("History") {}
