/**
 * Whatever people do and whenever the process ends: messages in any delivery mode, stops, answers to questions, time that passes,
 * crashes and orderly ends, in any order, over three lives. Then what must always hold is looked for in the log, the outcomes and
 * what happened outside.
 */
import { assert, it } from "@effect/vitest"
import type * as Prompt from "effect/ai/Prompt"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as TestRuntime from "../../layers/testing/TestRuntime.ts"
import { Conversations } from "../../src/conversation/Conversations.ts"
import type * as Event from "../../src/event/Event.ts"
import { EventBus } from "../../src/event/EventBus.ts"
import { delay, run, text, toolCall } from "../../src/testing/ScriptedModel.ts"
import type * as Scripted from "../../src/testing/ScriptedModel.ts"
import * as Entry from "../../src/thread/Entry.ts"
import * as Threads from "../../src/thread/Threads.ts"
import { answerTo } from "../approval/Answers.ts"
import * as Fixtures from "./Fixtures.ts"
import * as Lives from "./Lives.ts"

const chats = ["a", "b"] as const
const toolNames = ["look", "order", "pay", "commit"] as const
const Chat = Schema.Literals(chats)

/** What somebody does. `order` stands behind an approval. */
const Command = Schema.TaggedUnion({
  Say: {
    chat: Chat,
    delivery: Entry.Delivery,
    calls: Schema.Array(Schema.Literals(toolNames)).check(Schema.isMaxLength(3))
  },
  Stop: { chat: Chat },
  Pause: { millis: Schema.Literals([1, 40, 200, 900]) }
})
type Command = typeof Command.Type

/** One life: what is done in it, at which of its points it ends and how, and how people answer questions in it. */
const Life = Schema.Struct({
  commands: Schema.Array(Command).check(Schema.isMinLength(2), Schema.isMaxLength(9)),
  point: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 70 })),
  ends: Schema.Literals(["killed", "asked to end"]),
  answers: Schema.Array(Schema.Literals(["approved", "denied", "silence"])).check(
    Schema.isMinLength(1),
    Schema.isMaxLength(4)
  )
})
type Life = typeof Life.Type

/** What was handed in, in order, and what happened outside. Outlives every life. */
interface World {
  readonly said: Array<{
    readonly chat: string
    readonly tag: string
    readonly message: Extract<Command, { _tag: "Say" }>
  }>
  readonly effects: Array<Fixtures.Handled>
}

interface Story {
  readonly lives: ReadonlyArray<Life>
  readonly last: Life
}

const tell = ({ last, lives }: Story) =>
  Effect.gen(function* () {
    const store = yield* Lives.makeStore
    const world: World = { said: [], effects: [] }
    for (const life of lives) {
      const end = life.ends === "killed" ? Lives.killedAt : Lives.endedAt
      yield* end(store, life.point, make(world), live(world, life))
    }
    judge(yield* Lives.whole(store, make(world), Effect.andThen(live(world, last), logs)), world)
    return world
  })

it.effect.prop(
  "whatever happens in whatever order, nothing is lost, nothing is done twice, and the order is kept",
  {
    lives: Arbitrary.array(Arbitrary.schema(Life), { minLength: 2, maxLength: 2 }),
    last: Arbitrary.schema(Life)
  },
  tell,
  { arbitrary: { runs: 60, maxShrinks: 60 }, timeout: 120_000 }
)

const say = (calls: Extract<Command, { _tag: "Say" }>["calls"]): Command => ({
  _tag: "Say",
  chat: "a",
  delivery: "now",
  calls
})

it.effect("a call that ran, and may not run again, is not called one that was denied", () =>
  Effect.gen(function* () {
    // An end of the process while the call runs, by each of its points from the first one in which it had its effect.
    let happened = 0
    for (const ends of ["killed", "asked to end"] as const) {
      for (let point = 8; point <= 20; point++) {
        const first: Life = { commands: [say(["order"])], point, ends, answers: ["approved"] }
        const last: Life = { commands: [{ _tag: "Pause", millis: 1 }], point: 1, ends, answers: ["denied"] }
        const world = yield* tell({ lives: [first], last })
        if (world.effects.length === 1) happened += 1
      }
    }
    assert.isAbove(happened, 2)
  })
)

// ---------------------------------------------------------------------------------------------------------------------
// A life

const settings = {
  // The test's clock may run far ahead of the work on a busy machine.
  runtime: { turn_crash_limit: 9, agent_timeout_seconds: 86_400 },
  tools: { approval: { require_approval: ["order"], timeout_seconds: 1 } }
}

