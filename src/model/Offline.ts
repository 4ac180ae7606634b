/**
 * The offline helper: a `LanguageModel` that is not one. It recognises the requests of `OfflineSkills`, calls the real
 * tools for them and words the answer from their results, so that everything can be tried without a key or a network.
 * The same prompt always gives the same answer.
 *
 * It reads the current turn from the prompt alone: the user messages since its last answer are split into requests;
 * requests that need a tool become tool calls, all in one response; once results are in, each request is answered
 * in the order it was asked.
 */
import * as LanguageModel from "effect/ai/LanguageModel"
import type * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Framing from "../turn/Framing.ts"
import * as TurnEntries from "../turn/TurnEntries.ts"
import * as Skills from "./OfflineSkills.ts"
import * as Parts from "./Parts.ts"
import * as Text from "./Text.ts"

/** What it calls itself where a model name is shown. */
export const modelName = "offline-helper"

/** Longest text it reads of one message, in UTF-16 units; the rest is not looked at. */
const longestRequest = 2000

/** Most requests it takes from one message. */
export const mostRequests = 8

/** Makes the helper. */
export const make: Effect.Effect<LanguageModel.LanguageModel> = LanguageModel.make({
  generateText: (request) => Effect.sync(() => Parts.join(respond(request))),
  streamText: (request) => Stream.suspend(() => Stream.fromIterable(respond(request)).pipe(Stream.rechunk(1)))
})

/** The parts of the answer to a prompt, with the given tools on offer. */
const respond = (
  request: Pick<LanguageModel.ProviderOptions, "prompt" | "tools">
): ReadonlyArray<Response.StreamPartEncoded> => {
  const turn = readTurn(request.prompt)
  const offered = new Set(request.tools.map((tool) => tool.name))
  const wanted = turn.fresh.flatMap((text) => plan(text, offered)).filter((item) => item._tag === "Call")
  if (wanted.length > 0) return calls(wanted, Parts.callIds(request.prompt))
  const items = turn.texts.flatMap((text) => plan(text, offered))
  const lines = answers(items, turn.results)
  return speech(turn.first && !lines.some((line) => line.includes(Skills.label)) ? [...lines, "", introduction] : lines)
}

const introduction = `(${Skills.label}. Ask “what can you do?” for what I understand.)`

// ---------------------------------------------------------------------------------------------------------------------
// Reading the prompt

interface Turn {
  /** Texts of the user messages of this turn. */
  readonly texts: ReadonlyArray<string>
  /** Those that came after the last call: not planned yet. */
  readonly fresh: ReadonlyArray<string>
  /** Calls of this turn with their results, in order. */
  readonly results: ReadonlyArray<CallResult>
  /** Whether nothing was answered in this thread before. */
  readonly first: boolean
}

interface CallResult {
  readonly name: string
  readonly params: string
  readonly outcome: Skills.Outcome
}

const readTurn = (prompt: Prompt.Prompt): Turn => {
  const start = prompt.content.findLastIndex((message) => message.role === "assistant" && !hasCalls(message)) + 1
  const messages = prompt.content.slice(start)
  const lastCall = messages.findLastIndex((message) => message.role === "assistant")
  const userTexts = (all: ReadonlyArray<Prompt.Message>) =>
    all
      .flatMap((message) => (message.role === "user" ? [textOf(message)] : []))
      .filter((text) => !TurnEntries.isRestoredNote(text))
  return {
    texts: userTexts(messages),
    fresh: userTexts(messages.slice(lastCall + 1)),
    results: readResults(messages),
    first: start === 0
  }
}

const hasCalls = (message: Prompt.AssistantMessage) => message.content.some((part) => part.type === "tool-call")

const textOf = (message: Prompt.UserMessage): string =>
  message.content
    .flatMap((part) => (part.type === "text" ? [part.text] : []))
    .join("\n")
    .slice(0, longestRequest)

const readResults = (messages: ReadonlyArray<Prompt.Message>): ReadonlyArray<CallResult> => {
  const open = new Map<string, Prompt.ToolCallPart>()
  const results: Array<CallResult> = []
  for (const message of messages) {
    if (message.role === "assistant") {
      for (const part of message.content) if (part.type === "tool-call") open.set(part.id, part)
    }
    if (message.role !== "tool") continue
    for (const part of message.content) {
      const call = part.type === "tool-result" ? open.get(part.id) : undefined
      if (part.type !== "tool-result" || call === undefined) continue
      const shown = part.modelOutput?.flatMap((output) => (output.type === "text" ? [output.text] : [])).join("\n")
      const given = shown ?? part.result
      const written = typeof given === "string" ? Framing.unframed(given) : given
      const outcome = Skills.readOutcome(written, part.isFailure)
      results.push({ name: call.name, params: keyOf(call.params), outcome })
    }
  }
  return results
}

// Parameters are flat objects, made in the same order for the same request, so this is a stable key.
const keyOf = (params: unknown): string => JSON.stringify(params) ?? ""

// ---------------------------------------------------------------------------------------------------------------------
// Planning

type Item =
  | {
      readonly _tag: "Call"
      readonly skill: Skills.Skill
      readonly tool: string
      readonly params: object
      readonly label: string
    }
  | { readonly _tag: "Say"; readonly text: string }

const plan = (text: string, offered: ReadonlySet<string>): ReadonlyArray<Item> => {
  const whole = Skills.normalize(text)
  if (whole === "") return [say(greeting)]
  const single = matchSkill(text, offered)
  if (single !== undefined) return [single]
  const items: Array<Item> = []
  const unknown: Array<string> = []
  for (const clause of split(text).slice(0, mostRequests)) {
    const item = matchSkill(clause, offered)
    if (item === undefined) unknown.push(Skills.normalize(clause))
    else if (!items.some((other) => isSame(other, item))) items.push(item)
  }
  if (items.length === 0) return [say(`I do not understand that. ${hint(offered)}`)]
  return unknown.length === 0 ? items : [...items, say(`I did not understand ${unknown.map(quote).join(", ")}.`)]
}

