/**
 * What the model sees of a thread: the journal rendered as a prompt.
 *
 * This is the border where history is made valid for the pickiest provider: every tool call gets exactly one result right
 * behind it, results without a call are dropped, texts are well formed and never blank, reasoning and metadata go back to
 * the model that wrote them and to no other.
 */
import * as Prompt from "effect/ai/Prompt"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Attachment from "../attachment/Attachment.ts"
import type * as Ids from "../Ids.ts"
import * as Memo from "../Memo.ts"
import type * as Models from "../model/Models.ts"
import * as NativeCompaction from "../model/NativeCompaction.ts"
import * as Origin from "../model/Origin.ts"
import type * as Entry from "../thread/Entry.ts"
import * as Arguments from "../tool/Arguments.ts"
import * as ToolName from "../tool/ToolName.ts"
import * as Attached from "./Attached.ts"
import * as Compaction from "./Compaction.ts"
import * as Framing from "./Framing.ts"
import * as TurnEntries from "./TurnEntries.ts"
import * as ResponseParts from "./ResponseParts.ts"

export interface Options {
  readonly system: string
  /** Only the last so many messages of earlier turns; the current turn is always whole. */
  readonly maxMessages?: number | undefined
  /** The turn that the prompt is for. */
  readonly turnId: Ids.TurnId
  /** The model that will read it. */
  readonly reader?: Reader | undefined
  /** Files that are shown as they are, to a reader that takes them. */
  readonly shown?: Attached.Shown | undefined
}

/** A model, what it takes, and whether its adapter makes something of what its provider has compacted. */
export type Reader = Pick<Models.ModelHandle, "provider" | "model" | "info" | "compact">

/** Renders the entries from `historyFrom` on (all others must have been left out already). */
export const render = (entries: ReadonlyArray<Entry.StoredEntry>, options: Options): Prompt.Prompt => {
  const before = Compaction.standing(entries, readableBy(options.reader))
  const units = trim(collect(entries, before, options), options)
  const messages = [...standingMessages(before), ...units.flatMap((unit) => unit.parts)]
  const last = messages.at(-1)
  // The turn loop asks only where something is to be answered. This is for histories that it did not write.
  const answerable = last !== undefined && last.role !== "assistant"
  return Prompt.fromMessages([
    Prompt.systemMessage({ content: blankSafe(clean(options.system)) }),
    ...messages,
    ...(answerable ? [] : [userMessage("Go on.")])
  ])
}

/**
 * What of these entries is shown to a reader and begins before `end`; without what stands for older ones. Left out, the reader is
 * any model.
 */
export const shownBefore = (
  entries: ReadonlyArray<Entry.StoredEntry>,
  end: number,
  reader?: Reader
): ReadonlyArray<Prompt.Message> =>
  collect(
    entries.filter(({ seq }) => seq < end),
    Compaction.standing(entries, readableBy(reader)),
    { reader }
  ).flatMap((unit) => unit.parts)

/** The same with what stands for older ones, as its own prompt. */
export const promptBefore = (entries: ReadonlyArray<Entry.StoredEntry>, end: number, reader: Reader): Prompt.Prompt =>
  Prompt.fromMessages([
    ...standingMessages(Compaction.standing(entries, readableBy(reader))),
    ...shownBefore(entries, end, reader)
  ])

/** What a provider has compacted is read by the same model of it, and by nobody else. */
export const readableBy =
  (reader: Reader | undefined): Compaction.Holds =>
  (compacted) =>
    Compaction.isSummary(compacted) || (reader?.compact !== undefined && Origin.same(compacted, reader))

/** The messages that stand for what a compaction has replaced. */
const standingMessages = ({ compacted }: Compaction.Standing): ReadonlyArray<Prompt.Message> => {
  if (compacted === undefined) return []
  return compacted.items === undefined
    ? [userMessage(summaryRequest), assistantText(compacted.summary)]
    : [NativeCompaction.message(compacted, compacted.items)]
}

const summaryRequest = "Summarise our conversation so far, so that we can go on from there."

/** For a model that finds the task once more behind what tells of its own work on it. */
const goOn =
  "(Some of what this asks for has been done already, as is told above. Go on from there, and do not begin again.)"

/** Messages a person would count: what people and agents said, not the plumbing between. A summary counts as one. */
export const countMessages = (entries: ReadonlyArray<Entry.StoredEntry>): number =>
  Compaction.visible(entries).length + (isSummarised(entries) ? 1 : 0)

/** Whether a summary stands for older messages. */
export const isSummarised = (entries: ReadonlyArray<Entry.StoredEntry>): boolean =>
  Compaction.standing(entries).compacted !== undefined

/**
 * The `seq` from which on the last `keep` messages are left. What the running turn has said and heard is always kept, so
 * a turn cannot saw off the branch it sits on.
 */