const make =
  ({ effects }: World): Lives.Make =>
  (at) => ({
    settings,
    scripts: ({ prompt }) => [
      run(at("model asked")),
      delay("30 millis"),
      ...scriptFor(prompt),
      run(at("model answered"))
    ],
    tools: Fixtures.tools((call) =>
      Effect.gen(function* () {
        yield* at(`before ${call.tool}`)
        effects.push(call)
        yield* Effect.sleep("20 millis")
        yield* at(`after ${call.tool}`)
        return call.text
      })
    )
  })

/**
 * Everything that was handed in before is handed in again, as a channel does that got no receipt; then come the commands, and
 * then the life goes on until all has its outcome, if it lives that long.
 */
const live = (world: World, { answers, commands }: Life) =>
  Effect.gen(function* () {
    const troupe = yield* TestRuntime.TestRuntime
    yield* answerQuestions(answers)
    const accepted = yield* Effect.forEach(world.said, handIn)
    for (const command of commands) {
      switch (command._tag) {
        case "Say": {
          const said = { chat: command.chat, tag: `m${world.said.length + 1}`, message: command }
          world.said.push(said)
          accepted.push(yield* handIn(said))
          break
        }
        case "Stop":
          yield* Effect.forkScoped(Effect.ignore(stop(command.chat)), { startImmediately: true })
          break
        case "Pause":
          yield* Effect.sleep(command.millis)
      }
    }
    yield* Effect.forEach(accepted, troupe.outcome, { concurrency: "unbounded" })
  }).pipe(Effect.scoped, Fixtures.whileTimePasses)

const handIn = ({ chat, message, tag }: World["said"][number]) =>
  TestRuntime.TestRuntime.use((troupe) =>
    troupe.accept(`<${tag}> ${message.calls.join(" ")}`, { chat, externalId: tag, delivery: message.delivery })
  )

const threadOf = (chat: string) =>
  Threads.Threads.use((threads) => threads.byKey(Threads.ThreadKey.make(`test:${chat}`)))

const stop = (chat: string) =>
  Effect.flatMap(threadOf(chat), ({ id }) => Conversations.use((conversations) => conversations.stop(id, "tester")))

/** Each question gets the next answer; silence lets its time run out. */
const answerQuestions = Effect.fnUntraced(function* (answers: Life["answers"]) {
  const conversations = yield* Conversations
  const events = yield* (yield* EventBus).subscribe
  let asked = 0
  const answer = (event: Event.Event) => {
    if (event._tag !== "ApprovalRequested") return Effect.void
    const decision = answers[asked++ % answers.length] ?? "silence"
    const { request } = event
    return decision === "silence"
      ? Effect.void
      : Effect.ignore(conversations.decide(request.threadId, answerTo(request, decision)))
  }
  yield* Effect.forkScoped(Stream.runForEach(events, answer), { startImmediately: true })
})

/** The model has no memory: it makes the calls that the messages since its last answer name, and answers with their tags. */
const scriptFor = (prompt: Prompt.Prompt): Scripted.Script => {
  const isAnswer = (message: Prompt.Message) => message.role === "assistant" && callsIn(message) === 0
  const since = prompt.content.slice(prompt.content.findLastIndex(isAnswer) + 1)
  const asked = since.flatMap((message) => (message.role === "user" ? readText(message) : []))
  const wanted = asked.flatMap(({ calls, tag }) => calls.map((tool) => ({ tool, tag })))
  const made = since.reduce((sum, message) => sum + callsIn(message), 0)
  const next = wanted.slice(made, made + 2)
  return next.length > 0
    ? next.map(({ tag, tool }) => toolCall(tool, { text: tag }))
    : [text(`Done: ${asked.map(({ tag }) => `<${tag}>`).join(" ")}`)]
}

const callsIn = (message: Prompt.Message): number =>
  message.role === "assistant" ? message.content.filter((part) => part.type === "tool-call").length : 0

const readText = (message: Prompt.UserMessage) => {
  const words = message.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join(" ")
  const found = /^<(\w+)>((?: \w+)*)/.exec(words)
  return found === null
    ? []
    : [{ tag: found[1] ?? "", calls: (found[2] ?? "").split(" ").filter((word) => word !== "") }]
}

// ---------------------------------------------------------------------------------------------------------------------
// The end

interface Log {
  readonly chat: string
  readonly entries: ReadonlyArray<Entry.StoredEntry>
  readonly receipts: ReadonlyMap<string, Threads.MessageReceipt>
}

