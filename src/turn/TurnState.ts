/**
 * Where a turn stands, as a pure fold over its journal, and what comes next, as a pure decision.
 *
 * The live loop does what `next` says, journals the outcome, and folds the new entries in. A turn that a crash cut off is
 * the same fold over the same entries, so resuming needs no code of its own.
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as Ids from "../Ids.ts"
import * as Entry from "../thread/Entry.ts"
import * as Arguments from "../tool/Arguments.ts"
import type * as Tool from "../tool/Tool.ts"
import * as ToolName from "../tool/ToolName.ts"
import * as Repetition from "./Repetition.ts"
import * as WrittenCall from "./WrittenCall.ts"

/** Bounds of one turn. */
export interface Limits {
  /** Model responses. */
  readonly maxSteps: number
  /** Tool calls, checked before a response's calls are run. */
  readonly maxToolCalls: number
  /** What decides whether a call that repeats is one too many. */
  readonly toolOf: Repetition.ToolOf
  /** Whether an answer that used no tool is judged: whether it needed one. */
  readonly judged: boolean
}

/** Responses in a row with arguments that cannot be read, after which the turn ends. */
const maxUnreadableResponses = 3
/** A failure seen this often earns one correction. */
const failuresBeforeGuidance = 2
/** Answers of a turn that are taken back for calls that were written into them; then one is given as it is. */
const maxWrittenCalls = 2
/** The finish reason of a response that ended before its provider said that it was complete. */
export const unfinished = "unfinished"
/** Finish reasons after which the last call may be incomplete. */
const cutReasons = new Set([unfinished, "length", "content-filter", "error"])
/** A denial has it also where the call may have run in another life of the process, so that its outcome is unknown. */
const deniedCode = "tool_approval:denied"
const callLimitCode = "turn:max_tool_calls"
const fallbackSampleChars = 400
const fallbackTools = 4

/** An answer, and how `pre_response` declared it. */
export interface Answer {
  readonly text: string
  readonly format: Entry.AnswerFormat | undefined
}

/**
 * What may have become of the first pending call in an earlier life of the process. `crashed`: that life died, or could not write
 * a result, so the call may have run. `left`: that life ended on purpose and noted what became of a call that may not run twice;
 * one that may was broken off without a result.
 */
export type Doubt = "none" | "left" | "crashed"

/** Whether a call of such a tool may have had an effect. */
export const mayHaveRun = (doubt: Doubt, replay: Tool.Replay): boolean =>
  doubt === "crashed" || (doubt === "left" && replay === "idempotent")

export interface TurnState {
  readonly turnId: Ids.TurnId
  /** How it ended, when it has. */
  readonly ended: Entry.TurnEnd | undefined
  /** Lives of the process so far that did not end on purpose, and this one. */
  readonly lives: number
  readonly steps: number
  /** Calls that were not refused by the turn itself. */
  readonly toolCalls: number
  /** Calls of the last response that have no result yet, in order. */
  readonly pending: ReadonlyArray<Entry.ToolCallRequest>
  readonly doubt: Doubt
  /** The last response was cut off, so its calls may be incomplete and must not run. */
  readonly cut: boolean
  /** Answers given so far: responses without calls. More than one when a message folded in after an answer. */
  readonly answers: ReadonlyArray<Answer>
  /** The last thing that happened is an answer. */
  readonly answered: boolean
  /** What was declared for the next answer. */
  readonly format: Entry.AnswerFormat | undefined
  readonly usage: Entry.Usage
  /** Answers that were taken back for calls that were written into them. */
  readonly writtenCalls: number
  /** Whether the answer needed a tool. */
  readonly toolUse: "unjudged" | "not-needed" | "needed"
  /** The tool that was needed. */
  readonly neededTool: string | undefined
  /** An answer was taken back because it needed a tool. */
  readonly reminded: boolean
  /** How often the history was made shorter in this turn. */
  readonly compactions: number
  readonly toolsUsed: ReadonlyArray<string>
  /** Calls that reached their tool, by the name of the tool. */
  readonly callCounts: ReadonlyMap<string, number>
  readonly unreadableResponses: number
  /** A response asked for more calls than the turn has left. */
  readonly callsUsedUp: boolean
  /** A call of the last response was denied: the others are not run and nobody is asked about them. */
  readonly denied: boolean
  readonly failures: ReadonlyMap<string, number>
  /** A failure has repeated and the correction for it is due. */
  readonly guidanceDue: string | undefined
  /** The calls of the last response that have their result, while others have none. */
  readonly iteration: Repetition.Iteration
  readonly iterations: ReadonlyArray<Repetition.Iteration>
  /** A correction was given after the last iteration. */
  readonly guided: boolean
  readonly lastOutput: string
}

