/**
 * From the events of a response, or a whole response, to response parts.
 *
 * The finished items are what counts; the pieces before them are shown as they come. As with chat completions, calls are
 * handed out only when the server has said how the response ended, so that half a call is never mistaken for a whole one.
 */
import type * as Response from "effect/ai/Response"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Origin from "../../src/model/Origin.ts"
import * as Answers from "./Answers.ts"
import { maybe, Tokens } from "./Answers.ts"
import type { Collector, Part, Read } from "./Answers.ts"
import * as Tags from "./ResponsesTags.ts"

const Item = Schema.Struct({
  type: maybe(Schema.String),
  id: maybe(Schema.String),
  name: maybe(Schema.String),
  call_id: maybe(Schema.String),
  arguments: maybe(Schema.Unknown),
  content: maybe(Schema.Array(Schema.Json)),
  summary: maybe(Schema.Array(Schema.Json)),
  encrypted_content: maybe(Schema.String),
  phase: maybe(Schema.String)
})
type Item = typeof Item.Type

const Usage = Schema.Struct({
  input_tokens: Tokens,
  output_tokens: Tokens,
  input_tokens_details: maybe(Schema.Struct({ cached_tokens: Tokens })),
  output_tokens_details: maybe(Schema.Struct({ reasoning_tokens: Tokens }))
})

const Whole = Schema.Struct({
  id: maybe(Schema.String),
  model: maybe(Schema.String),
  created_at: maybe(Schema.Number),
  status: maybe(Schema.String),
  output: maybe(Schema.Array(Schema.Unknown)),
  incomplete_details: maybe(Schema.Struct({ reason: maybe(Schema.String) })),
  error: maybe(Schema.Unknown),
  usage: maybe(Usage)
})
type Whole = typeof Whole.Type

const Event = Schema.Struct({
  type: maybe(Schema.String),
  object: maybe(Schema.Unknown),
  response: maybe(Schema.Unknown),
  item: maybe(Schema.Unknown),
  item_id: maybe(Schema.String),
  output_index: maybe(Schema.Number),
  summary_index: maybe(Schema.Number),
  delta: maybe(Schema.Unknown),
  arguments: maybe(Schema.Unknown),
  error: maybe(Schema.Unknown)
})
type Event = typeof Event.Type

const decodeEvent = Schema.decodeUnknownOption(Event)
const decodeWhole = Schema.decodeUnknownOption(Whole)
const decodeItem = Schema.decodeUnknownOption(Item)
const decodeContent = Schema.decodeUnknownOption(
  Schema.Struct({ text: maybe(Schema.String), refusal: maybe(Schema.String) })
)

/** What is known of an output item. */
interface Slot extends Answers.Call {
  /** Its number among the output items, where the server counts them. */
  readonly index: number | undefined
  readonly place: number
  readonly kind: "text" | "reasoning" | "call"
  /** Text, reasoning, or arguments as far as they came in pieces. */
  text: string
  started: boolean
  ended: boolean
  name: string
  value: unknown
  /** The provider's id of the call. */
  callId: string
  itemId: string
  summary: number
}

export interface Options extends Answers.Ids {
  readonly origin: Origin.Origin
  /** Fingerprint of what the response answers, where the provider keeps it to go on from. */
  readonly before: string | undefined
}

