/**
 * The capabilities that act on the running turn itself: looking at its history and shortening it, showing its model a file, and
 * sending its person one. What they change is handed over as entries and replies, which are journaled in one transaction with the
 * result of the call that asked for them: it happens once, whatever happens to the process.
 */
import * as Effect from "effect/Effect"
import type { Attachments } from "../../src/attachment/Attachments.ts"
import * as Channels from "../../src/channel/Channels.ts"
import type * as Journal from "../../src/conversation/Journal.ts"
import * as Taint from "../../src/policy/Taint.ts"
import type * as Entry from "../../src/thread/Entry.ts"
import type * as Capability from "../../src/tool/Capability.ts"
import { ToolCallContext } from "../../src/tool/ToolContext.ts"
import type * as ToolContext from "../../src/tool/ToolContext.ts"
import * as TurnFiles from "../../src/tools/file/TurnFiles.ts"
import * as HistoryCapability from "../../src/tools/history/History.ts"
import * as History from "../../src/turn/History.ts"

export interface TurnCapabilities {
  readonly grant: (granted: Capability.Granted) => Capability.Granted
  /** What calls have asked for since the last time. */
  readonly take: () => Asked
}

/** A tainted thread cannot be made clean by its own agent. */
const carried = (log: ReadonlyArray<Entry.StoredEntry>): { readonly taint?: ReadonlyArray<Taint.Taint> } => {
  const taint = Taint.few(Taint.inLog(log))
  return taint.length === 0 ? {} : { taint }
}

/** Entries to be written, and replies that leave with them. */
export interface Asked {
  readonly entries: ReadonlyArray<Entry.Entry>
  readonly replies: ReadonlyArray<Journal.Reply>
}

export interface Surroundings {
  readonly scope: ToolContext.TurnScope
  readonly channels: Channels.Channels["Service"]
  readonly attachments: Attachments["Service"]
}

export const make = (
  { attachments, channels, scope }: Surroundings,
  entries: () => ReadonlyArray<Entry.StoredEntry>,
  maxHistoryMessages: number | undefined
): TurnCapabilities => {
  const { turnId } = scope
  let asked: Array<Entry.Entry> = []
  let replies: Array<Journal.Reply> = []

  const infoOf = (log: ReadonlyArray<Entry.StoredEntry>): HistoryCapability.Info => ({
    totalMessages: History.countMessages(log),
    summarised: History.isSummarised(log),
    maxHistoryMessages: maxHistoryMessages ?? null
  })
  const history = {
    info: Effect.sync(() => infoOf(entries())),
    trim: (keepLatest: number) =>
      Effect.sync((): HistoryCapability.Trimmed => {
        const log = entries()
        const now = infoOf(log)
        if (keepLatest >= now.totalMessages) return { ...now, removedMessages: 0 }
        const keepFrom = History.keepFrom(log, keepLatest, turnId)
        const trimmed = (removedMessages: number): Entry.Entry => ({
          _tag: "HistoryTrimmed",
          turnId,
          keepFrom,
          removedMessages,
          ...carried(log)
        })
        const last = { seq: (log.at(-1)?.seq ?? 0) + 1, at: 0, entry: trimmed(0) }
        const left = infoOf([...log.filter(({ seq }) => seq >= keepFrom), last])
        const removedMessages = now.totalMessages - left.totalMessages
        if (removedMessages > 0) asked.push(trimmed(removedMessages))
        return { ...left, removedMessages }
      })
  }

  const context: TurnFiles.TurnContext["Service"] = {
    insert: Effect.fnUntraced(function* (given, text) {
      const { callId } = yield* ToolCallContext
      const file = yield* attachments.keep(given)
      asked.push({ _tag: "FileInserted", turnId, callId, file, ...(text === undefined ? {} : { text }) })
    })
  }

  const messaging: TurnFiles.Messaging["Service"] = {
    takesFiles: Effect.map(channels.find(scope.channel), (way) => way?.capabilities.files === true),
    sendLink: Effect.fnUntraced(function* (url) {
      const way = yield* channels.find(scope.channel)
      if (way?.deliver === undefined) return false
      const { channel, chat } = scope
      replies.push({ channel, chat, text: url, format: { kind: "text" } })
      return true
    }),
    send: Effect.fnUntraced(function* (file, caption) {
      const { callId } = yield* ToolCallContext
      const way = yield* channels.find(scope.channel)
      if (way?.capabilities.files !== true) return yield* new Channels.FilesNotTaken({ channel: scope.channel })
      asked.push({ _tag: "FileSent", turnId, callId, file, ...(caption === undefined ? {} : { caption }) })
      if (way.deliver === undefined) return
      // As it is: a caption has no format that could be wrong.
      const { channel, chat } = scope
      replies.push({ channel, chat, text: caption ?? "", format: { kind: "text" }, files: [file] })
    })
  }

  return {
    grant: (granted) =>
      granted
        .with(HistoryCapability.History, history)
        .with(TurnFiles.TurnContext, context)
        .with(TurnFiles.Messaging, messaging),
    take: () => {
      const taken = { entries: asked, replies }
      asked = []
      replies = []
      return taken
    }
  }
}
