/**
 * Conversations and threads in memory, for tests of what stands in front of them: nobody answers by itself, the test says
 * what happens.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as PubSub from "effect/PubSub"
import * as Stream from "effect/Stream"
import * as Approval from "../../src/approval/Approval.ts"
import * as Approvals from "../../src/approval/Approvals.ts"
import * as Conversations from "../../src/conversation/Conversations.ts"
import type * as Journal from "../../src/conversation/Journal.ts"
import type * as Event from "../../src/event/Event.ts"
import * as Ids from "../../src/Ids.ts"
import type * as Entry from "../../src/thread/Entry.ts"
import * as Threads from "../../src/thread/Threads.ts"

interface Log {
  readonly thread: Threads.Thread
  readonly entries: Array<Entry.StoredEntry>
}

/** What a test does in place of the runtime. */
export class Stage extends Context.Service<
  Stage,
  {
    readonly append: (id: Ids.ThreadId, entry: Entry.Entry) => Effect.Effect<Entry.StoredEntry>
    readonly emit: (event: Event.Event) => Effect.Effect<void>
    readonly accepted: ReadonlyArray<Journal.InboundMessage>
    readonly decisions: ReadonlyArray<{ readonly decision: Approval.Decision; readonly approver: string }>
    readonly stops: ReadonlyArray<string>
    readonly watchers: () => number
    /** Accepting a message with this text dies with the given defect. */
    readonly crashOn: (text: string, defect: unknown) => void
    /** What watching the thread of this key gives, in place of its log. */
    readonly replay: (key: Threads.ThreadKey, items: Stream.Stream<Conversations.WatchItem>) => Effect.Effect<void>
    readonly ask: (request: Approvals.ApprovalRequest) => void
  }
>()("troupe/test/Stage") {}

