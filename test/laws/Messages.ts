/** Messages, entries and turns for the law suites, with everything filled in that a law does not speak of. */
import * as Effect from "effect/Effect"
import type { Reply } from "../../src/conversation/Journal.ts"
import { type Claim, InboundMessage } from "../../src/conversation/Journal.ts"
import * as Ids from "../../src/Ids.ts"
import type * as Entry from "../../src/thread/Entry.ts"
import { ThreadKey } from "../../src/thread/Threads.ts"
import type { Process } from "./Store.ts"

let counter = 0

export const message = (fields: Partial<Omit<InboundMessage, "thread">> & { readonly thread?: string } = {}) =>
  InboundMessage.make({
    channel: "console",
    externalId: `ext-${counter++}`,
    sender: { id: "ada" },
    source: "person",
    delivery: "now",
    text: "hello",
    attachments: [],
    agent: "main",
    ...fields,
    thread: ThreadKey.make(fields.thread ?? "console:main")
  })

export const guidance = (turnId: Ids.TurnId, text = "go on"): Entry.Entry => ({ _tag: "Guidance", turnId, text })

export const assistant = (
  turnId: Ids.TurnId,
  step: number,
  usage: Entry.Usage = { inputTokens: 10, outputTokens: 3 }
): Entry.Entry => ({
  _tag: "AssistantMessage",
  turnId,
  step,
  text: "fine",
  reasoning: [],
  calls: [],
  finishReason: "stop",
  provider: "offline",
  model: `model-${step}`,
  usage
})

export const reply = (text: string, fields: Partial<Reply> = {}): Reply => ({
  channel: "push",
  chat: "1",
  text,
  ...fields
})

/** Accepts a message, claims its thread and starts a turn with it. */
export const beginTurn = Effect.fnUntraced(function* (process: Process, thread = "console:main") {
  const accepted = yield* process.journal.accept(message({ thread }))
  const claim = yield* Effect.orDie(process.journal.claim(accepted.threadId))
  const turnId = yield* startTurn(process, claim, [accepted.messageId])
  return { ...accepted, claim, turnId }
})

export const startTurn = Effect.fnUntraced(function* (
  process: Process,
  claim: Claim,
  messageIds: ReadonlyArray<Ids.MessageId>
) {
  const turnId = yield* Ids.makeTurnId
  yield* Effect.orDie(process.journal.startTurn(claim, { turnId, messageIds, agent: "main" }))
  return turnId
})

/** A whole turn: a message comes in and is answered with these replies. */
export const answerWith = Effect.fnUntraced(function* (
  process: Process,
  replies: ReadonlyArray<Reply>,
  thread = "push:1"
) {
  const turn = yield* beginTurn(process, thread)
  yield* Effect.orDie(process.journal.endTurn(turn.claim, answered(turn.turnId, { replies })))
  return turn
})

type Ending = Parameters<Process["journal"]["endTurn"]>[1]

export const answered = (turnId: Ids.TurnId, fields: Partial<Ending> = {}): Ending => ({
  turnId,
  state: "answered",
  entries: [],
  replies: [],
  ...fields
})

/** All entries of a thread. */
export const logOf = (process: Process, threadId: Ids.ThreadId) =>
  Effect.map(process.threads.entries(threadId, { from: 1, limit: 100_000 }), ({ entries }) => entries)
