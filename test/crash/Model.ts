/**
 * The model: it has no memory but the request. It calls the tools that the messages since its last answer name, one or two at a
 * time, and then answers with the tags of these messages. It is as strict about what it is sent as the strictest provider.
 */
import * as Schema from "effect/Schema"
import * as Protocol from "./Protocol.ts"

const Call = Schema.Struct({
  id: Schema.String,
  function: Schema.Struct({ name: Schema.String, arguments: Schema.String })
})

const Message = Schema.Struct({
  role: Schema.Literals(["system", "developer", "user", "assistant", "tool"]),
  content: Schema.optionalKey(Schema.NullOr(Schema.Unknown)),
  tool_calls: Schema.optionalKey(Schema.Array(Call)),
  tool_call_id: Schema.optionalKey(Schema.String)
})
type Message = typeof Message.Type

const decode = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Struct({ messages: Schema.Array(Message) })))

export const readRequest = (body: string): ReadonlyArray<Message> => decode(body).messages

const calls = (message: Message) => message.tool_calls ?? []
const words = (message: Message): string =>
  typeof message.content === "string" ? message.content : JSON.stringify(message.content ?? "")

/** What a provider that checks everything would say of the history. */
export const problems = (messages: ReadonlyArray<Message>): ReadonlyArray<string> => {
  const found: Array<string> = []
  let open = new Set<string>()
  const known = new Set<string>()
  for (const [index, message] of messages.entries()) {
    if (message.role === "tool") {
      const id = message.tool_call_id ?? ""
      if (!open.delete(id)) found.push(`message ${index}: a result for ${id}, which is not a call that waits for one`)
      continue
    }
    if (open.size > 0) found.push(`message ${index}: ${open.size} calls before it have no result`)
    open = new Set(calls(message).map(({ id }) => id))
    if (open.size !== calls(message).length || [...open].some((id) => known.has(id))) {
      found.push(`message ${index}: the id of a call is used twice`)
    }
    for (const id of open) known.add(id)
    if (index > 0 && (message.role === "system" || message.role === "developer")) {
      found.push(`message ${index}: a ${message.role} message in the middle`)
    }
    if (calls(message).length === 0 && words(message).trim() === "") found.push(`message ${index}: it is empty`)
  }
  if (open.size > 0) found.push(`the last ${open.size} calls have no result`)
  if (messages.at(-1)?.role === "assistant") found.push("the last message is one of the assistant")
  return found
}

/** The pieces of the streamed answer. */
export const answer = (messages: ReadonlyArray<Message>, salt: string): ReadonlyArray<string> => {
  const last = messages.findLastIndex((message) => message.role === "assistant" && calls(message).length === 0)
  const since = messages.slice(last + 1)
  const asked = since.flatMap((message) => (message.role === "user" ? [Protocol.readText(words(message))] : []))
  const wanted = asked.flatMap((found) =>
    (found ?? { tag: "", calls: [] }).calls.map((tool) => [tool, found?.tag] as const)
  )
  const made = since.reduce((sum, message) => sum + calls(message).length, 0)
  const next = wanted.slice(made, made + 1 + (made % 2))
  if (next.length > 0)
    return stream([{ tool_calls: next.map(([tool, tag], index) => call(index, tool, tag, salt)) }], "tool_calls")
  const tags = asked.flatMap((found) => (found === undefined ? [] : [`<${found.tag}>`]))
  return stream([{ content: "Done: " }, { content: tags.join(" ") }, { content: "." }], "stop")
}

const call = (index: number, tool: string, tag: string | undefined, salt: string) => ({
  index,
  id: `call_${salt}_${index}`,
  type: "function",
  function: { name: tool, arguments: JSON.stringify({ tag }) }
})

const stream = (deltas: ReadonlyArray<object>, reason: string): ReadonlyArray<string> => [
  ...deltas.map((delta) =>
    event({ choices: [{ index: 0, delta: { role: "assistant", ...delta }, finish_reason: null }] })
  ),
  event({ choices: [{ index: 0, delta: {}, finish_reason: reason }] }),
  event({ choices: [], usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } }),
  "data: [DONE]\n\n"
]

const event = (fields: object): string =>
  `data: ${JSON.stringify({ id: "chatcmpl-1", object: "chat.completion.chunk", created: 0, model: "rig", ...fields })}\n\n`