export const keepFrom = (entries: ReadonlyArray<Entry.StoredEntry>, keep: number, turnId: Ids.TurnId): number => {
  const counted = Compaction.visible(entries)
  const end = (entries.at(-1)?.seq ?? 0) + 1
  const wanted = keep === 0 ? end : (counted.at(-keep)?.seq ?? entries[0]?.seq ?? end)
  return Math.min(wanted, startOfTurn(entries, turnId) ?? end)
}

/** The first entry that belongs to the turn, its messages included, which may be older than its start. */
const startOfTurn = (entries: ReadonlyArray<Entry.StoredEntry>, turnId: Ids.TurnId): number | undefined => {
  const messageIds = new Set(
    entries.flatMap(({ entry }) =>
      (entry._tag === "TurnStarted" || entry._tag === "MessagesFolded") && entry.turnId === turnId
        ? entry.messageIds
        : []
    )
  )
  return entries.find(({ entry }) =>
    entry._tag === "UserMessage" ? messageIds.has(entry.messageId) : entry.turnId === turnId
  )?.seq
}

/** One unit that must stay together: a user message, or a response with the results of its calls. */
interface Unit {
  readonly turnId: Ids.TurnId | undefined
  readonly parts: ReadonlyArray<Prompt.Message>
}

type Paths = Extract<Entry.Entry, { _tag: "FilesSaved" }>["paths"]
type Heard = ReadonlyArray<Entry.Heard>
type UserEntry = Extract<Entry.Entry, { _tag: "UserMessage" }>
type AssistantEntry = Extract<Entry.Entry, { _tag: "AssistantMessage" }>
type ResultEntry = Extract<Entry.Entry, { _tag: "ToolResult" }>

const collect = (
  entries: ReadonlyArray<Entry.StoredEntry>,
  before: Compaction.Standing,
  { reader, shown, turnId: running }: Partial<Options>
): ReadonlyArray<Unit> => {
  const users = new Map<Ids.MessageId, UserEntry>()
  const saved = new Map<Ids.MessageId, Paths>()
  const heard = new Map<Ids.MessageId, Heard>()
  const results = new Map<Ids.CallId, ResultEntry>()
  const made = new Set<Ids.CallId>()
  /** Turns that came to an answer or to a call, which is more than a question and a failure. */
  const worked = new Set<Ids.TurnId>()
  let lastEnded: Ids.TurnId | undefined
  /** Each call once, however often its id is there. */
  const newCalls = (entry: AssistantEntry) => entry.calls.filter(({ callId }) => !made.has(callId) && made.add(callId))
  for (const { entry } of entries) {
    if (entry._tag === "UserMessage") users.set(entry.messageId, entry)
    if (entry._tag === "FilesSaved") saved.set(entry.messageId, entry.paths)
    if (entry._tag === "RecordingsHeard") heard.set(entry.messageId, entry.heard)
    if (entry._tag === "ToolResult" && !results.has(entry.callId)) results.set(entry.callId, entry)
    if (entry._tag === "AssistantMessage") worked.add(entry.turnId)
    if (entry._tag === "TurnEnded" && entry.turnId !== running) lastEnded = entry.turnId
  }
  /** What was asked in turns that came to nothing, since the last that came to something. */
  const unanswered = new Set<string>()
  const units = (stored: Entry.StoredEntry): ReadonlyArray<Unit> => {
    const { entry } = stored
    if (Compaction.hides(before, stored)) return []
    switch (entry._tag) {
      case "TurnStarted":
      case "MessagesFolded":
        return entry.messageIds.flatMap((id) => {
          const user = users.get(id)
          if (user === undefined) return []
          const said = [user.text, ...user.attachments.map(({ sha256 }) => sha256)].join("\0")
          // Who was not answered asks again: said once is enough.
          if (entry.turnId === running || worked.has(entry.turnId)) unanswered.clear()
          else if (unanswered.has(said)) return []
          else unanswered.add(said)
          return [{ turnId: entry.turnId, parts: [fromUser(user, saved.get(id), heard.get(id), reader, shown)] }]
        })
      case "AssistantMessage":
        return responseUnit(entry, newCalls(entry), results, reader)
      case "FileInserted":
        return [{ turnId: entry.turnId, parts: [inserted(entry, reader, shown)] }]
      case "Guidance":
        return [userUnit(entry.turnId, entry.text)]
      case "FilesRestored":
        return [userUnit(entry.turnId, TurnEntries.restoredNote(entry))]
      case "Notice":
        // How the last turn ended is worth knowing in the next; a failure that is long past is not, and they would pile up.
        return entry.turnId === running || entry.turnId === lastEnded
          ? [{ turnId: entry.turnId, parts: [assistantText(entry.text)] }]
          : []
      default:
        return []
    }
  }
  if (!before.midTurn || before.turnId === undefined) return entries.flatMap(units)
  // The messages of the turn come first, for it stood there when its work was summarised.
  const first = entries.filter(({ seq }) => seq < before.keepFrom).flatMap(units)
  const later = entries.filter(({ seq }) => seq >= before.keepFrom).flatMap(units)
  return first.length === 0 ? later : [...first, userUnit(before.turnId, goOn), ...later]
}

