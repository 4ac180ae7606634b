/**
 * The client for programs without Effect: promises, async iterables, plain types. It is the typed client underneath, with
 * one HTTP request for each call.
 */
import * as Effect from "effect/Effect"
import * as Base64 from "effect/encoding/Base64"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as Approvals from "../approval/Approvals.ts"
import type * as Conversations from "../conversation/Conversations.ts"
import * as Outcome from "../conversation/Outcome.ts"
import * as Reply from "../conversation/Reply.ts"
import * as Ids from "../Ids.ts"
import * as TroupeRpcs from "../rpc/TroupeRpcs.ts"
import * as Entry from "../thread/Entry.ts"
import * as PlainError from "./PlainError.ts"
import type {
  Answer,
  Piece,
  SendOptions,
  Troupe,
  TroupeErrorCode,
  TroupeFailure,
  TroupeOptions,
  WatchItem,
  WatchOptions
} from "./PlainTypes.ts"
import * as PlainInput from "./PlainInput.ts"
import * as PromiseEdge from "./PromiseEdge.ts"
import * as TroupeClient from "./TroupeClient.ts"

/**
 * A client of the daemon at `url`. Nothing is asked before the first call. Options that cannot be used are thrown as a
 * `TroupeError` that names the option.
 */
export const createTroupe = (options: TroupeOptions): Troupe => {
  const { name, token, url } = PromiseEdge.now(PlainInput.client({}, options))
  const edge = PromiseEdge.make(TroupeClient.layerHttp({ url, token: Redacted.make(token), name }))
  return {
    send: (text, options) => edge.run(send(text, options), options),
    stream: (text, options) => edge.iterate(pieces(text, options), options),
    watch: (thread, options) => edge.iterate(watch(thread, options), options),
    history: (thread, options) =>
      edge.run(
        called(PlainInput.history({ thread }, options), (client, { from, limit = 100, thread }) =>
          Effect.map(
            Stream.runCollect(client.history({ thread, from, limit })),
            (pages): ReadonlyArray<Entry.StoredEntry> => pages.flat()
          )
        ),
        options
      ),
    threads: (options) =>
      edge.run(
        called(PlainInput.threads({}, options), (client, { before, limit = 100 }) =>
          client.Threads({ limit, ...(before === undefined ? {} : { before }) })
        ),
        options
      ),
    stop: (thread, options) =>
      edge.run(
        called(PlainInput.stop({ thread }, options), (client, { thread }) => client.Stop({ thread })),
        options
      ),
    decide: (thread, question, decision, options) =>
      edge.run(
        called(
          PlainInput.decide({ thread, question, decision }, options),
          (client, { approver, decision, question: { approvalId, nonce }, scope, thread }) =>
            client.Decide({
              thread,
              approvalId,
              nonce,
              decision,
              ...(approver === undefined ? {} : { approver }),
              ...(scope === undefined ? {} : { scope })
            })
        ),
        options
      ),
    status: (options) =>
      edge.run(
        called(PlainInput.status({}, options), (client) => client.Status()),
        options
      ),
    close: edge.close
  }
}

/** The class of the errors: `error instanceof TroupeError`. */
export const TroupeError: new (problem: { readonly code: TroupeErrorCode; readonly message: string }) => TroupeFailure =
  PlainError.Failed

type Client = TroupeClient.TroupeClient["Service"]
type Failing = Parameters<typeof PlainError.ofCall>[0]

/** One call, with its input read and its errors made plain. What a call will not even send is the caller's mistake. */
const called = <I, A>(
  input: Effect.Effect<I, PlainError.Failed>,
  call: (client: Client, input: I) => Effect.Effect<A, Failing>
): Effect.Effect<A, PlainError.Failed, TroupeClient.TroupeClient> =>
  Effect.flatMap(input, (read) =>
    Effect.flatMap(TroupeClient.TroupeClient, (client) => Effect.mapError(call(client, read), PlainError.ofCall))
  )

const encoded = (attachments: NonNullable<Effect.Success<ReturnType<typeof PlainInput.send>>["attachments"]>) =>
  attachments.map(({ content, mediaType, name }) => ({
    name,
    ...(mediaType === undefined ? {} : { mediaType }),
    data: Base64.encode(content)
  }))

const watch = (thread: string, options: WatchOptions | undefined) =>
  Stream.unwrap(
    Effect.gen(function* () {
      const { from = 1, thread: ref } = yield* PlainInput.watch({ thread }, options)
      const client = yield* TroupeClient.TroupeClient
      return client.watch({ thread: ref, from }).pipe(Stream.mapError(PlainError.ofCall), Stream.map(watched))
    })
  )

const watched = (item: Conversations.WatchItem): WatchItem => {
  switch (item._tag) {
    case "Entry":
      return { type: "entry", stored: item.stored }
    case "Live":
      return { type: "live", event: item.event }
    case "CaughtUp":
      return { type: "caught-up", seq: item.seq }
  }
}

const send = (text: string, options: SendOptions) =>
  Effect.flatMap(Stream.runLast(pieces(text, options)), (last) =>
    last._tag === "Some" && last.value.type === "answer"
      ? Effect.succeed(last.value.answer)
      : Effect.fail(PlainError.closed)
  )

