/**
 * What a client says was said before, as far as an agent is concerned: texts with roles. A client of this protocol sends
 * the whole conversation with each request; what of it becomes a message of a thread is decided here.
 */
import * as Predicate from "effect/Predicate"
import type * as Attachment from "../attachment/Attachment.ts"
import type * as Entry from "../thread/Entry.ts"

/** `tool` is the result of a call that another model made for this client. */
export interface Message {
  readonly role: "user" | "assistant" | "tool"
  readonly text: string
  /** Images and files that came with it. */
  readonly files?: ReadonlyArray<Attachment.Encoded>
}

export interface Parts {
  /** Up to and with the last thing an assistant said. */
  readonly history: ReadonlyArray<Message>
  /** What has not been answered yet. */
  readonly said: ReadonlyArray<Message>
}

export const split = (messages: ReadonlyArray<Message>): Parts => {
  const last = messages.findLastIndex(({ role }) => role === "assistant")
  return { history: messages.slice(0, last + 1), said: messages.slice(last + 1) }
}

/** The text whose fingerprint names a conversation: the same for the same things said, whatever else is in the request. */
export const canonical = (messages: ReadonlyArray<Message>): string =>
  JSON.stringify(messages.map(({ files = [], role, text }) => [role, normal(text), ...files.map(({ data }) => data)]))

/** Clients trim what they show, and send back what they showed. */
export const sameText = (one: string, other: string): boolean => normal(one) === normal(other)

const normal = (text: string): string => text.toWellFormed().replaceAll("\r\n", "\n").trim()

/**
 * The text of the message that is accepted. Words of the person alone stand as they are. Everything else the client sent is
 * put before them, named as what it is; what others said stands in JSON, one message a line, so that no text can pass for
 * the end of it.
 */
export const render = (content: Parts & { readonly instructions: string; readonly replacing: boolean }): string => {
  const { history, instructions, replacing, said } = content
  const before = said.every(({ role }) => role === "user") ? history : [...history, ...said]
  const blocks = [
    instructions === "" ? undefined : `${replacing ? newInstructionsTitle : instructionsTitle}\n${instructions}`,
    before.length === 0 ? undefined : `${historyTitle}\n${before.map(line).join("\n")}`
  ].filter(Predicate.isNotUndefined)
  const words = before.length > history.length ? goOn : said.map(({ text }) => text).join("\n\n")
  return blocks.length === 0 ? words : [...blocks, `${wordsTitle}\n${words}`].join("\n\n")
}

const line = ({ files = [], role, text }: Message): string =>
  JSON.stringify({
    role,
    text: text.toWellFormed(),
    ...(files.length === 0 ? {} : { files: files.map(({ name }) => `${name} (not shown here)`) })
  })

const instructionsTitle = "[Instructions of the client for this conversation]"
const newInstructionsTitle = "[Instructions of the client for this conversation, in place of its earlier ones]"
const historyTitle = "[What was said before, as the client tells it, one message a line]"
const wordsTitle = "[The message to answer]"
const goOn = "Go on from the last of these messages."

/** What was said in a thread, from its entries: for a conversation that goes on from an earlier place than its end. */
export const ofLog = (entries: ReadonlyArray<Entry.StoredEntry>): ReadonlyArray<Message> => {
  const words = new Map(
    entries.flatMap(({ entry }) => (entry._tag === "UserMessage" ? [[entry.messageId, entry.text] as const] : []))
  )
  return entries.flatMap(({ entry }): ReadonlyArray<Message> => {
    switch (entry._tag) {
      case "TurnStarted":
      case "MessagesFolded":
        return entry.messageIds.map((id) => ({ role: "user", text: words.get(id) ?? "" }))
      case "AssistantMessage":
        return entry.text.trim() === "" ? [] : [{ role: "assistant", text: entry.text }]
      case "Notice":
        return [{ role: "assistant", text: entry.text }]
      default:
        return []
    }
  })
}