const trim = (units: ReadonlyArray<Unit>, options: Options): ReadonlyArray<Unit> => {
  if (options.maxMessages === undefined) return units
  const firstOfTurn = units.findIndex((unit) => unit.turnId === options.turnId)
  const earlier = firstOfTurn === -1 ? units.length : firstOfTurn
  return units.slice(Math.max(0, earlier - options.maxMessages))
}

const responseUnit = (
  entry: AssistantEntry,
  calls: ReadonlyArray<Entry.ToolCallRequest>,
  results: ReadonlyMap<Ids.CallId, ResultEntry>,
  reader: Options["reader"]
): ReadonlyArray<Unit> => {
  const own = reader?.provider === entry.provider && reader.model === entry.model
  const answers = calls.map(({ callId }) => results.get(callId))
  const rendered = own ? asOwn : asForeign
  const before = rendered.get(entry)
  if (before !== undefined && same(before.calls, calls) && same(before.answers, answers)) return before.units
  const parts = responseMessages(entry, calls, answers, own)
  const units = parts.length === 0 ? [] : [{ turnId: entry.turnId, parts }]
  rendered.set(entry, { calls, answers, units })
  return units
}

/**
 * What responses were rendered as, for as long as they are in memory: each step of a turn renders the whole thread, and
 * entries never change. Adapters may remember what they make of the same messages.
 */
interface Rendered {
  readonly calls: ReadonlyArray<Entry.ToolCallRequest>
  readonly answers: ReadonlyArray<ResultEntry | undefined>
  readonly units: ReadonlyArray<Unit>
}
const asOwn = new WeakMap<AssistantEntry, Rendered>()
const asForeign = new WeakMap<AssistantEntry, Rendered>()

const same = <A>(before: ReadonlyArray<A>, now: ReadonlyArray<A>): boolean =>
  before.length === now.length && before.every((one, index) => one === now[index])

const responseMessages = (
  entry: AssistantEntry,
  calls: ReadonlyArray<Entry.ToolCallRequest>,
  answers: ReadonlyArray<ResultEntry | undefined>,
  own: boolean
): ReadonlyArray<Prompt.Message> => {
  if (calls.length === 0 && clean(entry.text).trim() === "") return []
  const message = own
    ? Prompt.assistantMessage({
        content: ResponseParts.restoreOwn(entry, calls, rendering),
        options: ResponseParts.metadataOf(entry)
      })
    : Prompt.assistantMessage({ content: ResponseParts.restore(entry, calls, rendering) })
  if (calls.length === 0) return [message]
  return [message, Prompt.toolMessage({ content: calls.map((call, index) => resultPart(call, answers[index])) })]
}

/** Rendered once: each step of a turn renders the whole thread. Only files are shown to some readers and not to others. */
const wordsOf = Memo.byIdentity((user: UserEntry) => userMessage(user.text))

const rendering: ResponseParts.Rendering = {
  clean: (text) => clean(text),
  call: (call, options) =>
    Prompt.toolCallPart({
      id: call.callId,
      name: sendableName(call.name),
      params: argumentsOf(call.arguments),
      providerExecuted: false,
      options
    })
}

const resultPart = (call: Entry.ToolCallRequest, result: ResultEntry | undefined): Prompt.ToolResultPart =>
  Prompt.toolResultPart({
    id: call.callId,
    name: sendableName(call.name),
    isFailure: result?.outcome !== "completed",
    result: result === undefined ? "This call was interrupted and has no result." : clean(wordsOfResult(result)),
    providerExecuted: false
  })

const wordsOfResult = ({ callId, name, text, untrusted }: ResultEntry): string =>
  untrusted === undefined ? text : Framing.framed(text, { tool: sendableName(name), callId })

const userUnit = (turnId: Ids.TurnId, text: string): Unit => ({ turnId, parts: [userMessage(text)] })

const userMessage = (text: string): Prompt.UserMessage =>
  Prompt.userMessage({ content: [Prompt.textPart({ text: blankSafe(clean(text)) })] })

const assistantText = (text: string): Prompt.AssistantMessage =>
  Prompt.assistantMessage({ content: [Prompt.textPart({ text: blankSafe(clean(text)) })] })

