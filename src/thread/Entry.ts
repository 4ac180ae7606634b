/**
 * The entries of a thread: everything that happened in one conversation, in order, written once and never changed.
 *
 * The thread is also the journal of its turns. A message enters the log when it is accepted, which may be in the middle
 * of a turn; the model sees it from the point where a turn took it up (`TurnStarted` or `MessagesFolded`), so stored
 * history and sent history keep every tool call next to its one result.
 */
import * as Schema from "effect/Schema"
import * as Ids from "../Ids.ts"
import * as Taint from "../policy/Taint.ts"

/**
 * When a message may join a running turn. `now`: at the next safe point; calls of the current response that have not begun
 * are skipped. `after-tool`: when the current response's calls are done. `after-turn`: never; it gets a turn of its own.
 */
export const Delivery = Schema.Literals(["now", "after-tool", "after-turn"])
export type Delivery = typeof Delivery.Type

/** Who wrote a message, as the channel knows them. */
export const Sender = Schema.Struct({
  id: Schema.optionalKey(Schema.String),
  name: Schema.optionalKey(Schema.String)
})
export type Sender = typeof Sender.Type

/** A file that came with a message. Its content is kept beside the thread, under its SHA-256; images have their size in pixels, recordings their length in seconds where it is known. */
export const Attachment = Schema.Struct({
  name: Schema.String,
  mediaType: Schema.String,
  bytes: Schema.Int,
  sha256: Schema.String,
  width: Schema.optionalKey(Schema.Int),
  height: Schema.optionalKey(Schema.Int),
  seconds: Schema.optionalKey(Schema.Finite)
})
export type Attachment = typeof Attachment.Type

/** A managed file that is for a person: what it is called and where it lies; `path` below the root, or absolute. */
export const SentFile = Schema.Struct({
  path: Schema.String,
  absolutePath: Schema.String,
  name: Schema.String,
  mediaType: Schema.String,
  bytes: Schema.Int
})
export type SentFile = typeof SentFile.Type

/** What made a message: a person, the result of a background task, or a schedule. Only a person's message can fold. */
export const Source = Schema.Literals(["person", "task", "schedule"])
export type Source = typeof Source.Type

/** Tokens of one model response, as the provider counted them. */
export const Usage = Schema.Struct({
  inputTokens: Schema.Int,
  outputTokens: Schema.Int,
  cachedInputTokens: Schema.optionalKey(Schema.Int),
  reasoningTokens: Schema.optionalKey(Schema.Int)
})
export type Usage = typeof Usage.Type

export const noUsage: Required<Usage> = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0 }

/** The tokens of both; what a provider did not count is 0. */
export const addUsage = (a: Usage, b: Usage): Required<Usage> => ({
  inputTokens: a.inputTokens + b.inputTokens,
  outputTokens: a.outputTokens + b.outputTokens,
  cachedInputTokens: (a.cachedInputTokens ?? 0) + (b.cachedInputTokens ?? 0),
  reasoningTokens: (a.reasoningTokens ?? 0) + (b.reasoningTokens ?? 0)
})

/**
 * A tool call as the model wrote it. `arguments` is the text of the arguments, valid JSON or not: what the tool got is
 * decided by the decoder, and what the model said must be repeated to it unchanged.
 */
export const ToolCallRequest = Schema.Struct({
  callId: Ids.CallId,
  name: Schema.String,
  arguments: Schema.String
})
export type ToolCallRequest = typeof ToolCallRequest.Type

/** Reasoning text of a step, with what the provider needs to recognise its own reasoning again. */
export const Reasoning = Schema.Struct({
  text: Schema.String,
  metadata: Schema.optionalKey(Schema.Json)
})
export type Reasoning = typeof Reasoning.Type

/**
 * One part of a response, in its place among the others. What it says stands in `text`, `reasoning` and `calls`: a `text`
 * part is the next `chars` UTF-16 code units of the text, the others are the next of their kind. `metadata` is what the
 * provider wants to read again with it; that of reasoning is with the reasoning.
 */
export const ResponsePart = Schema.Struct({
  kind: Schema.Literals(["text", "reasoning", "call"]),
  chars: Schema.optionalKey(Schema.Int),
  metadata: Schema.optionalKey(Schema.Json)
})
export type ResponsePart = typeof ResponsePart.Type

/** Which model of which provider. */
export const ModelName = Schema.Struct({ provider: Schema.String, model: Schema.String })
export type ModelName = typeof ModelName.Type

/**
 * How a tool call ended. `denied`: nobody said yes; `forbidden`: a rule of the policy says no; `skipped`: never started, since a newer message or a denial came first; `unknown`: the process
 * died while it ran and the tool may not be run again, so its effects may or may not have happened.
 */
