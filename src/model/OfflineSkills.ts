/**
 * What the offline helper understands: one table. An entry says how a request is recognised, which tool serves it, and
 * how the tool's result becomes an answer. The list shown by "what can you do?" and in the documents is made from it.
 *
 * Requests are matched after `normalize`; patterns are anchored or plain, without nested repetition, so that matching
 * takes time in proportion to the length of the text.
 */
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Json from "./Json.ts"
import * as Files from "./OfflineFiles.ts"
import * as Memory from "./OfflineMemory.ts"

/** What a matched request leads to. */
export type Request =
  | { readonly _tag: "Call"; readonly params: Readonly<Record<string, unknown>>; readonly label: string }
  | { readonly _tag: "Say"; readonly text: string }

/** The result of a tool, as the helper reads it. */
export interface Outcome {
  readonly failed: boolean
  /** Why it was not allowed to run; `undefined` if it was. */
  readonly denied: string | undefined
  /** What the model is meant to read. */
  readonly text: string
  /** A named field of the result, when it is an object. */
  readonly field: (name: string) => Option.Option<string>
  /** The objects of a named list of the result; none when there is no such list. */
  readonly list: (name: string) => ReadonlyArray<Readonly<Record<string, unknown>>>
}

export interface Skill {
  readonly name: string
  /** One line for lists. */
  readonly summary: string
  /** Things to type; a test checks that each is understood. */
  readonly examples: ReadonlyArray<string>
  /** The tool it calls and the setting that turns the tool on. */
  readonly tool: { readonly name: string; readonly configKey: string } | undefined
  /** Recognises one request, given in normal form and as it was written, in a turn that is offered these tools. */
  readonly match: (request: string, offered: ReadonlySet<string>, written: string) => Option.Option<Request>
  /** Start of the answer when the tool failed or was not allowed. */
  readonly failure: string
  /** Words the result of the tool. */
  readonly answer: (label: string, outcome: Outcome) => string
}

/** Lower case, single spaces, plain quotes and operators, no punctuation at the end, no "please". */
export const normalize = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[\u2018\u2019]/g, "'")
    .replaceAll(/[\u00d7\u2715]/g, "*")
    .replaceAll("\u00f7", "/")
    .replaceAll(/[\u2212\u2013]/g, "-")
    .replaceAll(/[\s\u00a0]+/g, " ")
    .split(" ")
    .filter((word) => !courtesies.has(word.replaceAll(/[,.!?]/g, "")))
    .join(" ")
    .replace(/^[,.!?; ]+/, "")
    .replace(/[?!.,;:= ]+$/, "")

const courtesies = new Set(["please", "pls", "kindly", "thanks", "hey", "hi", "hello", "troupe"])

const call = (params: Readonly<Record<string, unknown>>, label: string): Option.Option<Request> =>
  Option.some({ _tag: "Call", params, label })

/** Removes the first prefix that fits; none when none does. */
const afterPrefix = (text: string, prefixes: ReadonlyArray<string>): Option.Option<string> =>
  Option.map(Option.fromUndefinedOr(prefixes.find((prefix) => text.startsWith(`${prefix} `))), (prefix) =>
    text.slice(prefix.length + 1).trim()
  )

// ---------------------------------------------------------------------------------------------------------------------
// Calculate

const commands = ["calculate", "compute", "evaluate", "calc", "can you calculate", "could you calculate", "work out"]
const questions = ["what is", "what's", "whats", "how much is", "how much are", "what does"]

const operatorWords: ReadonlyArray<readonly [string, string]> = [
  ["to the power of", "**"],
  ["multiplied by", "*"],
  ["divided by", "/"],
  ["times", "*"],
  ["plus", "+"],
  ["minus", "-"],
  ["over", "/"],
  ["modulo", "%"],
  ["mod", "%"],
  ["x", "*"],
  ["squared", "**2"],
  ["cubed", "**3"],
  ["equal", ""],
  ["equals", ""]
]

/** The expression in the calculator's notation: operator words and `^` replaced. */
const toExpression = (text: string): string => {
  let expression = ` ${text.replaceAll("^", "**")} `
  for (const [words, operator] of operatorWords) expression = expression.replaceAll(` ${words} `, ` ${operator} `)
  // "12x3", but not the x of a word.
  expression = expression.replaceAll(/(\d)x(?=\d)/g, "$1*")
  return expression.trim().replaceAll(/ {2,}/g, " ")
}

const isExpression = (text: string): boolean => /^[\d.()+\-*/% ]+$/.test(text) && /\d/.test(text)