export const makeCollector = (options: Options): Collector => {
  const slots: Array<Slot> = []
  let described = false
  let refused = false
  let size = 0
  let end: Whole | undefined

  const tag = (slot: Slot, item: Item | undefined) =>
    Tags.write({
      provider: options.origin.provider,
      model: options.origin.model,
      place: slot.place,
      ...(slot.itemId === "" ? {} : { id: slot.itemId }),
      ...(item?.phase ? { phase: item.phase } : {}),
      ...(slot.callId === "" ? {} : { callId: slot.callId }),
      ...(slot.kind === "reasoning" && item?.summary ? { summary: item.summary } : {}),
      ...(slot.kind === "reasoning" && item?.content ? { content: item.content } : {}),
      ...(slot.kind === "reasoning" && item?.encrypted_content ? { encrypted: item.encrypted_content } : {})
    })

  /** Servers tell items apart by number, by id, by both, or not at all. */
  const find = (kind: Slot["kind"], index: number | undefined, id: string): Slot | undefined => {
    const same = slots.filter((slot) => slot.kind === kind)
    const named = id === "" ? undefined : same.find((slot) => slot.itemId === id)
    if (named !== undefined) return named
    if (index !== undefined) return same.find((slot) => slot.index === index)
    return same.findLast((slot) => !slot.ended && (id === "" || slot.itemId === ""))
  }

  const slotFor = (event: Event, kind: Slot["kind"], item?: Item): Slot => {
    const index = event.output_index ?? undefined
    const itemId = item?.id ?? event.item_id ?? ""
    const found = find(kind, index, itemId)
    if (found !== undefined) return found
    const given = item?.call_id ?? ""
    const slot: Slot = {
      index,
      place: slots.length,
      kind,
      id: kind === "call" ? Answers.callId(given, slots.length + 1, options) : `${kind}_${slots.length + 1}`,
      text: "",
      started: false,
      ended: false,
      name: "",
      value: undefined,
      callId: given,
      itemId,
      summary: 0
    }
    size += Answers.costOfBlock
    slots.push(slot)
    return slot
  }

  const append = (slot: Slot, text: string, parts: Array<Part>) => {
    if (text === "" || slot.ended) return
    size += text.length
    slot.text += text
    if (slot.kind === "call") {
      if (slot.name !== "") parts.push({ type: "tool-params-delta", id: slot.id, delta: text })
      return
    }
    start(slot, parts)
    parts.push({ type: `${slot.kind}-delta`, id: slot.id, delta: text })
  }

  const start = (slot: Slot, parts: Array<Part>) => {
    if (slot.started || slot.kind === "call") return
    slot.started = true
    parts.push({ type: `${slot.kind}-start`, id: slot.id })
  }

  const named = (slot: Slot, name: string, parts: Array<Part>) => {
    if (slot.name !== "" || name === "") return
    slot.name = name
    parts.push({ type: "tool-params-start", id: slot.id, name })
    if (slot.text !== "") parts.push({ type: "tool-params-delta", id: slot.id, delta: slot.text })
  }

  /** The slot of an item; none for items that are neither text, nor reasoning, nor a call. */
  const slotOf = (event: Event, item: Item): Slot | undefined => {
    const kind = kinds.get(item.type ?? "")
    return kind === undefined ? undefined : slotFor(event, kind, item)
  }

  const finishItem = (slot: Slot, item: Item, parts: Array<Part>) => {
    if (slot.ended) return
    if (item.id) slot.itemId = item.id
    if (slot.kind === "call") finishCall(slot, item, parts)
    else {
      if (slot.kind === "text" && (item.content ?? []).some(isRefusal)) refused = true
      // The pieces may have been left out, or some of them.
      const whole = slot.kind === "text" ? textOf(item.content) : textOf(item.summary, "\n\n") || textOf(item.content)
      if (whole.startsWith(slot.text)) append(slot, whole.slice(slot.text.length), parts)
      size += item.encrypted_content?.length ?? 0
      if (slot.kind === "reasoning") start(slot, parts)
      if (slot.started) parts.push({ type: `${slot.kind}-end`, id: slot.id, metadata: tag(slot, item) })
    }
    slot.ended = true
  }

  const finishCall = (slot: Slot, item: Item, parts: Array<Part>) => {
    named(slot, item.name ?? "", parts)
    if (item.call_id) slot.callId = item.call_id
    takeArguments(slot, item.arguments)
  }

  const takeArguments = (slot: Slot, written: unknown) => {
    if (typeof written === "string") {
      if (written !== "") {
        size += Math.max(0, written.length - slot.text.length)
        slot.text = written
      }
    } else if (written !== undefined && written !== null) {
      slot.value = written
      size += JSON.stringify(written).length
    }
  }

  const describe = (whole: Whole): Array<Part> => {
    if (described || !whole.id) return []
    described = true
    return [Answers.metadata({ id: whole.id, model: whole.model, created: whole.created_at })]
  }

  const finish = (whole: Whole): Array<Part> => {
    const parts = describe(whole)
    ;(whole.output ?? []).forEach((value, index) => {
      const item = Option.getOrUndefined(decodeItem(value))
      const slot = item === undefined ? undefined : slotOf({ output_index: index }, item)
      if (item !== undefined && slot !== undefined) finishItem(slot, item, parts)
    })
    end = whole
    return parts
  }

  const onWhole = (value: unknown, read: (whole: Whole) => Array<Part>): Read =>
    Option.match(decodeWhole(value), {
      onNone: (): Read => ({ _tag: "Unreadable" }),
      onSome: (whole): Read =>
        whole.status === "failed" || (whole.error !== undefined && whole.error !== null)
          ? { _tag: "Failed", error: whole.error ?? {} }
          : { _tag: "Parts", parts: read(whole) }
    })

  const onDelta = (event: Event, kind: Slot["kind"]): Read => {
    const parts: Array<Part> = []
    if (typeof event.delta !== "string") return { _tag: "Parts", parts }
    const slot = slotFor(event, kind)
    const summary = event.summary_index ?? slot.summary
    if (slot.summary !== summary && slot.text !== "") append(slot, "\n\n", parts)
    slot.summary = summary
    append(slot, event.delta, parts)
    return { _tag: "Parts", parts }
  }

  const onItem = (event: Event, done: boolean): Read => {
    const parts: Array<Part> = []
    const item = Option.getOrUndefined(decodeItem(event.item))
    const slot = item === undefined ? undefined : slotOf(event, item)
    if (item === undefined || slot === undefined) return { _tag: "Parts", parts }
    if (done) finishItem(slot, item, parts)
    else if (slot.kind === "call") named(slot, item.name ?? "", parts)
    return { _tag: "Parts", parts }
  }

  const onEvent = (event: Event): Read => {
    switch (event.type) {
      case "response.created":
      case "response.in_progress":
        return onWhole(event.response, describe)
      case "response.output_item.added":
        return onItem(event, false)
      case "response.output_item.done":
        return onItem(event, true)
      case "response.refusal.delta":
        refused = true
        return onDelta(event, "text")
      case "response.output_text.delta":
        return onDelta(event, "text")
      case "response.reasoning_summary_text.delta":
      case "response.reasoning_text.delta":
        return onDelta(event, "reasoning")
      case "response.function_call_arguments.delta":
        return onDelta(event, "call")
      case "response.function_call_arguments.done":
        takeArguments(slotFor(event, "call"), event.arguments)
        return { _tag: "Parts", parts: [] }
      case "response.completed":
      case "response.incomplete":
      case "response.failed":
        return onWhole(event.response, finish)
      case "error":
        return { _tag: "Failed", error: event.error ?? event }
      default:
        // There are kinds of events for much that is not asked for, and more with every year.
        return { _tag: "Parts", parts: [] }
    }
  }

  const close = (whole: Whole): Array<Part> => {
    const parts: Array<Part> = []
    for (const slot of slots) {
      if (slot.started && !slot.ended)
        parts.push({ type: `${slot.kind === "text" ? "text" : "reasoning"}-end`, id: slot.id })
    }
    const calls = slots.filter(({ kind }) => kind === "call")
    for (const slot of calls) parts.push(...Answers.closeCall(slot, tag(slot, undefined)))
    parts.push({
      type: "finish",
      reason: refused ? "content-filter" : readStatus(whole, calls.length > 0),
      usage: readUsage(whole.usage),
      metadata: keptTag(whole, calls)
    })
    return parts
  }

  /** Only a response that came whole, with calls that can be told apart, can be gone on from. */
  const keptTag = (whole: Whole, calls: ReadonlyArray<Slot>) => {
    const ids = new Set(calls.map(({ callId }) => callId))
    const sound = whole.status === "completed" && ids.size === calls.length && !ids.has("")
    if (options.before === undefined || !whole.id || !sound) return {}
    const text = slots.map((slot) => (slot.kind === "text" ? slot.text : "")).join("")
    return Tags.write({
      provider: options.origin.provider,
      model: options.origin.model,
      responseId: whole.id,
      before: options.before,
      said: Tags.said(text, calls.length)
    })
  }

  return {
    push: (value): Read => {
      const event = Option.getOrUndefined(decodeEvent(value))
      if (event === undefined) return { _tag: "Unreadable" }
      if (event.type) return onEvent(event)
      if (event.object === "response") return onWhole(value, finish)
      return event.error ? { _tag: "Failed", error: event.error } : { _tag: "Unreadable" }
    },
    size: () => size,
    state: () => (end === undefined ? "open" : "complete"),
    close: () => (end === undefined || !isOver(end) ? Option.none() : Option.some(close(end)))
  }
}

