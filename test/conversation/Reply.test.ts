/** A reply is the same text, however much of it came as pieces and however many of those were missed. */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Answer from "../../src/cli/Answer.ts"
import type { WatchItem } from "../../src/conversation/Conversations.ts"
import * as Reply from "../../src/conversation/Reply.ts"
import * as Ids from "../../src/Ids.ts"

const ids = Effect.runSync(Effect.all([Ids.makeMessageId, Ids.makeTurnId, Ids.makeTurnId, Ids.makeThreadId]))
const [messageId, turnId, otherTurn, threadId] = ids

let seq = 0
const entry = (entry: Extract<WatchItem, { _tag: "Entry" }>["stored"]["entry"]): WatchItem => ({
  _tag: "Entry",
  stored: { seq: ++seq, at: 0, entry }
})
const started = entry({ _tag: "TurnStarted", turnId, messageIds: [messageId], agent: "troupe" })
const response = (step: number, text: string, turn = turnId) =>
  entry({
    _tag: "AssistantMessage",
    turnId: turn,
    step,
    text,
    reasoning: [],
    calls: [],
    finishReason: "stop",
    provider: "p",
    model: "m",
    usage: { inputTokens: 1, outputTokens: 2 }
  })
const piece = (
  step: number,
  offset: number,
  text: string,
  kind: "text" | "reasoning" = "text",
  turn = turnId
): WatchItem => ({
  _tag: "Live",
  event: { _tag: "ModelDelta", threadId, turnId: turn, channel: "openai", chat: "x", step, kind, offset, text }
})
const ended = entry({ _tag: "TurnEnded", turnId, state: "answered" })
const follow = (items: ReadonlyArray<WatchItem>) => items.reduce(Reply.next, Reply.start(messageId))

/** Steps, each as its pieces: which were seen as they came, and which came once more when the step was in the log. */
const steps = Schema.Array(
  Schema.Array(Schema.Struct({ text: Schema.NonEmptyString, seen: Schema.Boolean, late: Schema.Boolean })).check(
    Schema.isMaxLength(4)
  )
).check(Schema.isMaxLength(4))

const itemsOf = (pieces: (typeof steps)["Type"]): ReadonlyArray<WatchItem> =>
  pieces.flatMap((parts, index) => {
    let offset = 0
    const deltas = parts.map(({ late, seen, text }) => {
      const delta = piece(index + 1, offset, text)
      offset += text.length
      return { delta, late, seen }
    })
    return [
      ...deltas.flatMap(({ delta, seen }) => (seen ? [delta] : [])),
      response(index + 1, textOf(parts)),
      ...deltas.flatMap(({ delta, late }) => (late ? [delta] : []))
    ]
  })

const textOf = (parts: (typeof steps)["Type"][number]) => parts.map(({ text }) => text).join("")

it.prop("is the texts of the steps, whichever pieces were seen or came late", { pieces: steps }, ({ pieces }) => {
  const reply = follow([started, ...itemsOf(pieces), ended])
  const whole = pieces.map(textOf).filter((text) => text !== "")
  assert.strictEqual(reply.text, whole.join("\n\n"))
  assert.strictEqual(reply.usage.outputTokens, 2 * pieces.length)
  assert.strictEqual(reply.ended?.state, "answered")
})

it.prop("grows only at its end: what was told is never taken back", { pieces: steps }, ({ pieces }) => {
  let reply = Reply.start(messageId)
  for (const item of [started, ...itemsOf(pieces), ended]) {
    const next = Reply.next(reply, item)
    assert.isTrue(next.text.startsWith(reply.text))
    reply = next
  }
})

it("has nothing of other turns, and no reasoning", () => {
  const items = [
    piece(1, 0, "before"),
    started,
    piece(1, 0, "other", "text", otherTurn),
    piece(1, 0, "thinking", "reasoning"),
    response(1, "foreign", otherTurn),
    piece(1, 0, "mine"),
    response(1, "mine alone"),
    ended
  ]
  assert.strictEqual(follow(items).text, "mine alone")
})

it("counts the tokens of a summary as part of the turn's", () => {
  const compacted = entry({
    _tag: "Compacted",
    turnId,
    step: 1,
    how: "summary",
    summary: "short",
    keepFrom: 1,
    readFrom: 1,
    tokensBefore: 100,
    provider: "p",
    model: "m",
    usage: { inputTokens: 10, outputTokens: 20, cachedInputTokens: 3, reasoningTokens: 4 }
  })
  const items = [started, response(1, "one"), compacted, response(2, "two"), ended]
  const usage = { inputTokens: 12, outputTokens: 24, cachedInputTokens: 3, reasoningTokens: 4 }
  assert.deepStrictEqual(follow(items).usage, usage)
  assert.deepStrictEqual(items.reduce(Answer.next, Answer.start(messageId)).usage, usage)
})