export const layer: Layer.Layer<Stage | Conversations.Conversations | Threads.Threads> = Layer.effectContext(
  Effect.gen(function* () {
    const logs = new Map<Ids.ThreadId, Log>()
    const byKey = new Map<string, Ids.ThreadId>()
    const receipts = new Map<string, Journal.Accepted>()
    const accepted: Array<Journal.InboundMessage> = []
    const decisions: Array<{ decision: Approval.Decision; approver: string }> = []
    const stops: Array<string> = []
    const crashes = new Map<string, unknown>()
    const questions: Array<Approvals.ApprovalRequest> = []
    const replays = new Map<Ids.ThreadId, Stream.Stream<Conversations.WatchItem>>()
    const happenings = yield* PubSub.unbounded<Conversations.WatchItem>()
    let watchers = 0
    let clock = 0

    const logOf = (id: Ids.ThreadId) => {
      const log = logs.get(id)
      return log === undefined ? Effect.fail(new Threads.ThreadNotFound({ thread: id })) : Effect.succeed(log)
    }
    const append = Effect.fnUntraced(function* (id: Ids.ThreadId, entry: Entry.Entry) {
      const log = yield* Effect.orDie(logOf(id))
      const stored = { seq: log.entries.length + 1, at: ++clock, entry }
      log.entries.push(stored)
      yield* PubSub.publish(happenings, Conversations.WatchItem.make({ _tag: "Entry", stored }))
      return stored
    })

    const accept = Effect.fnUntraced(function* (message: Journal.InboundMessage) {
      if (crashes.has(message.text)) return yield* Effect.die(crashes.get(message.text))
      const known = receipts.get(`${message.channel} ${message.externalId}`)
      if (known !== undefined) return { ...known, duplicate: true }
      const id = byKey.get(message.thread) ?? (yield* Ids.makeThreadId)
      if (!byKey.has(message.thread)) {
        byKey.set(message.thread, id)
        logs.set(id, { thread: emptyThread(id, message.thread), entries: [] })
      }
      accepted.push(message)
      const messageId = yield* Ids.makeMessageId
      const { channel, sender, source, delivery, text, attachments } = message
      const { seq } = yield* append(id, {
        _tag: "UserMessage",
        messageId,
        channel,
        sender,
        source,
        delivery,
        text,
        attachments: attachments.map(({ content, ...file }) => ({ ...file, bytes: content.length, sha256: "" }))
      })
      const receipt = { threadId: id, messageId, seq, duplicate: false }
      receipts.set(`${message.channel} ${message.externalId}`, receipt)
      return receipt
    })

    const conversations = Conversations.Conversations.of({
      accept,
      acceptQuietly: accept,
      wake: () => Effect.void,
      stop: (id, by) =>
        Effect.map(logOf(id), () => {
          stops.push(by)
          return "stopped"
        }),
      decide: (id, { approvalId, approver, decision }) =>
        Effect.andThen(logOf(id), () => {
          const at = questions.findIndex((question) => question.approvalId === approvalId)
          if (at === -1) return Effect.fail(new Approval.ApprovalNotFound({ approvalId }))
          questions.splice(at, 1)
          decisions.push({ decision, approver })
          return Effect.succeed("decided" as const)
        }),
      inspect: (id) =>
        Effect.map(logOf(id), () => ({
          threadId: id,
          running: null,
          waiting: 0,
          approvals: questions.filter((question) => question.threadId === id)
        })),
      watch: (id, { from }) =>
        Stream.unwrap(
          Effect.gen(function* () {
            const log = yield* logOf(id)
            const replayed = replays.get(id)
            if (replayed !== undefined) return replayed
            const live = yield* PubSub.subscribe(happenings)
            watchers++
            yield* Effect.addFinalizer(() => Effect.sync(() => watchers--))
            const stored = log.entries.filter(({ seq }) => seq >= from)
            const last = log.entries.length
            return Stream.fromIterable<Conversations.WatchItem>([
              ...stored.map((entry) => Conversations.WatchItem.make({ _tag: "Entry", stored: entry })),
              Conversations.WatchItem.make({ _tag: "CaughtUp", seq: last })
            ]).pipe(
              Stream.concat(
                Stream.fromSubscription(live).pipe(
                  Stream.filter((item) => item._tag !== "Entry" || item.stored.seq > last)
                )
              )
            )
          })
        )
    })

    const threads = Threads.Threads.of({
      get: (id) => Effect.map(logOf(id), ({ thread, entries }) => ({ ...thread, entries: entries.length })),
      byKey: (key) => {
        const id = byKey.get(key)
        return id === undefined ? Effect.fail(new Threads.ThreadNotFound({ thread: key })) : threads.get(id)
      },
      list: ({ limit }) =>
        Effect.sync(() => ({ threads: [...logs.values()].slice(0, limit).map(({ thread }) => thread), next: null })),
      entries: (id, { from, limit }) =>
        Effect.orDie(logOf(id)).pipe(
          Effect.map(({ entries }) => {
            const page = entries.filter(({ seq }) => seq >= from).slice(0, limit)
            const end = page.at(-1)
            return { entries: page, next: end === undefined || end.seq === entries.length ? null : end.seq + 1 }
          })
        ),
      latest: (id, limit) => Effect.map(Effect.orDie(logOf(id)), ({ entries }) => entries.slice(-limit)),
      receipt: (messageId) => Effect.fail(new Threads.MessageNotFound({ messageId }))
    })

    const stage = Stage.of({
      append,
      emit: (event) => Effect.asVoid(PubSub.publish(happenings, Conversations.WatchItem.make({ _tag: "Live", event }))),
      accepted,
      decisions,
      stops,
      watchers: () => watchers,
      crashOn: (text, defect) => {
        crashes.set(text, defect)
      },
      replay: Effect.fnUntraced(function* (key, items) {
        const id = yield* Ids.makeThreadId
        byKey.set(key, id)
        logs.set(id, { thread: emptyThread(id, key), entries: [] })
        replays.set(id, items)
      }),
      ask: (request) => {
        questions.push(request)
      }
    })
    return Context.make(Stage, stage).pipe(
      Context.add(Conversations.Conversations, conversations),
      Context.add(Threads.Threads, threads)
    )
  })
)

const emptyThread = (id: Ids.ThreadId, key: Threads.ThreadKey): Threads.Thread => ({
  id,
  key,
  agent: "troupe",
  title: null,
  entries: 0,
  historyFrom: 1,
  createdAt: 0,
  updatedAt: 0
})
