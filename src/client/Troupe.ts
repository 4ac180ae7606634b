/**
 * The client for programs without Effect: promises, async iterables, plain types. It is the typed client underneath, with
 * one HTTP request for each call.
 */
import * as Effect from "effect/Effect"
import * as Base64 from "effect/encoding/Base64"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Approvals from "../approval/Approvals.ts"
import type * as Conversations from "../conversation/Conversations.ts"
import * as Outcome from "../conversation/Outcome.ts"
import * as Reply from "../conversation/Reply.ts"
import * as Ids from "../Ids.ts"
import * as TroupeRpcs from "../rpc/TroupeRpcs.ts"
import * as Entry from "../thread/Entry.ts"
import * as SchemaProblem from "../SchemaProblem.ts"
import * as Inbound from "../thread/Inbound.ts"
import * as Threads from "../thread/Threads.ts"
import * as PlainError from "./PlainError.ts"
import type {
  Answer,
  HistoryOptions,
  Piece,
  SendOptions,
  Troupe,
  TroupeErrorCode,
  TroupeFailure,
  TroupeOptions,
  WatchItem
} from "./PlainTypes.ts"
import * as PromiseEdge from "./PromiseEdge.ts"
import * as TroupeClient from "./TroupeClient.ts"

/** A client of the daemon at `url`. Nothing is asked before the first call. */
export const createTroupe = (options: TroupeOptions): Troupe => {
  const { name, token, url } = options
  const edge = PromiseEdge.make(TroupeClient.layerHttp({ url, token: Redacted.make(token), name }))
  return {
    send: (text, options) => edge.run(send(text, options), options),
    stream: (text, options) => edge.iterate(pieces(text, options), options),
    watch: (thread, options) =>
      edge.iterate(Stream.unwrap(Effect.as(known(options, ["from"]), watch(thread, options?.from ?? 1))), options),
    history: (thread, options) =>
      edge.run(
        called(stretchOf(thread, options), (client, stretch) =>
          Effect.map(
            Stream.runCollect(client.history({ ...stretch, from: stretch.from ?? undefined })),
            (pages): ReadonlyArray<Entry.StoredEntry> => pages.flat()
          )
        ),
        options
      ),
    threads: (options) =>
      edge.run(
        called(Effect.andThen(known(options, ["limit", "before"]), page(options?.before ?? null)), (client, before) =>
          client.Threads({ limit: options?.limit ?? 100, ...(before === null ? {} : { before }) })
        ),
        options
      ),
    stop: (thread, options) =>
      edge.run(
        called(threadRef(thread), (client, thread) => client.Stop({ thread })),
        options
      ),
    decide: (thread, approvalId, decision, options) =>
      edge.run(
        called(decided({ thread, approvalId, decision }), (client, payload) => client.Decide(payload)),
        options
      ),
    status: (options) =>
      edge.run(
        called(Effect.void, (client) => client.Status()),
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

const reader = <S extends Schema.Constraint & { readonly DecodingServices: never }>(schema: S) => {
  const decode = Schema.decodeUnknownEffect(schema)
  return (input: unknown): Effect.Effect<S["Type"], PlainError.Failed> =>
    Effect.mapError(
      decode(input),
      ({ issue }) =>
        new PlainError.Failed({ code: "invalid_request", message: SchemaProblem.describe(issue, input).text })
    )
}

const threadRef = reader(TroupeRpcs.ThreadRef)
const page = reader(Schema.NullOr(Threads.ThreadCursor))
const stretch = reader(
  Schema.Struct({
    thread: TroupeRpcs.ThreadRef,
    limit: TroupeRpcs.PageLimit,
    from: Schema.NullOr(TroupeRpcs.Seq)
  })
)
const decided = reader(
  Schema.Struct({ thread: TroupeRpcs.ThreadRef, approvalId: Ids.ApprovalId, decision: Approvals.Decision })
)

const stretchOf = (thread: string, options: HistoryOptions | undefined) =>
  Effect.andThen(
    known(options, ["from", "limit"]),
    stretch({ thread, limit: options?.limit ?? 100, from: options?.from ?? null })
  )

/** What a program without types misspells must not be lost without a word. */
const known = (options: object | undefined, names: ReadonlyArray<string>): Effect.Effect<void, PlainError.Failed> => {
  const all = [...names, "signal"]
  const option = Object.keys(options ?? {}).find((name) => !all.includes(name))
  if (option === undefined) return Effect.void
  const message = SchemaProblem.unknownField([], option, all)
  return Effect.fail(new PlainError.Failed({ code: "invalid_request", message }))
}

const message = reader(
  Schema.Struct({
    thread: Threads.ThreadKey,
    text: Inbound.MessageText,
    externalId: Schema.optionalKey(Inbound.ExternalId),
    attachments: Schema.optionalKey(Inbound.Attachments),
    delivery: Schema.optionalKey(Entry.Delivery)
  })
)

const files = reader(
  Schema.Array(
    Schema.Struct({
      name: Schema.String,
      mediaType: Schema.optionalKey(Schema.String),
      content: Schema.Uint8Array
    })
  )
)

const encoded = (attachments: SendOptions["attachments"]) =>
  Effect.map(files(attachments), (read) =>
    read.map(({ content, ...file }) => ({ ...file, data: Base64.encode(content) }))
  )

const watch = (thread: string, from: number): Stream.Stream<WatchItem, PlainError.Failed, TroupeClient.TroupeClient> =>
  Stream.map(items(threadRef(thread), from), (item): WatchItem => {
    switch (item._tag) {
      case "Entry":
        return { type: "entry", stored: item.stored }
      case "Live":
        return { type: "live", event: item.event }
      case "CaughtUp":
        return { type: "caught-up", seq: item.seq }
    }
  })

const items = (thread: Effect.Effect<TroupeRpcs.ThreadRef, PlainError.Failed>, from: number) =>
  Stream.unwrap(
    Effect.gen(function* () {
      const client = yield* TroupeClient.TroupeClient
      return Stream.mapError(client.watch({ thread: yield* thread, from }), PlainError.ofCall)
    })
  )

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
      yield* known(options, ["thread", "id", "attachments", "delivery"])
      const { attachments, delivery, id, thread } = options
      const payload = yield* message({
        thread,
        text,
        ...(id === undefined ? {} : { externalId: id }),
        ...(attachments === undefined ? {} : { attachments: yield* encoded(attachments) }),
        ...(delivery === undefined ? {} : { delivery })
      })
      const client = yield* TroupeClient.TroupeClient
      const asked = new Set<Ids.ApprovalId>()
      const isNew = ({ approvalId }: Approvals.ApprovalRequest) => !asked.has(approvalId) && asked.add(approvalId)
      return client.sendAndWatch(payload).pipe(
        Stream.mapError(PlainError.ofCall),
        Stream.mapAccum((): Followed | undefined => undefined, follow),
        Stream.mapEffect((step): Effect.Effect<Accepted | Told, PlainError.Failed, TroupeClient.TroupeClient> =>
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

type Accepted = Extract<TroupeRpcs.SentItem, { readonly _tag: "Accepted" }>

interface Followed {
  readonly threadId: Ids.ThreadId
  readonly reply: Reply.Reply
}

/** Folds an item into the reply of the message that was accepted before it. */
const follow = (
  followed: Followed | undefined,
  item: TroupeRpcs.SentItem
): readonly [Followed | undefined, ReadonlyArray<Accepted | Step>] => {
  if (item._tag === "Accepted") {
    return [{ threadId: item.threadId, reply: Reply.start(item.messageId) }, [item]]
  }
  if (followed === undefined) return [followed, []]
  const { reply: before, threadId } = followed
  const reply = Reply.next(before, item)
  return [{ threadId, reply }, [{ _tag: "Step", threadId, item, before, reply }]]
}

const acceptance = ({ duplicate, messageId, threadId }: Accepted): Piece => ({
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
