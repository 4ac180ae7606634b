/**
 * A prompt without the secrets of this process: what was written before a secret was known, what a person pasted, what a file of
 * instructions holds. Files are sent as they are. Pure.
 */
import * as Prompt from "effect/ai/Prompt"

/** The same prompt where no text of it changes. */
export const make = (prompt: Prompt.Prompt, mask: (text: string) => string): Prompt.Prompt => {
  const content = prompt.content.map((message) => maskMessage(message, mask))
  return content.every((message, index) => message === prompt.content[index]) ? prompt : Prompt.fromMessages(content)
}

type Mask = (text: string) => string

const maskMessage = (message: Prompt.Message, mask: Mask): Prompt.Message => {
  switch (message.role) {
    case "system": {
      const content = mask(message.content)
      return content === message.content ? message : { ...message, content }
    }
    case "user":
      return withContent(message, message.content, mask, (content) => ({ ...message, content }))
    case "assistant":
      return withContent(message, message.content, mask, (content) => ({ ...message, content }))
    case "tool":
      return withContent(message, message.content, mask, (content) => ({ ...message, content }))
  }
}

const withContent = <M, P extends Prompt.Part>(
  message: M,
  parts: ReadonlyArray<P>,
  mask: Mask,
  rebuilt: (parts: ReadonlyArray<P>) => M
): M => {
  const masked = parts.map((part) => maskPart(part, mask))
  return masked.every((part, index) => part === parts[index]) ? message : rebuilt(masked)
}

const maskPart = <P extends Prompt.Part>(part: P, mask: Mask): P => {
  switch (part.type) {
    case "text":
    case "reasoning": {
      const text = mask(part.text)
      return text === part.text ? part : { ...part, text }
    }
    case "tool-call": {
      const params = maskUnknown(part.params, mask)
      return params === part.params ? part : { ...part, params }
    }
    case "tool-result": {
      const result = maskUnknown(part.result, mask)
      return result === part.result ? part : { ...part, result }
    }
    default:
      return part
  }
}

const maskUnknown = (value: unknown, mask: Mask): unknown => {
  if (typeof value === "string") return mask(value)
  if (Array.isArray(value)) {
    const items = value.map((item) => maskUnknown(item, mask))
    return items.every((item, index) => item === value[index]) ? value : items
  }
  if (typeof value !== "object" || value === null) return value
  const entries = Object.entries(value)
  const masked = entries.map(([key, item]) => [key, maskUnknown(item, mask)] as const)
  return masked.every(([, item], index) => item === entries[index]?.[1]) ? value : Object.fromEntries(masked)
}