/** What a person said, and the files that came with it: as they are where they are shown, as a note where they are not. */
const fromUser = (
  user: UserEntry,
  saved: Paths = [],
  heard: Heard = [],
  reader: Reader | undefined,
  shown: Options["shown"]
): Prompt.UserMessage => {
  if (user.attachments.length === 0) return wordsOf(user)
  const files = user.attachments.flatMap((file, index) => {
    const path = saved[index] ?? null
    const words = heard.find((one) => one.index === index)
    return [
      partOf(file, Attached.keyOf(user.messageId, index), reader, shown),
      ...(path === null ? [] : [textPart(`[file ${file.name} is the managed file ${path}]`)]),
      ...(words === undefined ? [] : [textPart(heardNote(file.name, words))])
    ]
  })
  return Prompt.userMessage({ content: [...(user.text.trim() === "" ? [] : [textPart(user.text)]), ...files] })
}

/** What is said in a recording counts as what is written. */
const heardNote = (name: string, heard: Entry.Heard): string => {
  if (heard.text === null) return `[${name} could not be transcribed. ${heard.failure?.message ?? ""}]`
  return heard.text === ""
    ? `[no speech was heard in ${name}]`
    : `[said by the person in ${name}, to be taken as written]\n${heard.text}\n[end of what is said in ${name}]`
}

/** A file that a call has put before the model, right behind the results of the calls. */
const inserted = (
  { callId, file, text = "" }: Extract<Entry.Entry, { _tag: "FileInserted" }>,
  reader: Reader | undefined,
  shown: Options["shown"]
): Prompt.UserMessage =>
  Prompt.userMessage({
    content: [...(text.trim() === "" ? [] : [textPart(text)]), partOf(file, Attached.keyOf(callId, 0), reader, shown)]
  })

const partOf = (file: Entry.Attachment, key: string, reader: Reader | undefined, shown: Options["shown"]) => {
  const content = Attached.takes(reader, file) ? shown?.get(key) : undefined
  return content === undefined ? textPart(noteOf(file)) : filePart(file, content)
}

const textPart = (text: string): Prompt.TextPart => Prompt.textPart({ text: blankSafe(clean(text)) })

const filePart = ({ mediaType, name }: Entry.Attachment, content: Uint8Array): Prompt.UserMessagePart =>
  mediaType === Attachment.plainText
    ? textPart(`[file ${name}]\n${Attachment.textOf(content)}\n[end of file ${name}]`)
    : Prompt.filePart({ mediaType, fileName: clean(name), data: content })

const noteOf = ({ bytes, height, mediaType, name, seconds, width }: Entry.Attachment): string => {
  const size = width === undefined ? "" : `, ${width} × ${height} pixels`
  const length = seconds === undefined ? "" : `, ${Math.round(seconds * 10) / 10} seconds`
  return `[file ${name} (${mediaType}, ${bytes} bytes${size}${length}), not shown here]`
}

const decodeArguments = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.JsonObject))

/**
 * What the model wrote as arguments, as the tool read them. Text that is no object at all is quoted inside one: some servers
 * parse the arguments of earlier calls again and refuse the whole request when they cannot.
 */
const argumentsOf = (text: string): Schema.Json => {
  // Nearly all are JSON, and read much faster as such. Only the reader of arguments knows how deep is too deep, though.
  const asJson = mayNestTooDeep(text) ? Option.none() : decodeArguments(text)
  const parsed = Option.orElse(asJson, () => Result.getSuccess(Arguments.read(text)))
  return Option.match(parsed, {
    onNone: () => ({ unreadable_arguments: clean(text.slice(0, 220)) }),
    onSome: cleanJson
  })
}

/** More brackets open at once than any call needs; those inside of texts count too, which costs no more than time. */
const mayNestTooDeep = (text: string): boolean => {
  let open = 0
  for (let i = 0; i < text.length && open <= plainNesting; i++) {
    const character = text.charCodeAt(i)
    if (character === 0x5b || character === 0x7b) open++
    else if (character === 0x5d || character === 0x7d) open--
  }
  return open > plainNesting
}

const plainNesting = 64

const cleanJson = (value: Schema.Json): Schema.Json => {
  if (typeof value === "string") return clean(value)
  if (isJsonArray(value)) return value.map(cleanJson)
  if (isJsonObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [clean(key), cleanJson(item)]))
  }
  return value
}

const isJsonObject = (value: Schema.Json): value is Schema.JsonObject => Predicate.isObject(value)

const isJsonArray = (value: Schema.Json): value is Schema.JsonArray => Array.isArray(value)

/** A model may call what no tool can be named. Its servers refuse to be told so. */
const sendableName = (name: string): string => name.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 64) || ToolName.unknown

/** As every provider takes it. */
export const sendable = (text: string): string => blankSafe(clean(text))

/** Providers refuse NUL and halves of surrogate pairs. */
const clean = (text: string): string => text.toWellFormed().replaceAll("\0", "\u{FFFD}")

const blankSafe = (text: string): string => (text.trim() === "" ? "(empty)" : text)