/** A bare number asks for nothing; with an operator it is a sum. */
const isSum = (text: string): boolean => isExpression(text) && /[+\-*/%]/.test(text)

const calculate: Skill = {
  name: "calculate",
  summary: "calculate with numbers",
  examples: ["what is 12*(3+4)?", "calculate 2^10", "12 times 3", "what is 10 divided by 4"],
  tool: { name: "calculate_expression", configKey: "[tools.calculator].enabled" },
  failure: "I could not calculate that",
  match: (request) => {
    const commanded = afterPrefix(request, commands)
    if (Option.isSome(commanded)) {
      const expression = toExpression(commanded.value)
      // Told to calculate, it does not judge the expression: the calculator does. But it may be two requests.
      const one = isExpression(expression) || (/\d/.test(expression) && !/[?;!]|[.,] | and | then /.test(request))
      return one ? call({ expression }, commanded.value) : Option.none()
    }
    const asked = Option.getOrElse(afterPrefix(request, questions), () => request)
    const expression = toExpression(asked)
    return isSum(expression) ? call({ expression }, asked) : Option.none()
  },
  answer: (label, outcome) => `${label} = ${Option.getOrElse(outcome.field("result"), () => outcome.text)}`
}

// ---------------------------------------------------------------------------------------------------------------------
// Date and time

const timeRequests = new Set([
  "time",
  "date",
  "day",
  "the time",
  "the date",
  "date and time",
  "time and date",
  "now",
  "what time is it",
  "what time is it now",
  "what is the time",
  "what's the time",
  "what is the current time",
  "current time",
  "current date",
  "what is the date",
  "what's the date",
  "what date is it",
  "what day is it",
  "what day is it today",
  "what day is today",
  "what is today",
  "what is today's date",
  "what's today's date",
  "today's date",
  "what is the date today",
  "tell me the time",
  "tell me the date",
  "tell me the date and time",
  "what is the date and time",
  "what is the current date",
  "what is the current date and time",
  "what date is it today",
  "what is the date and the time",
  "tell me what time it is"
])

const dateAndTime: Skill = {
  name: "date and time",
  summary: "tell the date and time",
  examples: ["what time is it?", "what is the date?", "date and time"],
  tool: { name: "current_datetime", configKey: "[tools.time].enabled" },
  failure: "I could not read the clock",
  match: (request) => (timeRequests.has(request) ? call({}, "date and time") : Option.none()),
  answer: (_label, outcome) => `It is ${Option.getOrElse(outcome.field("timestamp"), () => outcome.text)}`
}

// ---------------------------------------------------------------------------------------------------------------------
// Wait

const units: ReadonlyArray<readonly [RegExp, number]> = [
  [/^(ms|millis|milliseconds?)$/, 1],
  [/^(s|secs?|seconds?)$/, 1000],
  [/^(m|mins?|minutes?)$/, 60_000]
]

const wait: Skill = {
  name: "wait",
  summary: "wait for some seconds or milliseconds",
  examples: ["wait 2 seconds", "wait for 500 ms", "wait a second"],
  tool: { name: "wait", configKey: "[tools.wait].enabled" },
  failure: "I could not wait",
  match: (request) => {
    const match = /^(?:wait|sleep|pause)(?: for)? (a|an|one|\d{1,9}(?:\.\d{1,6})?) ?([a-z]+)$/.exec(request)
    if (match?.[1] === undefined || match[2] === undefined) return Option.none()
    const unit = match[2]
    const factor = units.find(([pattern]) => pattern.test(unit))?.[1]
    const amount = /^\d/.test(match[1]) ? Number(match[1]) : 1
    if (factor === undefined) return Option.none()
    return call({ milliseconds: Math.max(1, Math.round(amount * factor)) }, `${match[1]} ${unit}`)
  },
  answer: (label, outcome) =>
    Option.match(outcome.field("slept_ms"), {
      onNone: () => `I waited ${label}.`,
      onSome: (slept) =>
        Option.contains(
          Option.orElseSome(outcome.field("requested_ms"), () => slept),
          slept
        )
          ? `I waited ${slept} ms.`
          : `I waited ${slept} ms, the longest that [tools.wait].max_milliseconds allows.`
    })
}

// ---------------------------------------------------------------------------------------------------------------------
// Help

const helpRequests = new Set([
  "help",
  "what can you do",
  "what can i do",
  "what can i ask",
  "what can i ask you",
  "what do you do",
  "who are you",
  "what are you",
  "how do you work",
  "what do you understand",
  "commands",
  "what are your skills",
  "?"
])