const kinds: ReadonlyMap<string, Slot["kind"]> = new Map([
  ["message", "text"],
  ["reasoning", "reasoning"],
  ["function_call", "call"]
])

// ---------------------------------------------------------------------------------------------------------------------
// Reading fields

const textOf = (contents: ReadonlyArray<Schema.Json> | null | undefined, between = ""): string =>
  (contents ?? [])
    .map((content) =>
      Option.match(decodeContent(content), { onNone: () => "", onSome: ({ refusal, text }) => text ?? refusal ?? "" })
    )
    .join(between)

const isRefusal = (content: Schema.Json): boolean =>
  Option.match(decodeContent(content), { onNone: () => false, onSome: ({ refusal }) => Boolean(refusal) })

/** Some servers leave the status out where nothing is special. */
const isOver = ({ status }: Whole): boolean => !status || status === "completed" || status === "incomplete"

const readStatus = (whole: Whole, called: boolean): Response.FinishReason => {
  if (whole.status !== "incomplete") return Answers.finishReason("stop", called)
  const reason = Answers.finishReason(whole.incomplete_details?.reason ?? "", called)
  // Whatever else stopped it, what it was about to say or to call is not whole.
  return reason === "length" || reason === "content-filter" ? reason : "error"
}

const readUsage = (usage: typeof Usage.Type | null | undefined) =>
  Answers.usage({
    input: usage?.input_tokens,
    output: usage?.output_tokens,
    cacheRead: usage?.input_tokens_details?.cached_tokens,
    reasoning: usage?.output_tokens_details?.reasoning_tokens
  })