export const CallOutcome = Schema.Literals([
  "completed",
  "failed",
  "invalid",
  "denied",
  "forbidden",
  "timeout",
  "cancelled",
  "skipped",
  "unknown"
])
export type CallOutcome = typeof CallOutcome.Type

/** How a turn ended. `parked`: it crashed the process too often and is not tried again. */
export const TurnEnd = Schema.Literals(["answered", "failed", "stopped", "parked"])
export type TurnEnd = typeof TurnEnd.Type

/** A failure as it is stored and shown: a stable code and a sentence, never a secret or a raw body. */
export const Failure = Schema.Struct({ code: Schema.String, message: Schema.String })
export type Failure = typeof Failure.Type

/** What came of one recording: what is said in it, or, where `text` is null, why that is not known. */
export const Heard = Schema.Struct({
  index: Schema.Int,
  text: Schema.NullOr(Schema.String),
  language: Schema.NullOr(Schema.String),
  failure: Schema.optionalKey(Failure)
})
export type Heard = typeof Heard.Type

/** Final-answer metadata that `pre_response` declared. */
export const AnswerFormat = Schema.Struct({
  kind: Schema.Literals(["text", "html", "markdown"]),
  disableLinkPreview: Schema.optionalKey(Schema.Boolean),
  attachments: Schema.optionalKey(
    Schema.Array(
      Schema.Struct({ path: Schema.String, type: Schema.String, caption: Schema.optionalKey(Schema.String) })
    )
  )
})
export type AnswerFormat = typeof AnswerFormat.Type

/**
 * How a history was made shorter. `summary`: a model wrote what stands for it. `native`: the provider did, in `items` that only the
 * same model of it can read; for every other reader nothing was made shorter.
 */
export const CompactionKind = Schema.Literals(["summary", "native"])
export type CompactionKind = typeof CompactionKind.Type

