/** Entries for tests of what is made of them: single ones, and sequences of any kind. */
import * as Schema from "effect/Schema"
import * as Ids from "../../src/Ids.ts"
import type * as Entry from "../../src/thread/Entry.ts"

const id = (prefix: string, n: number) => `${prefix}_${String(n).padStart(26, "0")}`
export const turn = (n: number) => Ids.TurnId.make(id("trn", n))
const message = (n: number) => Ids.MessageId.make(id("msg", n))
const call = (n: number) => Ids.CallId.make(id("cal", n))

type Of<Tag extends Entry.EntryKind> = Extract<Entry.Entry, { readonly _tag: Tag }>
type Fields<Tag extends Entry.EntryKind> = Partial<Omit<Of<Tag>, "_tag">>

export const user = (n: number, fields: Fields<"UserMessage"> = {}): Of<"UserMessage"> => ({
  _tag: "UserMessage",
  messageId: message(n),
  channel: "test",
  sender: {},
  source: "person",
  delivery: "now",
  text: `message ${n}`,
  attachments: [],
  ...fields
})

export const started = (
  messageIds: ReadonlyArray<number> = [1],
  fields: Fields<"TurnStarted"> = {}
): Of<"TurnStarted"> => ({
  _tag: "TurnStarted",
  turnId: turn(1),
  messageIds: messageIds.map(message),
  agent: "troupe",
  ...fields
})

export const resumed = (attempt: number): Of<"TurnResumed"> => ({ _tag: "TurnResumed", turnId: turn(1), attempt })

export const folded = (messageIds: ReadonlyArray<number>): Of<"MessagesFolded"> => ({
  _tag: "MessagesFolded",
  turnId: turn(1),
  messageIds: messageIds.map(message)
})

export const request = (n: number, fields: Partial<Entry.ToolCallRequest> = {}): Entry.ToolCallRequest => ({
  callId: call(n),
  name: "look",
  arguments: "{}",
  ...fields
})

export const response = (
  step: number,
  calls: ReadonlyArray<Entry.ToolCallRequest> = [],
  fields: Fields<"AssistantMessage"> = {}
): Of<"AssistantMessage"> => ({
  _tag: "AssistantMessage",
  turnId: turn(1),
  step,
  text: calls.length === 0 ? `answer ${step}` : "",
  reasoning: [],
  calls,
  finishReason: calls.length === 0 ? "stop" : "tool-calls",
  provider: "scripted",
  model: "scripted",
  usage: { inputTokens: 10, outputTokens: 1 },
  ...fields
})

export const result = (n: number, fields: Fields<"ToolResult"> = {}): Of<"ToolResult"> => ({
  _tag: "ToolResult",
  turnId: turn(1),
  callId: call(n),
  name: "look",
  outcome: "completed",
  text: `result ${n}`,
  data: null,
  durationMillis: 0,
  ...fields
})

export const notice = (text: string, fields: Fields<"Notice"> = {}): Of<"Notice"> => ({
  _tag: "Notice",
  turnId: turn(1),
  text,
  ...fields
})

export const ended = (state: Entry.TurnEnd = "answered", fields: Fields<"TurnEnded"> = {}): Of<"TurnEnded"> => ({
  _tag: "TurnEnded",
  turnId: turn(1),
  state,
  ...fields
})

export const compacted = (keepFrom: number, fields: Fields<"Compacted"> = {}): Of<"Compacted"> => ({
  _tag: "Compacted",
  turnId: turn(1),
  step: 0,
  how: "summary",
  summary: "what was said",
  keepFrom,
  readFrom: 1,
  tokensBefore: 100,
  provider: "scripted",
  model: "scripted",
  usage: { inputTokens: 10, outputTokens: 1 },
  ...fields
})

