/**
 * Whether a turn goes in circles: it makes the calls it has made, and gets the results it has had. Pure.
 *
 * An iteration is a response's calls with their results. Iterations repeat when each is like the one before it, or like the one
 * two or three before it, so that A, B, A, B is a circle as well. Whoever waits for something by asking again and again does it
 * with a tool that is declared to be for that (`polling`); an iteration with a call of one ends every circle.
 */
import * as Result from "effect/Result"
import type * as Entry from "../thread/Entry.ts"
import * as Arguments from "../tool/Arguments.ts"
import * as FailureSignature from "../tool/FailureSignature.ts"
import type * as Tool from "../tool/Tool.ts"
import * as ToolName from "../tool/ToolName.ts"

/** A call and what came of it. */
export interface Made {
  readonly tool: string
  readonly arguments: string
  /** The beginning of its result: what is behind it may be the name of a file that is new each time. */
  readonly said: string
  readonly completed: boolean
}
export type Iteration = ReadonlyArray<Made>

/** What the turn's tools declare of themselves; undefined for one that it does not have. */
export type ToolOf = (name: string) => Pick<Tool.Any, "polling" | "replay" | "identifiedBy"> | undefined

export interface Circle {
  readonly _tag: "Warn" | "Stop"
  /** How often the same has been done. */
  readonly times: number
}

/** How alike two iterations are, and how often that may be seen before the model is warned, and before the turn is stopped. */
interface Measure {
  readonly warn: number
  readonly stop: number
  readonly related: (one: Made, other: Made, toolOf: ToolOf) => boolean
}

/** The same call with the same result. */
const same: Measure = {
  warn: 2,
  stop: 3,
  related: (one, other) => one.arguments === other.arguments || canonical(one) === canonical(other)
}

/**
 * The same result of the same tool, whatever else the call said. It counts only where other arguments change nothing: the tool
 * only reads, or what identifies the call is the same. To write "done" about ten files is no circle.
 */
const alike: Measure = {
  warn: 4,
  stop: 8,
  related: (one, other, toolOf) => {
    const tool = toolOf(one.tool)
    if (tool === undefined) return false
    return tool.replay === "safe" || (tool.identifiedBy.length > 0 && identity(one, tool) === identity(other, tool))
  }
}

const measures = [same, alike]
const periods = [1, 2, 3]

/** Iterations that are looked at; nothing is learned from older ones. */
export const remembered = Math.max(...periods) * Math.max(...measures.map(({ stop }) => stop))

/** How much of a result takes part in the comparison, in characters. */
const saidChars = 240

export const made = (call: Entry.ToolCallRequest, result: Extract<Entry.Entry, { _tag: "ToolResult" }>): Made => ({
  tool: ToolName.canonical(result.name),
  arguments: call.arguments,
  said: result.text.slice(0, saidChars),
  completed: result.outcome === "completed"
})

/** The circle that the last iteration closes, if it does. */
export const find = (iterations: ReadonlyArray<Iteration>, toolOf: ToolOf): Circle | undefined => {
  const found = measures.flatMap(({ related, stop, warn }) =>
    periods.flatMap((period): ReadonlyArray<Circle> => {
      const most = period * (stop - 1)
      const run = runOf(iterations, period, most, (one, other) => related(one, other, toolOf), toolOf)
      if (run === most) return [{ _tag: "Stop", times: stop }]
      return run === period * (warn - 1) ? [{ _tag: "Warn", times: warn }] : []
    })
  )
  return found.find(({ _tag }) => _tag === "Stop") ?? found[0]
}

/** How many of the last iterations, `most` at most, are each like the one a period before it. */
const runOf = (
  iterations: ReadonlyArray<Iteration>,
  period: number,
  most: number,
  related: (one: Made, other: Made) => boolean,
  toolOf: ToolOf
): number => {
  let run = 0
  for (let last = iterations.length - 1; run < most && last >= period; last--) {
    const one = iterations[last]
    const other = iterations[last - period]
    if (one === undefined || other === undefined || !repeats(one, other, related, toolOf)) break
    run++
  }
  return run
}

const repeats = (
  one: Iteration,
  other: Iteration,
  related: (one: Made, other: Made) => boolean,
  toolOf: ToolOf
): boolean =>
  one.length === other.length &&
  one.every((made, index) => {
    const before = other[index]
    return (
      before !== undefined &&
      made.tool === before.tool &&
      made.said === before.said &&
      !(made.completed && toolOf(made.tool)?.polling === true) &&
      related(made, before)
    )
  })

const argumentsOf = (made: Made): Arguments.JsonObject => Result.getOrElse(Arguments.read(made.arguments), () => ({}))

const canonical = (made: Made): string =>
  Result.match(Arguments.read(made.arguments), {
    onFailure: () => made.arguments,
    onSuccess: FailureSignature.canonical
  })

const identity = (made: Made, { identifiedBy }: Pick<Tool.Any, "identifiedBy">): string => {
  const given = argumentsOf(made)
  return FailureSignature.canonical(identifiedBy.map((name) => given[name] ?? null))
}