const pieces = (
  text: string,
  options: SendOptions
): Stream.Stream<Piece, PlainError.Failed, TroupeClient.TroupeClient> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const { attachments, delivery, id, thread, text: words } = yield* PlainInput.send({ text }, options)
      const payload = {
        thread,
        text: words,
        ...(id === undefined ? {} : { externalId: id }),
        ...(attachments === undefined ? {} : { attachments: encoded(attachments) }),
        ...(delivery === undefined ? {} : { delivery })
      }
      const client = yield* TroupeClient.TroupeClient
      const asked = new Set<Ids.ApprovalId>()
      const isNew = ({ approvalId }: Approvals.ApprovalRequest) => !asked.has(approvalId) && asked.add(approvalId)
      return client.sendAndWatch(payload).pipe(
        Stream.mapError(PlainError.ofCall),
        Stream.mapAccum((): Followed | undefined => undefined, follow),
        Stream.mapEffect(
          (step): Effect.Effect<TroupeRpcs.Accepted | Told, PlainError.Failed, TroupeClient.TroupeClient> =>
            step._tag === "Accepted"
              ? Effect.succeed(step)
              : Effect.all({ answer: endOf(step), questions: questionsOf(step) }).pipe(
                  Effect.map((more) => ({ ...step, ...more, questions: more.questions.filter(isNew) }))
                )
        ),
        Stream.takeUntil((step) => step._tag === "Step" && step.answer !== undefined),
        Stream.flatMap((step) => Stream.fromIterable(step._tag === "Accepted" ? [acceptance(step)] : piecesOf(step)))
      )
    })
  )

interface Followed {
  readonly threadId: Ids.ThreadId
  readonly reply: Reply.Reply
}

/** Folds an item into the reply of the message that was accepted before it. */
const follow = (
  followed: Followed | undefined,
  item: TroupeRpcs.SentItem
): readonly [Followed | undefined, ReadonlyArray<TroupeRpcs.Accepted | Step>] => {
  if (item._tag === "Accepted") {
    return [{ threadId: item.threadId, reply: Reply.start(item.messageId) }, [item]]
  }
  if (followed === undefined) return [followed, []]
  const { reply: before, threadId } = followed
  const reply = Reply.next(before, item)
  return [{ threadId, reply }, [{ _tag: "Step", threadId, item, before, reply }]]
}

const acceptance = ({ duplicate, messageId, threadId }: TroupeRpcs.Accepted): Piece => ({
  type: "accepted",
  threadId,
  messageId,
  duplicate
})

interface Step {
  readonly _tag: "Step"
  readonly threadId: Ids.ThreadId
  readonly item: Conversations.WatchItem
  readonly before: Reply.Reply
  readonly reply: Reply.Reply
}

/** The answer, if this is the end. */
const endOf = ({ item, reply, threadId }: Step) => {
  const { messageId } = reply
  const receipt = called(Effect.void, (client) => client.MessageState({ messageId }))
  return Effect.map(Outcome.after(item, reply, receipt), (outcome) => outcome && answerOf(threadId, reply, outcome))
}

const answerOf = (
  threadId: Ids.ThreadId,
  { messageId, steps, text, turnId, usage }: Reply.Reply,
  { failure, state }: Outcome.Outcome
): Answer => ({
  state,
  text,
  threadId,
  messageId,
  turnId: turnId ?? null,
  steps,
  usage,
  ...(failure === undefined ? {} : { failure })
})

/** Those that came while nobody listened are asked for. */
const questionsOf = Effect.fnUntraced(function* ({ item, reply, threadId }: Step) {
  const questions =
    item._tag === "Live" && item.event._tag === "ApprovalRequested"
      ? [item.event.request]
      : item._tag === "CaughtUp"
        ? (yield* called(Effect.succeed(threadId), (client, thread) => client.Inspect({ thread }))).approvals
        : []
  return questions.filter(({ turnId }) => turnId === reply.turnId)
})

interface Told extends Step {
  readonly answer: Answer | undefined
  readonly questions: ReadonlyArray<Approvals.ApprovalRequest>
}

const piecesOf = ({ answer, before, item, questions, reply }: Told): ReadonlyArray<Piece> => [
  ...(reply.text.length > before.text.length
    ? [{ type: "text", text: reply.text.slice(before.text.length) } as const]
    : []),
  ...(item._tag === "Entry" && item.stored.entry._tag !== "UserMessage" && item.stored.entry.turnId === reply.turnId
    ? callsOf(item.stored.entry)
    : []),
  ...questions.map((question) => ({ type: "question", question }) as const),
  ...(answer === undefined ? [] : [{ type: "answer", answer } as const])
]

const callsOf = (entry: Entry.Entry): ReadonlyArray<Piece> => {
  switch (entry._tag) {
    case "AssistantMessage":
      return entry.calls.map((call) => ({
        type: "call",
        callId: call.callId,
        tool: call.name,
        arguments: call.arguments
      }))
    case "ToolResult":
      return [{ type: "result", callId: entry.callId, tool: entry.name, outcome: entry.outcome }]
    default:
      return []
  }
}