export const judged = (needed: boolean, fields: Fields<"ToolUseJudged"> = {}): Of<"ToolUseJudged"> => ({
  _tag: "ToolUseJudged",
  turnId: turn(1),
  step: 1,
  needed,
  reason: "because",
  provider: "scripted",
  model: "scripted",
  usage: { inputTokens: 10, outputTokens: 1 },
  ...fields
})

/** As a thread keeps them, from `first` on. */
export const stored = (entries: ReadonlyArray<Entry.Entry>, first = 1): ReadonlyArray<Entry.StoredEntry> =>
  entries.map((entry, index) => ({ seq: first + index, at: 0, entry }))

// ---------------------------------------------------------------------------------------------------------------------
// Any sequence: few ids, so that they meet, and texts dense in what providers refuse

const Text = Schema.Array(
  Schema.Literals(["", " ", "\n", "a", "\ud83d", "\ude00", "\0", "😀", "\u2028", '"', "{", "}", "\\"])
).check(Schema.isMaxLength(4))

const Arguments = Schema.Literals([
  "{}",
  "",
  "{",
  "[1]",
  "null",
  '"text"',
  '{"a":"\\ud800"}',
  '{"\\u0000":[{"b":"\\u0000"}]}',
  "{'a': 1}",
  "\ud800",
  '{"a":1e999}'
])

const Name = Schema.Literals(["look", "", "two words", "pre_response", "\ud83d\0", "n".repeat(100), "ünicode"])

const Few = Schema.Literals([1, 2, 3, 4])

/** A description of one entry, from which `fromGarbage` makes one. */
export const Garbage = Schema.Struct({
  kind: Schema.Literals([
    "UserMessage",
    "TurnStarted",
    "TurnResumed",
    "MessagesFolded",
    "AssistantMessage",
    "ToolResult",
    "Guidance",
    "ModelSwitched",
    "Notice",
    "TurnEnded",
    "HistoryTrimmed",
    "FilesRestored",
    "Compacted",
    "ToolUseJudged"
  ]),
  turn: Schema.Literals([1, 2]),
  ids: Schema.Array(Few).check(Schema.isMaxLength(3)),
  text: Text,
  name: Name,
  arguments: Arguments,
  outcome: Schema.Literals(["completed", "failed", "invalid", "denied", "timeout", "cancelled", "skipped", "unknown"]),
  finishReason: Schema.Literals(["stop", "tool-calls", "length", "content-filter", "unfinished"])
})

export const fromGarbage = (garbage: typeof Garbage.Type): Entry.Entry => {
  const { arguments: written, finishReason, ids, kind, name, outcome } = garbage
  const text = garbage.text.join("")
  const turnId = turn(garbage.turn)
  const [first = 1] = ids
  switch (kind) {
    case "UserMessage":
      return user(first, { text })
    case "TurnStarted":
      return started(ids, { turnId })
    case "TurnResumed":
      return { ...resumed(first), turnId }
    case "MessagesFolded":
      return { ...folded(ids), turnId }
    case "AssistantMessage":
      return response(
        first,
        ids.map((n) => request(n, { name, arguments: written })),
        { turnId, text, finishReason }
      )
    case "ToolResult":
      return result(first, { turnId, name, outcome, text })
    case "Guidance":
    case "Notice":
      return { _tag: kind, turnId, text }
    case "ModelSwitched": {
      const one = { provider: "scripted", model: "scripted" }
      return { _tag: kind, turnId, step: first, from: one, to: { ...one, model: text }, code: "", message: text }
    }
    case "TurnEnded":
      return { ...ended(), turnId }
    case "Compacted":
      return compacted(first, {
        turnId,
        summary: text,
        step: ids.length,
        ...(outcome === "unknown" ? { how: "native", items: [text] } : {})
      })
    case "ToolUseJudged":
      return judged(outcome === "failed", { turnId, reason: text })
    case "FilesRestored":
      return { _tag: kind, turnId, restored: [text], left: [name] }
    case "HistoryTrimmed":
      return { _tag: kind, turnId, keepFrom: first, removedMessages: 1 }
  }
}
