/** A tool call that a model wrote into its answer instead of making it: nothing runs it, and a person would read it. Pure. */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"

/**
 * Whether the text holds one. It must begin with one of the marks that models are trained on, or be nothing but the JSON of a
 * call, and name a tool that there is. What stands between backticks is about a call, unless it is the whole answer.
 */
export const isIn = (text: string, isTool: (name: string) => boolean): boolean => {
  const answer = text.trim()
  const whole = fenced.exec(answer)?.[1] ?? answer
  return isCall(whole, isTool) || marked(whole === answer ? withoutCode(answer) : whole, isTool)
}

/** Text that is one block of code. */
const fenced = /^```[\w-]*\n([^`]*)```$/

const withoutCode = (text: string): string =>
  text
    .split("```")
    .filter((_, index) => index % 2 === 0)
    .join("\n")
    .replaceAll(/`[^`\n]*`/g, "")

const Call = Schema.Struct({
  name: Schema.String,
  arguments: Schema.optionalKey(Schema.Json),
  parameters: Schema.optionalKey(Schema.Json)
})
const decodeCall = Schema.decodeUnknownOption(Schema.fromJsonString(Call))

const isCall = (text: string, isTool: (name: string) => boolean): boolean =>
  text.startsWith("{") &&
  Option.exists(
    decodeCall(text),
    (call) => isTool(call.name) && (call.arguments !== undefined || call.parameters !== undefined)
  )

/** How calls begin where a model was taught to write them. */
const mark = /<\|?(?:tool[_▁](?:call|calls)|function_calls?|function=|invoke )|\[TOOL_CALLS\]/g

/** How far behind the mark the name of the tool is looked for, in characters. */
const nameWithin = 200

const marked = (text: string, isTool: (name: string) => boolean): boolean =>
  Array.from(text.matchAll(mark)).some(({ index }) =>
    (text.slice(index, index + nameWithin).match(/[A-Za-z0-9_-]+/g) ?? []).some(isTool)
  )
