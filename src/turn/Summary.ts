/** The request for the summary that takes the place of older messages, and how what it gives is judged. Pure. */
import * as Prompt from "effect/ai/Prompt"
import type * as Entry from "../thread/Entry.ts"
import * as ToolName from "../tool/ToolName.ts"
import * as Compaction from "./Compaction.ts"
import * as History from "./History.ts"

/** What is to be summarised. */
export interface Material {
  /** The summary of what came before it. */
  readonly earlier: string | undefined
  readonly messages: ReadonlyArray<Prompt.Message>
}

/** What a plan replaces. */
export const material = (entries: ReadonlyArray<Entry.StoredEntry>, { keepFrom }: Compaction.Plan): Material => ({
  earlier: Compaction.standing(entries, Compaction.isSummary).compacted?.summary,
  messages: History.shownBefore(entries, keepFrom)
})

/** The request, with at most so many tokens of material, as estimated. */
export const request = (instructions: string, given: Material, maxTokens: number): Prompt.Prompt =>
  Prompt.fromMessages([
    Prompt.systemMessage({ content: History.sendable(instructions) }),
    Prompt.userMessage({
      content: [
        Prompt.textPart({
          text: History.sendable(
            `<conversation>\n${transcript(given, maxTokens)}\n</conversation>\n\nWrite the summary of this conversation now.`
          )
        })
      ]
    })
  ])

/** Whether a summary is shorter than what it stands for. */
export const saves = (summary: string, { earlier = "", messages }: Material): boolean =>
  summary.length < earlier.length + messages.flatMap(linesOf).reduce((sum, { text }) => sum + text.length, 0)

/** Characters (code points) of each message that go in; fewer when there are too many messages. */
const mostPerMessage = 2000
const leastPerMessage = 125

const transcript = ({ earlier, messages }: Material, maxTokens: number): string => {
  const lines = messages.flatMap(linesOf)
  const before =
    earlier === undefined ? [] : [`Summary of what came before:\n${clip(earlier, Math.max(1, maxTokens * 2))}`]
  const left = maxTokens - Compaction.estimate(before.join(""))
  let perMessage = mostPerMessage
  let written = write(lines, perMessage)
  while (perMessage > leastPerMessage && Compaction.estimate(written.join("\n\n")) > left) {
    perMessage = Math.floor(perMessage / 2)
    written = write(lines, perMessage)
  }
  return [...before, ...latest(written, left)].join("\n\n")
}

interface Line {
  readonly label: string
  readonly text: string
}

const write = (lines: ReadonlyArray<Line>, perMessage: number): ReadonlyArray<string> =>
  lines.map(({ label, text }) => `${label}: ${clip(text, perMessage)}`)

/** The last ones that fit, one at least. */
const latest = (lines: ReadonlyArray<string>, tokens: number): ReadonlyArray<string> => {
  let left = tokens
  const from = lines.findLastIndex((line) => (left -= Compaction.estimate(line)) < 0) + 1
  const kept = Math.min(from, Math.max(0, lines.length - 1))
  return kept === 0 ? lines : [`[${kept} earlier messages are left out]`, ...lines.slice(kept)]
}

const linesOf = (message: Prompt.Message): ReadonlyArray<Line> => {
  if (message.role === "system") return []
  return message.content.flatMap((part): ReadonlyArray<Line> => {
    switch (part.type) {
      case "text":
        return [{ label: message.role === "user" ? "Person" : "Assistant", text: part.text }]
      case "tool-call":
        return isNoWork(part.name) ? [] : [{ label: `Assistant calls ${part.name}`, text: JSON.stringify(part.params) }]
      case "tool-result":
        return isNoWork(part.name) ? [] : [{ label: `Result of ${part.name}`, text: textOf(part.result) }]
      default:
        return []
    }
  })
}

/** A declaration of how an answer is to be shown tells nothing of what was done. */
const isNoWork = (tool: string): boolean => ToolName.canonical(tool) === ToolName.answering

const textOf = (result: unknown): string => (typeof result === "string" ? result : JSON.stringify(result))

/** At most so many code points, and how many more there were. */
const clip = (text: string, max: number): string => {
  if (text.length <= max) return text
  const points = Array.from(text.slice(0, 2 * max))
  if (points.length <= max && text.length <= 2 * max) return text
  const kept = points.slice(0, max).join("")
  return `${kept}… [${text.length - kept.length} more characters]`
}
