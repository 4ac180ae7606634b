/**
 * From a request to an accepted message: which thread it belongs to, what of it is new there, and whether it was sent
 * before.
 *
 * A client that names no thread tells the whole conversation each time. Its thread is the one whose last turn began with
 * the same things said, and ended with the answer that the client says it got; only what comes after is accepted there. No
 * such thread, or one that has gone on since, means a new one, which is told what was said before.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Semaphore from "effect/Semaphore"
import { Agents } from "../../src/agent/Agents.ts"
import * as Attachment from "../../src/attachment/Attachment.ts"
import { Settings } from "../../src/config/Settings.ts"
import { Conversations } from "../../src/conversation/Conversations.ts"
import * as Held from "../../src/conversation/Held.ts"
import * as Ids from "../../src/Ids.ts"
import type { Asked } from "../../src/openai/Asked.ts"
import * as Problem from "../../src/openai/Problem.ts"
import * as Requests from "../../src/openai/Requests.ts"
import * as ResponseId from "../../src/openai/ResponseId.ts"
import * as Transcript from "../../src/openai/Transcript.ts"
import * as Inbound from "../../src/thread/Inbound.ts"
import * as Threads from "../../src/thread/Threads.ts"
import * as Fingerprint from "../Fingerprint.ts"
import * as ThreadReading from "./ThreadReading.ts"

/** What the headers say of a request. */
export interface How {
  /** The client's own id of the request: the same one is one turn. */
  readonly idempotencyKey: string | undefined
  /** The client says that it has sent this before and got no answer. */
  readonly sentBefore: boolean
}

/** A message that is on disk. Whoever follows it wakes its conversation. */
export interface Accepted extends Requests.Place {
  readonly key: Threads.ThreadKey
  /** Milliseconds since 1970. */
  readonly acceptedAt: number
  /** Nobody has told its conversation of it yet. */
  readonly quiet: boolean
}

interface Target {
  readonly key: Threads.ThreadKey
  readonly thread: Threads.Thread | undefined
  /** What a new thread has to be told. */
  readonly history: ReadonlyArray<Transcript.Message>
}

export const channel = "openai"

/** As many threads that have heard the same are looked at; more than that are not told apart by what they answered. */
const candidates = 16

/** For how long a request that says it was sent before is taken for the same one, in milliseconds. */
const retryWindow = 3_600_000