const greeting = `Hello. ${Skills.label}. Ask “what can you do?” for what I understand.`

const hint = (offered: ReadonlySet<string>): string => {
  const summaries = Skills.skills
    .filter((skill) => skill.tool !== undefined && Skills.isOffered(skill, offered))
    .map((skill) => skill.summary)
  const can = summaries.length === 0 ? "All that I can do is turned off here" : `I can ${summaries.join(", ")}`
  return `${can}; ask “what can you do?” for ${summaries.length === 0 ? "more" : "examples"}.`
}

const say = (text: string): Item => ({ _tag: "Say", text })
const quote = (text: string): string => `“${Text.clip(text, 60)}”`

/**
 * Requests joined by "and", "then" or punctuation. A comma inside a number does not separate, nor does anything in quotes, in
 * backticks or in an address.
 */
const split = (text: string): ReadonlyArray<string> => {
  const whole: Array<string> = []
  const hidden = text.replaceAll("\0", "").replaceAll(inseparable, (part) => `\0${whole.push(part) - 1}\0`)
  return hidden
    .split(/[?;!\n]|[.,] | and (?:then )?| then /i)
    .map((clause) => clause.replaceAll(hiddenPart, (_, index) => whole[Number(index)] ?? ""))
    .map((clause) => clause.replace(/^\s*(?:and then|and|then|also) /i, "").trim())
    .filter((clause) => Skills.normalize(clause) !== "")
}

const inseparable = /`[^`\n]+`|"[^"\n]+"|https?:\/\/\S*[^\s.,;:!?]/gi
const hiddenPart = /\0(\d+)\0/g

const matchSkill = (written: string, offered: ReadonlySet<string>): Item | undefined => {
  const clause = Skills.normalize(written)
  for (const skill of Skills.skills) {
    const request = Option.getOrUndefined(skill.match(clause, offered, written))
    if (request === undefined) continue
    if (request._tag === "Say") return request
    if (skill.tool === undefined) continue
    const { configKey, name } = skill.tool
    return offered.has(name)
      ? { _tag: "Call", skill, tool: name, params: request.params, label: request.label }
      : say(`I could ${skill.summary}, but the tool ${name} is not on offer here. ${configKey} turns it on.`)
  }
  return undefined
}

const isSame = (a: Item, b: Item): boolean =>
  a._tag === "Call" && b._tag === "Call"
    ? a.tool === b.tool && keyOf(a.params) === keyOf(b.params)
    : a._tag === "Say" && b._tag === "Say" && a.text === b.text

// ---------------------------------------------------------------------------------------------------------------------
// Answering

type CallItem = Extract<Item, { readonly _tag: "Call" }>

const calls = (items: ReadonlyArray<CallItem>, taken: Set<string>): ReadonlyArray<Response.StreamPartEncoded> => [
  ...items.map((item): Response.StreamPartEncoded => ({
    type: "tool-call",
    id: Parts.uniqueId(`offline_${taken.size + 1}`, taken),
    name: item.tool,
    params: item.params
  })),
  finish("tool-calls")
]

/** One line for each request, from the first unused result of the same call. */
const answers = (items: ReadonlyArray<Item>, results: ReadonlyArray<CallResult>): ReadonlyArray<string> => {
  const unused = [...results]
  return items.map((item) => {
    if (item._tag === "Say") return item.text
    const index = unused.findIndex((result) => result.name === item.tool && result.params === keyOf(item.params))
    const [result] = index < 0 ? [] : unused.splice(index, 1)
    if (result === undefined) return `I have no result for ${quote(item.label)}.`
    return result.outcome.failed
      ? failed(item.skill, result.outcome)
      : Text.clean(item.skill.answer(item.label, result.outcome))
  })
}

/** Why a call was not allowed. The words that came with it tell a model what to do, and are not for people. */
const denials: ReadonlyMap<string, string> = new Map([
  ["expired", "nobody allowed it in time"],
  ["nobody-to-ask", "it needs a person's yes, and nobody can be asked here. `troupe chat` asks"],
  ["cancelled", "the question whether it may was withdrawn"]
])

/** Tools explain themselves in a sentence or in a few words; both read well after this. */
const failed = (skill: Skills.Skill, outcome: Skills.Outcome): string => {
  if (outcome.denied !== undefined) {
    return `${skill.failure}: ${denials.get(outcome.denied) ?? "it was not allowed"}.`
  }
  const why = Text.clip(outcome.text, 400)
  return `${skill.failure}${/^\p{Lu}/u.test(why) ? "." : ":"} ${why}`
}

/** Text in several deltas, a word each, as a model would stream it. */
const speech = (lines: ReadonlyArray<string>): ReadonlyArray<Response.StreamPartEncoded> => {
  const words = lines.join("\n").match(/\S+\s*|\s+/g) ?? []
  return [
    { type: "text-start", id: "text_1" },
    ...words.map((delta) => ({ type: "text-delta" as const, id: "text_1", delta })),
    { type: "text-end", id: "text_1" },
    finish("stop")
  ]
}

// No model ran, so no tokens were used.
const finish = (reason: Response.FinishReason): Response.StreamPartEncoded => ({
  type: "finish",
  reason,
  usage: {
    inputTokens: { total: 0, uncached: 0, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 0, text: 0, reasoning: 0 }
  }
})
