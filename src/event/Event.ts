/**
 * What happens inside the runtime, for those who watch: clients, extensions, metrics. Events are hints and telemetry;
 * the truth is in the journal, and losing an event loses no work.
 */
import * as Schema from "effect/Schema"
import * as Approvals from "../approval/Approvals.ts"
import * as Ids from "../Ids.ts"
import * as Entry from "../thread/Entry.ts"

const turn = { threadId: Ids.ThreadId, turnId: Ids.TurnId, channel: Schema.String, chat: Schema.String }

export const Event = Schema.TaggedUnion({
  /** A message is on disk. */
  MessageAccepted: { threadId: Ids.ThreadId, messageId: Ids.MessageId, seq: Schema.Int },
  /** Entries were committed up to `seq`: a watcher reads them from the journal. */
  EntriesCommitted: { threadId: Ids.ThreadId, seq: Schema.Int },
  TurnStarted: { ...turn, availableTools: Schema.Array(Schema.String) },
  /** The opening message is ready for the model. `text` leaves out messages that fold in later. */
  TurnInputPrepared: { ...turn, text: Schema.String, availableTools: Schema.Array(Schema.String) },
  /**
   * A piece of the model's answer or reasoning as it streams in. Not stored; the whole text comes as an entry. `offset` is
   * how many UTF-16 code units of this kind the response had before it, so that a watcher can tell that it missed some.
   */
  ModelDelta: {
    ...turn,
    step: Schema.Int,
    kind: Schema.Literals(["text", "reasoning"]),
    offset: Schema.Int,
    text: Schema.String
  },
  /**
   * The request to the model failed and is about to be sent again. `retry` counts the retries of this step from 1, of at most
   * `retries`; `waitMillis` is how long until then; `reason` is one line for a person.
   */
  ModelRetry: {
    ...turn,
    step: Schema.Int,
    retry: Schema.Int,
    retries: Schema.Int,
    waitMillis: Schema.Int,
    reason: Schema.String
  },
  /** Another model is asked than before, since that one cannot answer or can again. `reason` is one line for a person. */
  ModelSwitched: { ...turn, step: Schema.Int, from: Entry.ModelName, to: Entry.ModelName, reason: Schema.String },
  /**
   * The history is being made shorter, has been, or could not be. `notify` is how much of that people want to see; `detail` is
   * one line for them; `summary` is there when they want all.
   */
  Compaction: {
    ...turn,
    step: Schema.Int,
    phase: Schema.Literals(["started", "completed", "failed"]),
    notify: Schema.Literals(["off", "brief", "full"]),
    detail: Schema.String,
    summary: Schema.optionalKey(Schema.String)
  },
  /** One step's whole reasoning. */
  Reasoning: { ...turn, step: Schema.Int, text: Schema.String },
  /** Around every tool call. `detail` is redacted and clipped: raw arguments never leave the tool layer. */
  ToolCall: {
    ...turn,
    phase: Schema.Literals(["started", "completed", "failed"]),
    callId: Ids.CallId,
    parentCallId: Schema.optionalKey(Ids.CallId),
    tool: Schema.String,
    detail: Schema.String,
    error: Schema.optionalKey(Schema.String)
  },
  /**
   * What a program of a running call says, as it says it: a few kilobytes in a tenth of a second at most, secrets masked.
   * `dropped` counts the bytes that were left out before it. Not stored; the result of the call has what is kept.
   */
  ToolOutput: {
    ...turn,
    callId: Ids.CallId,
    stream: Schema.Literals(["stdout", "stderr"]),
    text: Schema.String,
    dropped: Schema.Int
  },
  /** A question waits; told again when it is found again after a restart, when more people may answer, and at each yes of several. */
  ApprovalRequested: { request: Approvals.ApprovalRequest, channel: Schema.String, chat: Schema.String },
  /** `approver` is absent when no person decided: time ran out, the turn was stopped, nobody could be asked. */
  ApprovalResolved: {
    approvalId: Ids.ApprovalId,
    threadId: Ids.ThreadId,
    outcome: Approvals.Outcome,
    approver: Schema.optionalKey(Schema.String),
    /** The program that brought the answer. */
    via: Schema.optionalKey(Schema.String)
  },
  /** The first content of others was read: from here on the conversation is tainted. `what` is one line that may be shown. */
  TurnTainted: { ...turn, callId: Ids.CallId, tool: Schema.String, what: Schema.String },
  TurnStopRequested: { threadId: Ids.ThreadId, by: Schema.String },
  /**
   * The turn is over and its reply is on disk. `tokenTrace` counts all calls of the turn (`turn`), and how long the history was
   * in its last response (`session`), before its first compaction and after its last.
   */
  TurnCompleted: {
    ...turn,
    provider: Schema.String,
    model: Schema.String,
    steps: Schema.Int,
    usage: Entry.Usage,
    toolsUsed: Schema.Array(Schema.String),
    shouldReply: Schema.Boolean,
    compactionPerformed: Schema.Boolean,
    tokenTrace: Schema.Struct({
      turn: Schema.Int,
      session: Schema.Int,
      sessionBeforeCompaction: Schema.optionalKey(Schema.Int),
      sessionAfterCompaction: Schema.optionalKey(Schema.Int)
    })
  },
  TurnFailed: { ...turn, state: Entry.TurnEnd, failure: Entry.Failure }
})
export type Event = typeof Event.Type
export type EventKind = Event["_tag"]

/** The thread an event is about. */
export const threadIdOf = (event: Event): Ids.ThreadId =>
  event._tag === "ApprovalRequested" ? event.request.threadId : event.threadId