export const make = Effect.gen(function* () {
  const conversations = yield* Conversations
  const threads = yield* Threads.Threads
  const requests = yield* Requests.Requests
  const agents = yield* Agents
  const held = yield* Held.Held
  const settings = yield* Settings
  const { runtime } = settings
  // Two requests that go on from the same place must not both find its thread at rest.
  const oneAtATime = Semaphore.makeUnsafe(1)

  /** The thread at rest after exactly what the client tells. */
  const threadAtRest = Effect.fnUntraced(function* (asked: Asked, history: ReadonlyArray<Transcript.Message>) {
    const answer = history.at(-1)
    if (answer === undefined) return undefined
    const found = yield* requests.byConversation(conversationOf(asked, history.slice(0, -1)), candidates)
    const instructions = Fingerprint.of(asked.instructions)
    // Of threads that heard the same, the one with the same instructions; a client may also change them as it goes.
    const ordered = found.toSorted(
      (a, b) => Number(b.instructions === instructions) - Number(a.instructions === instructions)
    )
    for (const request of ordered) {
      const thread = yield* Effect.option(threads.get(request.threadId))
      if (thread._tag === "None" || thread.value.agent !== asked.model) continue
      const reply = yield* ThreadReading.reply(threads, request)
      if (reply.endedAt === thread.value.entries && Transcript.sameText(reply.text, answer.text)) return thread.value
    }
    return undefined
  })

  const freshKey = Effect.map(Ids.makeThreadId, (id) => Threads.ThreadKey.make(`${channel}:auto-${id.slice(4)}`))

  const named = Effect.fnUntraced(function* (asked: Asked, name: string, param: string) {
    const key = yield* Effect.mapError(decodeKey(`${channel}:${name}`), () =>
      Problem.invalid(param, `${param}: Expected the name of a thread: up to 200 characters without spaces.`)
    )
    const thread = Option.getOrUndefined(yield* Effect.option(threads.byKey(key)))
    if (thread !== undefined && thread.agent !== asked.model) {
      return yield* Problem.conflict(
        "model",
        "The thread belongs to another agent than the one asked for.",
        "other_agent"
      )
    }
    const target: Target = { key, thread, history: Transcript.split(asked.messages).history }
    return target
  })

  /** After the end of a thread, the thread itself goes on; after an earlier place, a new one that is told what was said. */
  const after = Effect.fnUntraced(function* (asked: Asked, responseId: string) {
    const unknown = Problem.invalid(
      "previous_response_id",
      "previous_response_id: There is no response with this id.",
      "previous_response_not_found"
    )
    const messageId = yield* Option.match(ResponseId.messageOf(responseId), {
      onNone: () => Effect.fail(unknown),
      onSome: Effect.succeed
    })
    const request = yield* requests.byMessage(messageId)
    if (request._tag === "None") return yield* unknown
    const { threadId } = request.value
    const thread = yield* Effect.mapError(threads.get(threadId), () => unknown)
    const last = yield* requests.latest(threadId)
    const isLast = last._tag === "Some" && last.value.messageId === messageId
    if (isLast && thread.agent === asked.model) {
      const target: Target = { key: thread.key, thread, history: [] }
      return target
    }
    const before = yield* ThreadReading.upTo(threads, threadId, messageId, Inbound.longestText)
    if (before === undefined) return yield* tooLong
    const target: Target = { key: yield* freshKey, thread: undefined, history: Transcript.ofLog(before) }
    return target
  })

  const untold = Effect.fnUntraced(function* (asked: Asked) {
    const { history } = Transcript.split(asked.messages)
    const thread = yield* threadAtRest(asked, history)
    const target: Target = { key: thread?.key ?? (yield* freshKey), thread, history }
    return target
  })

  const targetOf = (asked: Asked): Effect.Effect<Target, Problem.Problem> => {
    switch (asked.place._tag) {
      case "Named":
        return named(asked, asked.place.name, asked.place.param)
      case "After":
        return after(asked, asked.place.responseId)
      case "Untold":
        return untold(asked)
    }
  }

  const textFor = Effect.fnUntraced(function* (asked: Asked, { history, thread }: Target) {
    const { said } = Transcript.split(asked.messages)
    const last = thread === undefined ? Option.none() : yield* requests.latest(thread.id)
    const known = last._tag === "Some" && last.value.instructions === Fingerprint.of(asked.instructions)
    const text = Transcript.render({
      instructions: known ? "" : asked.instructions,
      replacing: thread !== undefined,
      history: thread === undefined ? history : [],
      said
    })
    if (said.every(({ files = [], role, text }) => role === "user" && files.length === 0 && Inbound.isBlank(text)))
      return yield* Problem.invalid(
        asked.said,
        `${asked.said}: Expected a message that says something, more than blanks.`
      )
    if (text.length <= Inbound.longestText) return text
    return yield* tooLong
  })

  /** The files of what is to be answered. Those of what was said before are in its thread, or only told of. */
  const filesOf = (asked: Asked) =>
    Effect.mapError(
      Effect.fromResult(
        Attachment.judgeEncoded(
          Transcript.split(asked.messages).said.flatMap(({ files = [] }) => files),
          Attachment.limitsOf(settings)
        )
      ),
      ({ message }) => Problem.invalid(asked.said, `${asked.said}: ${message}`, "attachment_refused")
    )

  /** The message of a request that was sent before. */
  const earlier = Effect.fnUntraced(function* (digest: string, how: How, externalId: string) {
    if (how.idempotencyKey !== undefined) {
      const found = yield* requests.byExternalId(externalId)
      if (found._tag === "Some" && found.value.digest !== null && found.value.digest !== digest) {
        return yield* Problem.conflict(
          "Idempotency-Key",
          "Idempotency-Key: Expected a new one. This one belongs to a request that said something else.",
          "idempotency_key_reused"
        )
      }
      return Option.getOrUndefined(found)
    }
    if (!how.sentBefore) return undefined
    const now = yield* Clock.currentTimeMillis
    return Option.getOrUndefined(yield* requests.byDigest(digest, now - retryWindow))
  })

  const acceptedAs = Effect.fnUntraced(function* (
    { messageId, seq, threadId }: Requests.Place,
    key: Threads.ThreadKey,
    quiet: boolean
  ) {
    const { acceptedAt } = yield* Effect.orDie(threads.receipt(messageId))
    const accepted: Accepted = { messageId, threadId, seq, key, acceptedAt, quiet }
    return accepted
  })

  /** The protocol knows no waiting for a person who decides: nothing more is accepted there, and nobody left waiting. */
  const notHeld = Effect.fnUntraced(function* (threadId: Ids.ThreadId) {
    if (yield* held.holds(threadId)) return yield* Problem.conflict(null, Held.why, "thread_held")
  })

  const accept = Effect.fnUntraced(function* (asked: Asked, how: How) {
    const digest = digestOf(asked)
    const { idempotencyKey } = how
    const externalId = idempotencyKey === undefined ? yield* Ids.makeMessageId : `key:${Fingerprint.of(idempotencyKey)}`
    const before = yield* earlier(digest, how, externalId)
    if (before !== undefined) {
      yield* notHeld(before.threadId)
      const { key } = yield* Effect.orDie(threads.get(before.threadId))
      return yield* acceptedAs(before, key, false)
    }
    const target = yield* targetOf(asked)
    if (target.thread !== undefined) yield* notHeld(target.thread.id)
    const { messageId, seq, threadId } = yield* conversations.acceptQuietly({
      thread: target.key,
      channel,
      externalId,
      sender: { id: runtime.owner_id, ...(asked.user === "" ? {} : { name: asked.user }) },
      source: "person",
      // An answer belongs to its request: no other message joins its turn, nor this one another turn.
      delivery: "after-turn",
      text: yield* textFor(asked, target),
      attachments: yield* filesOf(asked),
      agent: asked.model
    })
    yield* requests.record({
      messageId,
      threadId,
      seq,
      digest,
      conversation: asked.place._tag === "Untold" ? conversationOf(asked, asked.messages) : null,
      instructions: Fingerprint.of(asked.instructions)
    })
    return yield* acceptedAs({ messageId, threadId, seq }, target.key, true)
  }, Effect.uninterruptible)

  return Effect.fn("OpenAi.ask")(function* (asked: Asked, how: How): Effect.fn.Return<Accepted, Problem.Problem> {
    yield* Effect.mapError(agents.get(asked.model), ({ message }) =>
      Problem.notFound("model", `model: ${message}`, "model_not_found")
    )
    return yield* Effect.catchTags(oneAtATime.withPermit(accept(asked, how)), {
      StorageUnavailable: (error) => Effect.fail(Problem.storage(error)),
      Overloaded: (error) => Effect.fail(Problem.overloaded(error))
    })
  })
})

const tooLong = Effect.fail(
  Problem.refusal(413, `What is to be accepted has more than ${Inbound.longestText} characters.`)
)

const decodeKey = Schema.decodeUnknownEffect(Threads.ThreadKey)

/** What makes two conversations one: the agent, the client's user, and everything that was said. */
const conversationOf = (asked: Asked, messages: ReadonlyArray<Transcript.Message>): string =>
  Fingerprint.of(asked.model, asked.user, Transcript.canonical(messages))

const digestOf = ({ instructions, messages, model, place, user }: Asked): string => {
  const where = place._tag === "Named" ? place.name : place._tag === "After" ? place.responseId : ""
  return Fingerprint.of(model, user, place._tag, where, instructions, Transcript.canonical(messages))
}