export const Entry = Schema.TaggedUnion({
  /** A message was accepted. Not yet seen by any turn. */
  UserMessage: {
    messageId: Ids.MessageId,
    channel: Schema.String,
    sender: Sender,
    source: Source,
    delivery: Delivery,
    text: Schema.String,
    attachments: Schema.Array(Attachment)
  },
  /** A turn began with these messages, for the agent of the thread. Written before anything else is done for it. */
  TurnStarted: { turnId: Ids.TurnId, messageIds: Schema.Array(Ids.MessageId), agent: Schema.String },
  /** A turn goes on in another life of the process; `attempt` counts the lives that did not end on purpose, and this one. */
  TurnResumed: {
    turnId: Ids.TurnId,
    attempt: Schema.Int,
    /** The same life goes on: it had to leave the turn because the store could not be written. */
    storeFailed: Schema.optionalKey(Schema.Boolean)
  },
  /** Newer messages joined a running turn. */
  MessagesFolded: { turnId: Ids.TurnId, messageIds: Schema.Array(Ids.MessageId) },
  /**
   * One model response. `step` counts from 1 within the turn. A response without calls answers the turn. `parts` is there
   * when their order or metadata matter to the provider, `metadata` when the provider gave some for the whole response;
   * both go back to nobody but the same model.
   */
  AssistantMessage: {
    turnId: Ids.TurnId,
    step: Schema.Int,
    text: Schema.String,
    reasoning: Schema.Array(Reasoning),
    calls: Schema.Array(ToolCallRequest),
    finishReason: Schema.String,
    provider: Schema.String,
    model: Schema.String,
    usage: Usage,
    parts: Schema.optionalKey(Schema.Array(ResponsePart)),
    metadata: Schema.optionalKey(Schema.Json),
    format: Schema.optionalKey(AnswerFormat)
  },
  /** The one result of a tool call. `text` is what the model reads, `data` the confirmed effects and public fields. */
  ToolResult: {
    turnId: Ids.TurnId,
    callId: Ids.CallId,
    name: Schema.String,
    outcome: CallOutcome,
    text: Schema.String,
    data: Schema.Json,
    errorCode: Schema.optionalKey(Schema.String),
    /** What was read that others wrote, in one line; absent where the tool says only what is the runtime's own. */
    untrusted: Schema.optionalKey(Schema.String),
    /** A person, or an earlier yes of theirs, allowed it; absent where nobody had to. */
    approved: Schema.optionalKey(Schema.Boolean),
    durationMillis: Schema.Int
  },
  /** The files of a message are managed files as well, at these paths, one for each; null for one that could not be kept. */
  FilesSaved: { turnId: Ids.TurnId, messageId: Ids.MessageId, paths: Schema.Array(Schema.NullOr(Schema.String)) },
  /**
   * What came of transcribing the recordings of a message before the model was asked: `index` is the place of each among the
   * attachments, `language` what was spoken. A recording that is not here was left to the model.
   */
  RecordingsHeard: { turnId: Ids.TurnId, messageId: Ids.MessageId, heard: Schema.Array(Heard) },
  /** A call shows the model a file, as if it had come with a message. `text` is said before it. */
  FileInserted: {
    turnId: Ids.TurnId,
    callId: Ids.CallId,
    file: Attachment,
    text: Schema.optionalKey(Schema.String)
  },
  /** A call sends the person a file. Who reads the thread finds it where it lies; other channels carry it. Not shown to models. */
  FileSent: {
    turnId: Ids.TurnId,
    callId: Ids.CallId,
    file: SentFile,
    caption: Schema.optionalKey(Schema.String)
  },
  /**
   * Whether an answer that used no tool needed one, as a model judged it. `tool`: the one that was meant, if there is such a
   * tool. `step`: responses of the turn so far. `usage`: what the judgement took. Not shown to models.
   */
  ToolUseJudged: {
    turnId: Ids.TurnId,
    step: Schema.Int,
    needed: Schema.Boolean,
    tool: Schema.optionalKey(Schema.String),
    reason: Schema.String,
    provider: Schema.String,
    model: Schema.String,
    usage: Usage
  },
  /**
   * A correction that the runtime, not a person, puts to the model (shown to it as a user message). Right behind an answer it
   * takes the answer back: the next one counts in its place.
   */
  Guidance: { turnId: Ids.TurnId, text: Schema.String },
  /**
   * From here on another model is asked than before in this turn; the first is that of the agent. `code` and `message` say
   * why. Not shown to models.
   */
  ModelSwitched: {
    turnId: Ids.TurnId,
    step: Schema.Int,
    from: ModelName,
    to: ModelName,
    code: Schema.String,
    message: Schema.String
  },
  /** Words of the runtime itself to the person, in place of an answer or beside it. */
  Notice: { turnId: Ids.TurnId, text: Schema.String },
  /** The turn is over. `reason` tells which limit or cause ended it when it was not a plain answer. */
  TurnEnded: {
    turnId: Ids.TurnId,
    state: TurnEnd,
    reason: Schema.optionalKey(Schema.String),
    failure: Schema.optionalKey(Failure)
  },
  /**
   * What began before `keepFrom` is shown to the model as this summary from here on; messages of this turn and all that came
   * later stay as they are. The log keeps everything. `step`: responses of the turn so far. `tokensBefore`: how long the
   * history was. `usage`: what the summary took. Nothing before `readFrom` is needed any more to go on.
   */
  Compacted: {
    turnId: Ids.TurnId,
    step: Schema.Int,
    how: CompactionKind,
    summary: Schema.String,
    items: Schema.optionalKey(Schema.Array(Schema.Json)),
    keepFrom: Schema.Int,
    readFrom: Schema.Int,
    tokensBefore: Schema.Int,
    provider: Schema.String,
    model: Schema.String,
    usage: Usage,
    /** What the summary was made of that others wrote. */
    taint: Schema.optionalKey(Schema.Array(Taint.Taint))
  },
  /**
   * A person took back changes that this turn, which is over, made to files. `restored` and `left`: paths that are as they were
   * before it, and paths that are not. The model is told at the place where it stands.
   */
  FilesRestored: { turnId: Ids.TurnId, restored: Schema.Array(Schema.String), left: Schema.Array(Schema.String) },
  /** Entries before `keepFrom` are no longer part of what the model sees. They stay in the log. */
  HistoryTrimmed: {
    turnId: Ids.TurnId,
    keepFrom: Schema.Int,
    removedMessages: Schema.Int,
    /** What others wrote that was read before. */
    taint: Schema.optionalKey(Schema.Array(Taint.Taint))
  }
})
export type Entry = typeof Entry.Type
export type EntryKind = Entry["_tag"]

/** An entry with its place in the log: `seq` counts from 1 without gaps; `at` is in milliseconds since 1970. */
export const StoredEntry = Schema.Struct({
  seq: Schema.Int,
  at: Schema.Int,
  entry: Entry
})
export type StoredEntry = typeof StoredEntry.Type

/** The turn an entry belongs to, if any. */
export const turnIdOf = (entry: Entry): Ids.TurnId | undefined =>
  entry._tag === "UserMessage" ? undefined : entry.turnId
