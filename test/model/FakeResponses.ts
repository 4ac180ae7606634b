/** Events of the Responses API for `FakeOpenAi`: a whole response from its items, in the order in which OpenAI sends them. */
import * as Schema from "effect/Schema"
import * as Fake from "./FakeOpenAi.ts"

/** An output item. Pieces are what is streamed of it; none are for servers that send only finished items. */
export type Item =
  | { readonly type: "message"; readonly pieces: ReadonlyArray<string>; readonly id?: string; readonly phase?: string }
  | { readonly type: "refusal"; readonly pieces: ReadonlyArray<string> }
  | {
      readonly type: "reasoning"
      readonly pieces: ReadonlyArray<string>
      readonly id?: string
      readonly encrypted?: string
    }
  | {
      readonly type: "call"
      readonly pieces: ReadonlyArray<string>
      readonly name: string
      readonly callId?: string
      readonly id?: string
    }

export const event = (type: string, fields: object): Fake.Step =>
  Fake.send(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`)

/** The item as it is when it is finished. */
export const finished = (item: Item, index = 0): Record<string, unknown> => {
  switch (item.type) {
    case "message":
      return {
        type: "message",
        id: item.id ?? `msg_${index}`,
        role: "assistant",
        status: "completed",
        ...(item.phase === undefined ? {} : { phase: item.phase }),
        content: [{ type: "output_text", text: item.pieces.join(""), annotations: [] }]
      }
    case "refusal":
      return {
        type: "message",
        id: `msg_${index}`,
        role: "assistant",
        status: "completed",
        content: [{ type: "refusal", refusal: item.pieces.join("") }]
      }
    case "reasoning":
      return {
        type: "reasoning",
        id: item.id ?? `rs_${index}`,
        summary: item.pieces.length === 0 ? [] : [{ type: "summary_text", text: item.pieces.join("") }],
        ...(item.encrypted === undefined ? {} : { encrypted_content: item.encrypted })
      }
    case "call":
      return {
        type: "function_call",
        id: item.id ?? `fc_${index}`,
        call_id: item.callId ?? `call_${index}`,
        name: item.name,
        arguments: item.pieces.join(""),
        status: "completed"
      }
  }
}

const deltas = {
  message: "output_text",
  refusal: "refusal",
  reasoning: "reasoning_summary_text",
  call: "function_call_arguments"
}

/** The events of one item, without its end. */
export const opened = (item: Item, index = 0): ReadonlyArray<Fake.Step> => {
  const whole = finished(item, index)
  const place = { output_index: index, item_id: whole["id"] }
  const empty =
    item.type === "call"
      ? { ...whole, arguments: "" }
      : { ...whole, ...(item.type === "reasoning" ? { summary: [] } : { content: [] }) }
  return [
    event("response.output_item.added", { output_index: index, item: empty }),
    ...item.pieces.map((delta) =>
      event(`response.${deltas[item.type]}.delta`, { ...place, summary_index: 0, content_index: 0, delta })
    )
  ]
}

export const created = (id = "resp_1"): Fake.Step =>
  event("response.created", {
    response: { id, model: "fake-1", created_at: 1_700_000_000, status: "in_progress", output: [] }
  })

/** The last event. */
export const over = (items: ReadonlyArray<Item>, fields: Record<string, unknown> = {}): Fake.Step => {
  const response = {
    id: "resp_1",
    object: "response",
    status: "completed",
    output: items.map((item, index) => finished(item, index)),
    ...fields
  }
  const type = response.status === "completed" ? "completed" : response.status === "failed" ? "failed" : "incomplete"
  return event(`response.${type}`, { response })
}

/** A streamed response. `fields` are those of the finished response. */
export const stream = (items: ReadonlyArray<Item>, fields: Record<string, unknown> = {}): Fake.Reply =>
  Fake.stream(
    created(typeof fields["id"] === "string" ? fields["id"] : "resp_1"),
    ...items.flatMap((item, index) => [
      ...opened(item, index),
      event("response.output_item.done", { output_index: index, item: finished(item, index) })
    ]),
    over(items, fields)
  )

// ---------------------------------------------------------------------------------------------------------------------
// Compaction

const Sent = Schema.Struct({
  model: Schema.NonEmptyString,
  input: Schema.NonEmptyArray(Schema.Record(Schema.String, Schema.Unknown)),
  prompt_cache_key: Schema.optionalKey(Schema.String),
  prompt_cache_retention: Schema.optionalKey(Schema.String)
})
const decodeSent = Schema.decodeUnknownOption(Sent, { onExcessProperty: "error" })

/** What `encrypted` of a compaction item stands for. */
export const compaction = (encrypted: string) => ({
  type: "compaction",
  id: `cmp_${encrypted}`,
  encrypted_content: encrypted
})

/**
 * The endpoint `/responses/compact`, which refuses all that the real one does not know. It gives the messages of the person as
 * they came and one item for all else; `encrypted` is its content.
 */
export const compact =
  (encrypted: string, usage: object = { input_tokens: 900, output_tokens: 30 }) =>
  ({ body, path }: Fake.Received): Fake.Reply => {
    if (path !== "/v1/responses/compact") return refuse(404, `there is no ${path}`)
    const sent = decodeSent(body)
    if (sent._tag === "None") return refuse(400, "unknown fields, or no history")
    const problem = problemOf(sent.value.input)
    if (problem !== undefined) return refuse(400, problem)
    const said = sent.value.input.filter(({ role }) => role === "user")
    const output = [...said.map((item) => ({ type: "message", ...item })), compaction(encrypted)]
    return Fake.json({ id: "resp_c", object: "response.compaction", created_at: 1_700_000_000, output, usage })
  }

const refuse = (status: number, message: string): Fake.Reply =>
  Fake.json({ error: { message, type: "invalid_request_error" } }, status)

/** The first thing wrong with a history: a call without its output, or items that lack what they belong to. */
const problemOf = (input: ReadonlyArray<Readonly<Record<string, unknown>>>): string | undefined => {
  const known = new Set(["message", "function_call", "function_call_output", "reasoning", "compaction"])
  const open = new Set<unknown>()
  for (const item of input) {
    if (item["type"] !== undefined && !known.has(String(item["type"]))) return `unknown item ${String(item["type"])}`
    if (item["type"] === undefined && item["role"] === undefined) return "an item that is nothing"
    if (item["type"] === "function_call") open.add(item["call_id"])
    if (item["type"] === "function_call_output" && !open.delete(item["call_id"])) return "an output without its call"
  }
  return open.size > 0 ? "a call without its output" : undefined
}