export type Next =
  | { readonly _tag: "AskModel" }
  | { readonly _tag: "RunCall"; readonly call: Entry.ToolCallRequest; readonly doubt: Doubt }
  /** Record these calls as not run, each with this outcome and these words. */
  | {
      readonly _tag: "RefuseCalls"
      readonly calls: ReadonlyArray<Entry.ToolCallRequest>
      readonly outcome: Entry.CallOutcome
      readonly text: string
      readonly code: string
    }
  | { readonly _tag: "Guide"; readonly text: string }
  /** Let a model judge whether the answer needed a tool. */
  | { readonly _tag: "JudgeToolUse" }
  | { readonly _tag: "Answered" }
  /** A limit ends the turn; `notice` tells the person so, and may stand in place of the answer that was just given. */
  | {
      readonly _tag: "GiveUp"
      readonly reason: string
      readonly notice: string
      readonly insteadOfAnswer?: boolean
    }

export const initial = (turnId: Ids.TurnId): TurnState => ({
  turnId,
  ended: undefined,
  lives: 1,
  steps: 0,
  toolCalls: 0,
  pending: [],
  doubt: "none",
  cut: false,
  answers: [],
  answered: false,
  format: undefined,
  usage: Entry.noUsage,
  writtenCalls: 0,
  toolUse: "unjudged",
  neededTool: undefined,
  reminded: false,
  compactions: 0,
  toolsUsed: [],
  callCounts: new Map(),
  unreadableResponses: 0,
  callsUsedUp: false,
  denied: false,
  failures: new Map(),
  guidanceDue: undefined,
  iteration: [],
  iterations: [],
  guided: false,
  lastOutput: ""
})

/** Folds one more entry of the thread into the state; entries of other turns leave it as it is. */
export const apply = (state: TurnState, entry: Entry.Entry): TurnState => {
  if (Entry.turnIdOf(entry) !== state.turnId) return state
  switch (entry._tag) {
    case "AssistantMessage":
      return applyResponse(state, entry)
    case "ToolResult":
      return applyResult(state, entry)
    case "TurnResumed":
      return applyResumption(state, entry)
    case "TurnEnded":
      return { ...state, ended: entry.state }
    case "MessagesFolded":
      // What a person adds makes the next iteration another one, however much it looks like the last.
      return { ...state, answered: false, iterations: [], unreadableResponses: 0, toolUse: "unjudged" }
    case "Guidance":
      return takenBack({ ...state, guidanceDue: undefined, guided: true })
    case "ToolUseJudged":
      return {
        ...state,
        toolUse: entry.needed ? "needed" : "not-needed",
        neededTool: entry.tool,
        usage: Entry.addUsage(state.usage, entry.usage)
      }
    case "Compacted":
      return { ...state, compactions: state.compactions + 1, usage: Entry.addUsage(state.usage, entry.usage) }
    default:
      return state
  }
}

/** What to do now. */
export const next = (state: TurnState, limits: Limits): Next => {
  const first = state.pending[0]
  if (first !== undefined) return nextOfCalls(state, first, limits)
  if (state.answered) return nextOfAnswer(state, limits)
  if (state.callsUsedUp) {
    return {
      _tag: "GiveUp",
      reason: "max_tool_calls",
      notice: `I stopped after ${state.toolCalls} tool calls without reaching an answer: a turn may make ${limits.maxToolCalls}, and the model wanted more. Ask me to go on, or for a smaller piece of work.`
    }
  }
  if (state.unreadableResponses >= maxUnreadableResponses) {
    return {
      _tag: "GiveUp",
      reason: "truncated_tool_call",
      notice:
        "I could not finish: the model's tool calls kept arriving incomplete. Please ask for a smaller piece of work."
    }
  }
  const circle = Repetition.find(state.iterations, limits.toolOf)
  if (circle?._tag === "Stop") {
    return { _tag: "GiveUp", reason: "repeated_iteration", notice: repetitionNotice(state, circle) }
  }
  if (state.guidanceDue !== undefined) return { _tag: "Guide", text: state.guidanceDue }
  if (circle !== undefined && !state.guided) return { _tag: "Guide", text: repetitionWarning(circle) }
  if (state.steps >= limits.maxSteps) {
    return {
      _tag: "GiveUp",
      reason: "max_steps",
      notice: `I stopped after ${state.steps} steps without reaching an answer. Ask me to go on, or for a smaller piece of work.`
    }
  }
  return { _tag: "AskModel" }
}

