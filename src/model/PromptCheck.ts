/**
 * What the pickiest provider demands of a history, as one pure check.
 *
 * Real APIs differ in what they forgive; a history that passes here is accepted by all of them. Used by the scripted
 * model's strict mode and by tests that kill and resume turns.
 */
import type * as Prompt from "effect/ai/Prompt"

/** Every rule the prompt breaks, in reading order; empty when it is sound. Each line names the message index. */
export const problems = (prompt: Prompt.Prompt): ReadonlyArray<string> => {
  const found: Array<string> = []
  const state: State = { pending: new Map(), seen: new Set(), lastRole: undefined }
  prompt.content.forEach((message, index) => {
    const report = (problem: string) => found.push(`message ${index} (${message.role}): ${problem}`)
    checkOrder(message, state, report)
    checkStrings(message, report)
    checkCalls(message, state, report)
    state.lastRole = message.role
  })
  for (const name of state.pending.values()) found.push(`end: call of ${name} has no result`)
  if (state.lastRole === "assistant") found.push("end: the last message must be from the user or a tool")
  if (!prompt.content.some((message) => message.role !== "system")) found.push("end: there is nothing to answer")
  return found
}

type Report = (problem: string) => void

interface State {
  /** Calls of the last assistant message that still wait for a result: id → tool name. */
  readonly pending: Map<string, string>
  /** Every call id so far. */
  readonly seen: Set<string>
  lastRole: Prompt.Message["role"] | undefined
}

const checkOrder = (message: Prompt.Message, state: State, report: Report) => {
  if (message.role === "system") {
    if (message.content.length === 0) report("is empty")
    if (state.lastRole === "system") report("there may be only one system message")
    else if (state.lastRole !== undefined) report("the system message must come first")
    return
  }
  if (message.content.length === 0) report("is empty")
  else if (message.content.every(({ type }) => type === "reasoning")) report("has nothing but reasoning")
  if (message.role !== "tool" && state.pending.size > 0) {
    report(`comes before the results of ${[...state.pending.values()].join(", ")}`)
    state.pending.clear()
  }
}

const checkStrings = (message: Prompt.Message, report: Report) => {
  if (message.role === "system") {
    checkText(message.content, report)
    return
  }
  for (const part of message.content) {
    switch (part.type) {
      case "text":
        if (part.text.trim() === "") report("has a blank text part")
        checkText(part.text, report)
        break
      case "reasoning":
        checkText(part.text, report)
        break
      case "tool-call":
        checkText(part.params, report)
        break
      case "tool-result":
        checkText(part.result, report)
        break
    }
  }
}

const checkCalls = (message: Prompt.Message, state: State, report: Report) => {
  if (message.role === "assistant") {
    for (const part of message.content) {
      if (part.type !== "tool-call") continue
      if (!callId.test(part.id)) report(`call id "${part.id.slice(0, 80)}" is not 1 to 64 letters, digits, _ or -`)
      if (state.seen.has(part.id)) report(`call id "${part.id.slice(0, 80)}" is used twice`)
      if (!toolName.test(part.name))
        report(`tool name "${part.name.slice(0, 80)}" is not 1 to 64 letters, digits, _ or -`)
      state.seen.add(part.id)
      state.pending.set(part.id, part.name)
    }
  }
  if (message.role === "tool") {
    for (const part of message.content) {
      if (part.type !== "tool-result") continue
      const name = state.pending.get(part.id)
      if (name === undefined) report(`result "${part.id.slice(0, 80)}" answers no open call`)
      else if (name !== part.name) report(`result of ${part.name} answers a call of ${name}`)
      state.pending.delete(part.id)
    }
  }
}

const callId = /^[A-Za-z0-9_-]{1,64}$/
const toolName = /^[A-Za-z0-9_-]{1,64}$/

const checkText = (value: unknown, report: Report) => {
  for (const text of strings(value)) {
    if (!text.isWellFormed()) report("has a string with half of a surrogate pair")
    if (text.includes("\0")) report("has a string with a NUL character")
  }
}

/** Every string inside a JSON-like value, keys included. */
const strings = function* (value: unknown): Generator<string> {
  if (typeof value === "string") yield value
  else if (Array.isArray(value)) {
    for (const item of value) yield* strings(item)
  } else if (typeof value === "object" && value !== null) {
    for (const [key, item] of Object.entries(value)) {
      yield key
      yield* strings(item)
    }
  }
}
