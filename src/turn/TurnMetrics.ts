/**
 * What is counted of turns, models and tools. Almost all of it is counted where it is journaled, so that a figure is a number
 * of facts on disk: once each, also over a restart in the middle of a turn.
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type * as Entry from "../thread/Entry.ts"

/** Turns at work in this process now. */
export const running = Metric.gauge("troupe_turns_running", { description: "Turns at work in this process now" })

/** Conversations resident in memory now. */
export const conversations = Metric.gauge("troupe_conversations_resident", {
  description: "Conversations resident in memory now"
})

const turns = Metric.counter("troupe_turns_ended_total", {
  description: "Turns that have ended, by how they ended",
  incremental: true
})
/** Turns that went on in another life of the process. */
export const resumed = Metric.counter("troupe_turns_resumed_total", {
  description: "Turns that went on in another life of the process",
  incremental: true
})
/** From 10 milliseconds to 20 minutes. */
const boundaries = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 1200]
const turnSeconds = Metric.histogram("troupe_turn_seconds", {
  description: "Time from the beginning of a turn to its end, waiting for people included",
  boundaries
})
const responses = Metric.counter("troupe_model_responses_total", {
  description: "Whole responses of models, by provider, model and why they ended",
  incremental: true
})
const tokens = Metric.counter("troupe_model_tokens_total", {
  description: "Tokens as the providers counted them; cached ones are part of input, reasoning ones of output",
  incremental: true
})
const responseSeconds = Metric.histogram("troupe_model_response_seconds", {
  description: "Time from asking a model to its whole response, further tries included",
  boundaries
})
const retries = Metric.counter("troupe_model_retries_total", {
  description: "Times a model was asked again",
  incremental: true
})
const switches = Metric.counter("troupe_model_switches_total", {
  description: "Times another model took over, by the one that was left and why",
  incremental: true
})
const compactions = Metric.counter("troupe_compactions_total", {
  description: "Attempts to make a history shorter, by how and what came of it",
  incremental: true
})
const judgements = Metric.counter("troupe_tool_use_judgements_total", {
  description: "Answers without a tool that were judged, by whether they needed one",
  incremental: true
})
const calls = Metric.counter("troupe_tool_calls_total", {
  description: "Tool calls that have their result, by tool and outcome",
  incremental: true
})
const callSeconds = Metric.histogram("troupe_tool_seconds", {
  description: "Time a tool call took, waiting for an approval left out",
  boundaries
})

/** Which model: the attributes of its figures. */
interface Asked {
  readonly provider: string
  readonly model: string
}

/** A model was asked again. */
export const retried = ({ model, provider }: Asked) =>
  Metric.update(Metric.withAttributes(retries, { provider, model }), 1)

/** Tokens of a response that no thread holds. */
export const used = (model: Asked, usage: Entry.Usage): Effect.Effect<void> =>
  Effect.map(Effect.context<never>(), (context) => addTokens(model, usage, context))

/** How long a whole response took. */
export const responded = ({ model, provider }: Asked, seconds: number) =>
  Metric.update(Metric.withAttributes(responseSeconds, { provider, model }), seconds)

/** What became of an attempt that did not make the history shorter. */
export type FailedCompaction = "blank" | "longer" | "failed" | "timeout"

/** A history was not made shorter; those that were are counted where they are journaled. */
export const notCompacted = (how: Entry.CompactionKind, outcome: FailedCompaction) =>
  Metric.update(Metric.withAttributes(compactions, { how, outcome }), 1)

/** What the figures of a turn need to know of it. */
export interface Turn {
  /** Names that a model makes up must not become series of their own. */
  readonly tools: ReadonlySet<string>
  /** Milliseconds since 1970; undefined when its beginning is not known. */
  readonly startedAt: number | undefined
}

/** Counts entries that have just been written. */
export const journaled = (turn: Turn, written: ReadonlyArray<Entry.StoredEntry>): Effect.Effect<void> =>
  Effect.map(Effect.context<never>(), (context) => {
    for (const stored of written) count(turn, stored, context)
  })

const addTokens = (asked: Asked, usage: Entry.Usage, context: Context.Context<never>): void => {
  for (const [kind, amount] of Object.entries({
    input: usage.inputTokens,
    output: usage.outputTokens,
    cached: usage.cachedInputTokens ?? 0,
    reasoning: usage.reasoningTokens ?? 0
  })) {
    const { model, provider } = asked
    if (amount > 0) Metric.withAttributes(tokens, { provider, model, kind }).updateUnsafe(amount, context)
  }
}

const count = (turn: Turn, { at, entry }: Entry.StoredEntry, context: Context.Context<never>): void => {
  const add = (metric: Metric.Counter<number>, attributes: Record<string, string>, amount = 1) =>
    Metric.withAttributes(metric, attributes).updateUnsafe(amount, context)
  switch (entry._tag) {
    case "AssistantMessage": {
      const { model, provider, usage } = entry
      add(responses, { provider, model, finish_reason: entry.finishReason })
      return addTokens({ provider, model }, usage, context)
    }
    case "Compacted":
      add(compactions, { how: entry.how, outcome: "performed" })
      return addTokens({ provider: entry.provider, model: entry.model }, entry.usage, context)
    case "ToolUseJudged":
      add(judgements, { needed: String(entry.needed) })
      return addTokens({ provider: entry.provider, model: entry.model }, entry.usage, context)
    case "ModelSwitched":
      return add(switches, { ...entry.from, code: entry.code })
    case "ToolResult": {
      const tool = turn.tools.has(entry.name) ? entry.name : "unknown"
      add(calls, { tool, outcome: entry.outcome })
      return Metric.withAttributes(callSeconds, { tool }).updateUnsafe(entry.durationMillis / 1000, context)
    }
    case "TurnEnded":
      add(turns, { state: entry.state })
      if (turn.startedAt !== undefined) turnSeconds.updateUnsafe((at - turn.startedAt) / 1000, context)
  }
}