/** An answer is given, unless it cannot be what it should have been and there is room to mend it. */
const nextOfAnswer = (state: TurnState, limits: Limits): Next => {
  const isTool = (name: string) => limits.toolOf(name) !== undefined
  const text = state.answers.at(-1)?.text ?? ""
  const again = mayAskAgain(state, limits)
  if (again && state.writtenCalls < maxWrittenCalls && WrittenCall.isIn(text, isTool)) {
    return { _tag: "Guide", text: writtenCallText }
  }
  if (!limits.judged || usedTools(state)) return { _tag: "Answered" }
  if (state.toolUse === "unjudged" && (again || state.reminded)) return { _tag: "JudgeToolUse" }
  if (state.toolUse !== "needed") return { _tag: "Answered" }
  return again && !state.reminded ? { _tag: "Guide", text: reminder(state.neededTool) } : unverified
}

/** To declare how an answer is shown is no work. */
const usedTools = ({ toolsUsed }: TurnState): boolean =>
  toolsUsed.some((name) => ToolName.canonical(name) !== ToolName.answering)

/** Whether another model response is allowed, so that a message that came with the answer can still fold in. */
export const mayAskAgain = (state: TurnState, limits: Pick<Limits, "maxSteps">): boolean =>
  state.steps < limits.maxSteps

const nextOfCalls = (state: TurnState, first: Entry.ToolCallRequest, limits: Limits): Next => {
  if (state.cut) {
    return {
      _tag: "RefuseCalls",
      calls: state.pending,
      outcome: "invalid",
      code: "invalid_tool_arguments",
      text: "This call was not run: the response was cut off before it was complete. Make the call again with less text, in several calls if need be."
    }
  }
  if (state.denied) {
    return {
      _tag: "RefuseCalls",
      calls: state.pending,
      outcome: "skipped",
      code: "turn:after_denial",
      text: "This call was not run, because another call of the same response was not allowed."
    }
  }
  // Checked once for a whole response, so that it is run or refused as one.
  if (state.iteration.length === 0 && state.toolCalls + state.pending.length > limits.maxToolCalls) {
    return {
      _tag: "RefuseCalls",
      calls: state.pending,
      outcome: "skipped",
      code: callLimitCode,
      text: "This call was not run: the turn has used up its tool calls."
    }
  }
  return { _tag: "RunCall", call: first, doubt: state.doubt }
}

/** The state without the answer that has just been given, if one has. What was declared for it holds for the next one. */
const takenBack = (state: TurnState): TurnState => {
  if (!state.answered) return state
  const needed = state.toolUse === "needed"
  return {
    ...state,
    answered: false,
    answers: state.answers.slice(0, -1),
    format: state.answers.at(-1)?.format,
    toolUse: "unjudged",
    reminded: state.reminded || needed,
    writtenCalls: state.writtenCalls + (needed ? 0 : 1)
  }
}

const applyResumption = (state: TurnState, entry: Extract<Entry.Entry, { _tag: "TurnResumed" }>): TurnState => {
  const crashed = state.doubt === "crashed" || entry.attempt > state.lives || entry.storeFailed === true
  const doubt = state.pending.length === 0 ? "none" : crashed ? "crashed" : "left"
  return { ...state, lives: entry.attempt, doubt }
}

const applyResponse = (state: TurnState, entry: Extract<Entry.Entry, { _tag: "AssistantMessage" }>): TurnState => {
  const usage = Entry.addUsage(state.usage, entry.usage)
  const base: TurnState = { ...state, steps: entry.step, usage, doubt: "none", iteration: [], denied: false }
  if (entry.calls.length > 0) {
    const cut = cutReasons.has(entry.finishReason)
    return { ...base, pending: entry.calls, answered: false, cut }
  }
  // A declaration is for one answer: what follows it may be of another kind, and must not send its files again.
  const answers = [...state.answers, { text: entry.text, format: entry.format ?? state.format }]
  return { ...base, pending: [], cut: false, answered: true, answers, format: undefined }
}