/** What is on disk of each thread. */
const logs = Effect.gen(function* () {
  const threads = yield* Threads.Threads
  return yield* Effect.forEach(chats, (chat) =>
    Effect.gen(function* () {
      const { id } = yield* threadOf(chat)
      const { entries } = yield* threads.entries(id, { from: 1, limit: 1000 })
      const receipts = new Map<string, Threads.MessageReceipt>()
      for (const { entry } of entries) {
        if (entry._tag === "UserMessage") receipts.set(entry.messageId, yield* threads.receipt(entry.messageId))
      }
      return [{ chat, entries, receipts }]
    }).pipe(Effect.catchTag("ThreadNotFound", () => Effect.succeed<Array<Log>>([])))
  )
}).pipe(
  Effect.map((found) => found.flat()),
  Effect.orDie
)

const judge = (found: ReadonlyArray<Log>, world: World) => {
  for (const log of found) {
    order(log, world)
    turns(log)
    calls(log, world)
  }
}

/** Every message is there once, in the order in which it was handed in, and has an outcome. */
const order = ({ chat, entries, receipts }: Log, { said }: World) => {
  assert.deepStrictEqual(
    entries.map(({ seq }) => seq),
    entries.map((_, index) => index + 1)
  )
  assert.deepStrictEqual(
    entries.flatMap(({ entry }) => (entry._tag === "UserMessage" ? [/^<(\w+)>/.exec(entry.text)?.[1]] : [])),
    said.filter((message) => message.chat === chat).map(({ tag }) => tag)
  )
  for (const { failure, state } of receipts.values()) assert.include(["answered", "stopped"], state, failure?.message)
}

/** A turn begins and ends once, takes up each message once, and an answered message is named in its answer. */
const turns = ({ entries, receipts }: Log) => {
  const taken = entries.flatMap(({ entry }) =>
    entry._tag === "TurnStarted" || entry._tag === "MessagesFolded" ? entry.messageIds : []
  )
  assert.strictEqual(new Set(taken).size, taken.length)
  const byTurn = Map.groupBy(
    entries.filter(({ entry }) => entry._tag !== "UserMessage"),
    ({ entry }) => Entry.turnIdOf(entry)
  )
  for (const own of byTurn.values()) {
    const kinds = own.map(({ entry }) => entry._tag)
    assert.strictEqual(kinds.filter((kind) => kind === "TurnStarted").length, 1)
    assert.strictEqual(kinds.filter((kind) => kind === "TurnEnded").length, 1)
    assert.strictEqual(kinds.at(0), "TurnStarted")
    assert.strictEqual(kinds.at(-1), "TurnEnded")
    const said = own.map(({ entry }) => (entry._tag === "AssistantMessage" ? entry.text : "")).join(" ")
    const ended = own.at(-1)?.entry
    for (const { entry } of own) {
      if (entry._tag !== "TurnStarted" && entry._tag !== "MessagesFolded") continue
      for (const id of entry.messageIds) {
        const state = receipts.get(id)?.state
        assert.strictEqual(state, ended?._tag === "TurnEnded" ? ended.state : undefined)
        const message = entries.find((stored) => stored.entry._tag === "UserMessage" && stored.entry.messageId === id)
        const tag = message?.entry._tag === "UserMessage" ? /^<\w+>/.exec(message.entry.text)?.[0] : undefined
        if (state === "answered") assert.include(said, tag ?? "no tag")
      }
    }
  }
}

/** A call has one result, and what happened outside is what the result says. */
const calls = ({ entries }: Log, { effects }: World) => {
  const made = entries.flatMap(({ entry }) => (entry._tag === "AssistantMessage" ? entry.calls : []))
  const results = entries.flatMap(({ entry }) => (entry._tag === "ToolResult" ? [entry] : []))
  assert.sameMembers(
    results.map(({ callId }) => callId),
    made.map(({ callId }) => callId)
  )
  assert.strictEqual(results.length, made.length)
  for (const { callId, name, outcome } of results) {
    const own = effects.filter((effect) => effect.callId === callId)
    assert.isAtMost(new Set(own.map(({ idempotencyKey }) => idempotencyKey)).size, 1)
    if (name === "pay" || name === "commit") assert.isAtMost(own.length, 1)
    if (outcome === "completed") assert.isAtLeast(own.length, 1)
    // What only reads leaves nothing behind when it is broken off, so it may count as not run.
    if (name !== "look" && (outcome === "skipped" || outcome === "denied" || outcome === "invalid")) {
      assert.strictEqual(own.length, 0, `${name} ${outcome}`)
    }
  }
}
