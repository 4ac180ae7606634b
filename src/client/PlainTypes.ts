/**
 * The shapes of the promise client, in types that need nothing but TypeScript. They repeat the shapes of the entries and
 * events; the compiler checks, where one is made from the other, that they agree.
 */

/** Why something failed; the message says it in words. */
export type TroupeErrorCode =
  | "aborted"
  | "closed"
  | "unreachable"
  | "unauthorized"
  | "invalid_request"
  | "channel_not_found"
  | "thread_not_found"
  | "message_not_found"
  | "approval_not_found"
  | "approval_decided"
  | "approver_refused"
  | "attachment_refused"
  | "unavailable"
  | "overloaded"
  | "internal_error"
  | "storage_unavailable"

/** What everything of the client fails with. */
export interface TroupeFailure extends Error {
  readonly code: TroupeErrorCode
}

export interface Troupe {
  /**
   * Sends a message and waits until its turn has ended, however it did. What was accepted is answered even if nobody waits
   * any more. With an `id`, the same message is accepted once: sending it again gives the same answer.
   */
  readonly send: (text: string, options: SendOptions) => Promise<Answer>
  /** Sends a message and gives what happens as it happens; the last piece is the answer. */
  readonly stream: (text: string, options: SendOptions) => AsyncIterable<Piece>
  /** The log of a thread from entry `from` on (1, the beginning, if left out), then what happens in it, until one leaves. */
  readonly watch: (thread: string, options?: WatchOptions) => AsyncIterable<WatchItem>
  /** Entries from `from` on, oldest first; without `from`, the last `limit` ones (100 if left out, 1000 at most). */
  readonly history: (thread: string, options?: HistoryOptions) => Promise<ReadonlyArray<StoredEntry>>
  /** The threads, most recently active first. `next` is handed back as `before` to go on. */
  readonly threads: (options?: ThreadsOptions) => Promise<ThreadPage>
  /** Ends the running turn of a thread, and with it the messages that wait to join it. */
  readonly stop: (thread: string, options?: Abortable) => Promise<"stopped" | "idle">
  /**
   * Answers a question that a turn waits with, once: hand in the question as it came. `nobody-to-ask` tells the agent that no
   * person has seen it. `more-needed`: another person's yes is needed.
   */
  readonly decide: (
    thread: string,
    question: Pick<Question, "approvalId" | "nonce">,
    decision: "approved" | "denied" | "nobody-to-ask",
    options?: DecideOptions
  ) => Promise<"decided" | "more-needed">
  readonly status: (options?: Abortable) => Promise<Status>
  /** Ends everything that waits, with the code `closed`. */
  readonly close: () => Promise<void>
}

export interface TroupeOptions {
  /** As the daemon prints it: `http://127.0.0.1:7433`. */
  readonly url: string
  /** The bearer token: `[http].auth_token`, or the content of the file `token` in the data directory. */
  readonly token: string
  /** What this program is called; noted with the approvals it gives and the stops it asks for. */
  readonly name?: string | undefined
}

export interface Abortable {
  /** Ends the waiting, and nothing else: the turn goes on. */
  readonly signal?: AbortSignal | undefined
}

export interface DecideOptions extends Abortable {
  /** Whose answer it is, as their channel knows them; the owner's when left out. */
  readonly approver?: string | undefined
  /** For what else a yes holds: for nothing when left out, or for all calls with the very same effect. */
  readonly scope?: "once" | "turn" | "thread" | "always" | undefined
}

export interface SendOptions extends Abortable {
  /** `channel:chat`, for example `rpc:support-17`. A new name is a new thread. */
  readonly thread: string
  /**
   * The sender's own id of the message, at most 200 characters. What has the same id is taken once, so that a message whose
   * sending failed as `unreachable`, of which nobody knows whether it was taken, can be sent again.
   */
  readonly id?: string | undefined
  /** Images, PDF files and texts that come with it. What the content of each is decides, whatever it is called. */
  readonly attachments?:
    | ReadonlyArray<{ readonly name: string; readonly mediaType?: string; readonly content: Uint8Array }>
    | undefined
  /** When it may join a running turn: `now` if left out. */
  readonly delivery?: "now" | "after-tool" | "after-turn" | undefined
}

export interface WatchOptions extends Abortable {
  readonly from?: number | undefined
}

