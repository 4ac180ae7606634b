/**
 * Helpers over prompt and response parts, shared by the language models of this project.
 */
import type * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"

/** The ids of all tool calls in a history. */
export const callIds = (prompt: Prompt.Prompt): Set<string> => {
  const ids = new Set<string>()
  for (const message of prompt.content) {
    if (message.role !== "assistant") continue
    for (const part of message.content) if (part.type === "tool-call") ids.add(part.id)
  }
  return ids
}

/** `wanted`, or `wanted` with the first free number after it; the result is added to `taken`. */
export const uniqueId = (wanted: string, taken: Set<string>): string => {
  let id = wanted
  for (let n = 2; taken.has(id); n++) id = `${wanted}_${n}`
  taken.add(id)
  return id
}

/** The parts of a whole answer from the parts of its stream: deltas joined, in the order the blocks ended. */
export const join = (parts: ReadonlyArray<Response.StreamPartEncoded>): Array<Response.PartEncoded> => {
  const texts = new Map<string, string>()
  const joined: Array<Response.PartEncoded> = []
  for (const item of parts) {
    switch (item.type) {
      case "text-delta":
      case "reasoning-delta":
        texts.set(item.id, (texts.get(item.id) ?? "") + item.delta)
        break
      case "text-end":
        joined.push({ type: "text", text: texts.get(item.id) ?? "" })
        break
      case "reasoning-end":
        joined.push({ type: "reasoning", text: texts.get(item.id) ?? "" })
        break
      case "tool-call":
      case "response-metadata":
      case "finish":
        joined.push(item)
        break
    }
  }
  return joined
}