const applyResult = (state: TurnState, entry: Extract<Entry.Entry, { _tag: "ToolResult" }>): TurnState => {
  const call = state.pending.find(({ callId }) => callId === entry.callId)
  // A second result, or one of a call that nobody made, says nothing.
  if (call === undefined) return state
  const pending = state.pending.filter((other) => other !== call)
  const overLimit = entry.errorCode === callLimitCode
  const iteration = [...state.iteration, Repetition.made(call, entry)]
  const done = pending.length === 0
  const unreadable = entry.outcome === "invalid" && (state.cut || Result.isFailure(Arguments.read(call.arguments)))
  const next: TurnState = {
    ...state,
    pending,
    doubt: "none",
    cut: state.cut && !done,
    toolCalls: state.toolCalls + (entry.outcome === "skipped" || state.cut ? 0 : 1),
    callsUsedUp: state.callsUsedUp || overLimit,
    denied: !done && (state.denied || entry.outcome === "denied" || entry.errorCode === deniedCode),
    toolsUsed: state.toolsUsed.includes(entry.name) ? state.toolsUsed : [...state.toolsUsed, entry.name],
    callCounts: reachedTool(entry) ? increment(state.callCounts, ToolName.canonical(entry.name)) : state.callCounts,
    format: formatOf(entry) ?? state.format,
    unreadableResponses: entry.outcome === "completed" ? 0 : state.unreadableResponses + (unreadable && done ? 1 : 0),
    iteration: done ? [] : iteration,
    iterations: done ? [...state.iterations, iteration].slice(-Repetition.remembered) : state.iterations,
    guided: done ? false : state.guided,
    lastOutput: entry.text
  }
  return countFailure(next, entry)
}

const countFailure = (state: TurnState, entry: Extract<Entry.Entry, { _tag: "ToolResult" }>): TurnState => {
  const signature = signatureOf(entry.data)
  if (signature === undefined) return state
  const failures = increment(state.failures, signature)
  const count = failures.get(signature)
  return count === failuresBeforeGuidance
    ? {
        ...state,
        failures,
        guidanceDue: `The same call of ${entry.name} has failed ${count} times in the same way. Do not make it again: try something else, or tell the person what went wrong.`
      }
    : { ...state, failures }
}

const reachedTool = (entry: Extract<Entry.Entry, { _tag: "ToolResult" }>): boolean =>
  !untried.has(entry.outcome) && !refusedBefore.has(entry.errorCode ?? "")

const untried: ReadonlySet<Entry.CallOutcome> = new Set(["skipped", "denied", "forbidden", "invalid"])
const refusedBefore: ReadonlySet<string> = new Set(["tool:unknown", "tool:per_turn_limit"])

const increment = (counts: ReadonlyMap<string, number>, key: string): ReadonlyMap<string, number> =>
  new Map(counts).set(key, (counts.get(key) ?? 0) + 1)

const isFailureData = Schema.is(Schema.Struct({ failure_signature: Schema.String }))
const signatureOf = (data: Schema.Json): string | undefined =>
  isFailureData(data) ? data.failure_signature : undefined

const decodeFormat = Schema.decodeUnknownOption(Entry.AnswerFormat)
const formatOf = (entry: Extract<Entry.Entry, { _tag: "ToolResult" }>): Entry.AnswerFormat | undefined => {
  if (ToolName.canonical(entry.name) !== ToolName.answering || entry.outcome !== "completed") return undefined
  const decoded = decodeFormat(entry.data)
  return decoded._tag === "Some" ? decoded.value : undefined
}

const writtenCallText =
  "Your answer holds a tool call written as text. Nobody runs it. If you want the tool, call it by the means you are given for that, " +
  "and write nothing of the call into your answer. If no tool is needed, give the answer again without it."

const reminder = (tool: string | undefined): string =>
  "Your answer was not given to the person: it needs a tool, and you used none" +
  `${tool === undefined ? "" : `. ${tool} may be the one`}. Do not say that something was done, looked up or calculated without a call that did it. ` +
  "Call the tool now, or say plainly what you cannot do."

const unverified: Next = {
  _tag: "GiveUp",
  reason: "unverified_answer",
  insteadOfAnswer: true,
  notice:
    "I could not verify my answer: it needed a tool, and none was used. So nothing was done or looked up. Please ask again, or in other words."
}

const repetitionWarning = ({ times }: Repetition.Circle): string =>
  `You have made the same calls ${times} times and got the same results. Calling again will not change them, and more of the same ends the turn. ` +
  "Work with what you have, try something else, or tell the person what is in the way."

const repetitionNotice = (state: TurnState, { times }: Repetition.Circle): string =>
  `I stopped because the same step gave the same result ${times} times ` +
  `(${state.toolsUsed.slice(-fallbackTools).join(", ")}). The last result was:\n${clip(state.lastOutput, fallbackSampleChars)}`

const clip = (text: string, max: number): string =>
  text.length <= max ? text : `${text.slice(0, max).toWellFormed()}…`