export interface HistoryOptions extends Abortable {
  readonly from?: number | undefined
  readonly limit?: number | undefined
}

export interface ThreadsOptions extends Abortable {
  readonly limit?: number | undefined
  readonly before?: ThreadCursor | undefined
}

/** How a turn ended. `parked`: it crashed the daemon too often and is not tried again. */
export type TurnEnd = "answered" | "failed" | "stopped" | "parked"

export interface Answer {
  readonly state: TurnEnd
  /** Everything the agent said in the turn, its steps separated by a blank line. */
  readonly text: string
  readonly threadId: string
  readonly messageId: string
  /** Null when the message ended before a turn took it up: it was owed in a restored copy, and let go of. */
  readonly turnId: string | null
  /** Model responses. */
  readonly steps: number
  readonly usage: Usage
  /** Why there is no answer. */
  readonly failure?: Failure
}

/** Something that happens on the way to an answer. None is missed, also over a cut of the connection. */
export type Piece =
  | { readonly type: "accepted"; readonly threadId: string; readonly messageId: string; readonly duplicate: boolean }
  | { readonly type: "text"; readonly text: string }
  /** The model calls a tool; `arguments` is as it wrote them. */
  | { readonly type: "call"; readonly callId: string; readonly tool: string; readonly arguments: string }
  | { readonly type: "result"; readonly callId: string; readonly tool: string; readonly outcome: CallOutcome }
  | { readonly type: "question"; readonly question: Question }
  | { readonly type: "answer"; readonly answer: Answer }

/** A tool call that waits for a person's yes. Times are in milliseconds since 1970. */
export interface Question {
  readonly approvalId: string
  readonly threadId: string
  readonly turnId: string
  readonly callId: string
  readonly tool: string
  readonly detail: string
  /** Comes back with the answer. */
  readonly nonce: string
  /** Who asked; null for schedules and tasks. */
  readonly requester: string | null
  /** Who may answer, and of how many of them a yes is needed. */
  readonly approvers: ReadonlyArray<string>
  readonly quorum: number
  readonly approvedBy: ReadonlyArray<string>
  readonly requestedAt: number
  readonly expiresAt: number
}

export type WatchItem =
  /** The log itself, in order and without gaps: `stored.seq + 1` is where to go on. */
  | { readonly type: "entry"; readonly stored: StoredEntry }
  /** What has no place in the log. Not repeated. */
  | { readonly type: "live"; readonly event: Event }
  /** Everything that was on disk has been given. */
  | { readonly type: "caught-up"; readonly seq: number }

export interface Usage {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cachedInputTokens?: number
  readonly reasoningTokens?: number
}

export interface Failure {
  readonly code: string
  readonly message: string
}

export interface Thread {
  readonly id: string
  readonly key: string
  readonly agent: string
  readonly title: string | null
  readonly entries: number
  readonly historyFrom: number
  readonly createdAt: number
  readonly updatedAt: number
}

export interface ThreadCursor {
  readonly updatedAt: number
  readonly id: string
}

export interface ThreadPage {
  readonly threads: ReadonlyArray<Thread>
  readonly next: ThreadCursor | null
}

export interface Status {
  readonly version: string
  readonly pid: number
  readonly incarnation: string
  readonly startedAt: number
  readonly uptimeMillis: number
  readonly configSource: string
  readonly dataDirectory: string
  readonly url: string
  readonly provider: string
  readonly model: string
  readonly threads: number
  readonly activeConversations: number
  readonly runningTurns: number
  /** Questions that wait for a person's answer. */
  readonly waitingApprovals: number
  readonly oldestOwedMillis: number | null
  readonly undelivered: ReadonlyArray<{ readonly channel: string; readonly count: number }>
  readonly memoryBytes: number
  /** Why the store cannot be written, and since when (milliseconds since 1970); null when it can. */
  readonly storageFailing: {
    readonly reason: "full" | "read-only" | "io" | "busy" | "moved" | "unflushed"
    readonly since: number
  } | null
  /** Threads with owed work and replies that a restored copy holds back until a person has decided. */
  readonly held: { readonly threads: number; readonly replies: number }
}

/** An entry with its place in the log: `seq` counts from 1, `at` is in milliseconds since 1970. */
export interface StoredEntry {
  readonly seq: number
  readonly at: number
  readonly entry: Entry
}