const help: Skill = {
  name: "help",
  summary: "say what I can do",
  examples: ["what can you do?", "help"],
  tool: undefined,
  failure: "I cannot help",
  match: (request, offered) =>
    helpRequests.has(request) ? Option.some({ _tag: "Say", text: describe(offered) }) : Option.none(),
  answer: (_label, outcome) => outcome.text
}

/**
 * Everything the offline helper understands, in the order it is tried. Skills of a group of tools are in a file of their own, as
 * those for notes are in `OfflineMemory.ts` and those for files in `OfflineFiles.ts`, and come in here.
 */
export const skills: ReadonlyArray<Skill> = [
  Memory.remember,
  Memory.recall,
  ...Files.skills,
  calculate,
  dateAndTime,
  wait,
  help
]

/** What the helper is; also its label on first contact. */
export const label = "I am Troupe's offline helper, not a language model"

/** Whether a turn that is offered these tools can do it. */
export const isOffered = ({ tool }: Skill, offered: ReadonlySet<string>): boolean =>
  tool === undefined || offered.has(tool.name)

/** The answer to "what can you do?". */
const describe = (offered: ReadonlySet<string>): string =>
  [
    `${label}: I answer a fixed list of requests with Troupe's own tools, without any network.`,
    "",
    "I can:",
    ...skills.map(
      (skill) =>
        `- ${skill.summary}, e.g. ${skill.examples.map((example) => `“${example}”`).join(", ")}` +
        (isOffered(skill, offered) ? "" : ` (off: ${skill.tool?.configKey} turns it on)`)
    ),
    "",
    "Two requests may be joined with “and”. To talk to a real model, set [llm].provider and [llm].model."
  ].join("\n")

/** The table for the documents, as Markdown. */
export const markdown = (): string =>
  [
    "| Request | Say, for example | Tool | Turned on by |",
    "| --- | --- | --- | --- |",
    ...skills.map(
      (skill) =>
        `| ${skill.summary} | ${skill.examples.map((example) => `\`${example}\``).join(", ")} | ${
          skill.tool === undefined ? "–" : `\`${skill.tool.name}\``
        } | ${skill.tool === undefined ? "always there" : `\`${skill.tool.configKey}\``} |`
    )
  ].join("\n")

/** Reads a tool result in whatever form it was put into the history. */
export const readOutcome = (result: unknown, failed: boolean): Outcome => {
  const value = typeof result === "string" ? Option.getOrElse(Json.parse(result), () => result) : result
  const envelope = Option.getOrUndefined(decodeObject(value))
  const data = Option.getOrUndefined(decodeObject(envelope?.["data"]))
  const inner = Option.getOrUndefined(
    Option.flatMap(Option.filter(Option.fromUndefinedOr(envelope?.["text"]), isText), (text) =>
      Option.flatMap(Json.parse(text), decodeObject)
    )
  )
  const sources = [envelope, data, inner]
  const field = (name: string) =>
    Option.fromUndefinedOr(
      sources.map((source) => source?.[name]).find((found) => typeof found === "string" || typeof found === "number")
    ).pipe(Option.map(String))
  const list = (name: string) => {
    const found = sources.map((source) => source?.[name]).find((value) => Array.isArray(value))
    return Array.isArray(found) ? found.flatMap((item: unknown) => Option.toArray(decodeObject(item))) : []
  }
  const status = envelope?.["status"]
  // A program that ended badly has a result like any other: only a refusal says why in `error`.
  const refused = envelope?.["ok"] === false && isText(envelope["error"])
  const details = Option.getOrUndefined(
    decodeObject(sources.map((source) => source?.["details"]).find(Predicate.isNotUndefined))
  )
  const reason = details?.["reason"]
  return {
    denied: Option.contains(field("error_code"), deniedCode) ? (isText(reason) ? reason : "") : undefined,
    failed: failed || status === "error" || refused || envelope?.["skipped"] === true,
    text: Option.getOrElse(
      Option.orElse(field("error"), () => Option.orElse(field("message"), () => field("text"))),
      () => (typeof value === "string" ? value : Option.getOrElse(Json.stringify(value), () => ""))
    ),
    field,
    list
  }
}

const decodeObject = Schema.decodeUnknownOption(Schema.Record(Schema.String, Schema.Unknown))
const deniedCode = "tool_approval:denied"
const isText = (value: unknown): value is string => typeof value === "string"