export type CallOutcome =
  | "completed"
  | "failed"
  | "invalid"
  | "denied"
  | "forbidden"
  | "timeout"
  | "cancelled"
  | "skipped"
  | "unknown"

/** What the kinds of entries mean is in the page about the architecture. */
export type Entry =
  | {
      readonly _tag: "UserMessage"
      readonly messageId: string
      readonly channel: string
      readonly sender: { readonly id?: string; readonly name?: string }
      readonly source: "person" | "task" | "schedule"
      readonly delivery: "now" | "after-tool" | "after-turn"
      readonly text: string
      readonly attachments: ReadonlyArray<Attachment>
    }
  | {
      readonly _tag: "TurnStarted"
      readonly turnId: string
      readonly messageIds: ReadonlyArray<string>
      readonly agent: string
    }
  | {
      readonly _tag: "TurnResumed"
      readonly turnId: string
      readonly attempt: number
      /** The same life goes on: it had to leave the turn because the store could not be written. */
      readonly storeFailed?: boolean
    }
  | { readonly _tag: "MessagesFolded"; readonly turnId: string; readonly messageIds: ReadonlyArray<string> }
  | {
      readonly _tag: "AssistantMessage"
      readonly turnId: string
      readonly step: number
      readonly text: string
      readonly reasoning: ReadonlyArray<{ readonly text: string; readonly metadata?: unknown }>
      readonly calls: ReadonlyArray<{ readonly callId: string; readonly name: string; readonly arguments: string }>
      readonly finishReason: string
      readonly provider: string
      readonly model: string
      readonly usage: Usage
      readonly parts?: ReadonlyArray<{
        readonly kind: "text" | "reasoning" | "call"
        readonly chars?: number
        readonly metadata?: unknown
      }>
      readonly metadata?: unknown
      readonly format?: unknown
    }
  | {
      readonly _tag: "ToolResult"
      readonly turnId: string
      readonly callId: string
      readonly name: string
      readonly outcome: CallOutcome
      readonly text: string
      readonly data: unknown
      readonly errorCode?: string
      /** What was read that others wrote, in one line. */
      readonly untrusted?: string
      /** A person, or an earlier yes of theirs, allowed it; absent where nobody had to. */
      readonly approved?: boolean
      readonly durationMillis: number
    }
  | { readonly _tag: "Guidance"; readonly turnId: string; readonly text: string }
  | {
      readonly _tag: "ModelSwitched"
      readonly turnId: string
      readonly step: number
      readonly from: ModelName
      readonly to: ModelName
      readonly code: string
      readonly message: string
    }
  | { readonly _tag: "Notice"; readonly turnId: string; readonly text: string }
  | {
      readonly _tag: "TurnEnded"
      readonly turnId: string
      readonly state: TurnEnd
      readonly reason?: string
      readonly failure?: Failure
    }
  | {
      readonly _tag: "Compacted"
      readonly turnId: string
      readonly step: number
      readonly how: "summary" | "native"
      readonly summary: string
      readonly items?: ReadonlyArray<unknown>
      readonly keepFrom: number
      readonly readFrom: number
      readonly tokensBefore: number
      readonly provider: string
      readonly model: string
      readonly usage: Usage
      readonly taint?: ReadonlyArray<Taint>
    }
  | {
      readonly _tag: "FilesSaved"
      readonly turnId: string
      readonly messageId: string
      readonly paths: ReadonlyArray<string | null>
    }
  | {
      readonly _tag: "RecordingsHeard"
      readonly turnId: string
      readonly messageId: string
      readonly heard: ReadonlyArray<{
        readonly index: number
        readonly text: string | null
        readonly language: string | null
        readonly failure?: Failure
      }>
    }
  | {
      readonly _tag: "FileInserted"
      readonly turnId: string
      readonly callId: string
      readonly file: Attachment
      readonly text?: string
    }
  | {
      readonly _tag: "FileSent"
      readonly turnId: string
      readonly callId: string
      readonly file: {
        readonly path: string
        readonly absolutePath: string
        readonly name: string
        readonly mediaType: string
        readonly bytes: number
      }
      readonly caption?: string
    }
  | {
      readonly _tag: "ToolUseJudged"
      readonly turnId: string
      readonly step: number
      readonly needed: boolean
      readonly tool?: string
      readonly reason: string
      readonly provider: string
      readonly model: string
      readonly usage: Usage
    }
  | {
      readonly _tag: "FilesRestored"
      readonly turnId: string
      readonly restored: ReadonlyArray<string>
      readonly left: ReadonlyArray<string>
    }
  | {
      readonly _tag: "HistoryTrimmed"
      readonly turnId: string
      readonly keepFrom: number
      readonly removedMessages: number
      readonly taint?: ReadonlyArray<Taint>
    }

/** What was read that others wrote: which tool brought it, and what it was. */
export interface Taint {
  readonly tool: string
  readonly what: string
}

/** A file of a message. The thread tells of it and does not hold it. */
export interface Attachment {
  readonly name: string
  readonly mediaType: string
  readonly bytes: number
  readonly sha256: string
  readonly width?: number
  readonly seconds?: number
  readonly height?: number
}

export interface ModelName {
  readonly provider: string
  readonly model: string
}

interface OfTurn {
  readonly threadId: string
  readonly turnId: string
  readonly channel: string
  readonly chat: string
}

export type Event =
  | { readonly _tag: "MessageAccepted"; readonly threadId: string; readonly messageId: string; readonly seq: number }
  | { readonly _tag: "EntriesCommitted"; readonly threadId: string; readonly seq: number }
  | (OfTurn & { readonly _tag: "TurnStarted"; readonly availableTools: ReadonlyArray<string> })
  | (OfTurn & {
      readonly _tag: "TurnInputPrepared"
      readonly text: string
      readonly availableTools: ReadonlyArray<string>
    })
  | (OfTurn & {
      readonly _tag: "ModelDelta"
      readonly step: number
      readonly kind: "text" | "reasoning"
      readonly offset: number
      readonly text: string
    })
  | (OfTurn & {
      readonly _tag: "ModelRetry"
      readonly step: number
      readonly retry: number
      readonly retries: number
      readonly waitMillis: number
      readonly reason: string
    })
  | (OfTurn & {
      readonly _tag: "ModelSwitched"
      readonly step: number
      readonly from: ModelName
      readonly to: ModelName
      readonly reason: string
    })
  | (OfTurn & {
      readonly _tag: "Compaction"
      readonly step: number
      readonly phase: "started" | "completed" | "failed"
      readonly notify: "off" | "brief" | "full"
      readonly detail: string
      readonly summary?: string
    })
  | (OfTurn & { readonly _tag: "Reasoning"; readonly step: number; readonly text: string })
  | (OfTurn & {
      readonly _tag: "ToolCall"
      readonly phase: "started" | "completed" | "failed"
      readonly callId: string
      readonly parentCallId?: string
      readonly tool: string
      readonly detail: string
      readonly error?: string
    })
  | (OfTurn & {
      readonly _tag: "ToolOutput"
      readonly callId: string
      readonly stream: "stdout" | "stderr"
      readonly text: string
      readonly dropped: number
    })
  | { readonly _tag: "ApprovalRequested"; readonly request: Question; readonly channel: string; readonly chat: string }
  | {
      readonly _tag: "ApprovalResolved"
      readonly approvalId: string
      readonly threadId: string
      readonly outcome: "approved" | "denied" | "expired" | "nobody-to-ask" | "cancelled"
      readonly approver?: string
      readonly via?: string
    }
  | (OfTurn & {
      readonly _tag: "TurnTainted"
      readonly callId: string
      readonly tool: string
      readonly what: string
    })
  | { readonly _tag: "TurnStopRequested"; readonly threadId: string; readonly by: string }
  | (OfTurn & {
      readonly _tag: "TurnCompleted"
      readonly provider: string
      readonly model: string
      readonly steps: number
      readonly usage: Usage
      readonly toolsUsed: ReadonlyArray<string>
      readonly shouldReply: boolean
      readonly compactionPerformed: boolean
      readonly tokenTrace: {
        readonly turn: number
        readonly session: number
        readonly sessionBeforeCompaction?: number
        readonly sessionAfterCompaction?: number
      }
    })
  | (OfTurn & { readonly _tag: "TurnFailed"; readonly state: TurnEnd; readonly failure: Failure })
