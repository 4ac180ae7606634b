/** What comes in and goes out around the end of a process: it is served by the next one. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as TestRuntime from "../../layers/testing/TestRuntime.ts"
import * as Channels from "../../src/channel/Channels.ts"
import { type Delivery, Outbox } from "../../src/channel/Outbox.ts"
import { Conversations } from "../../src/conversation/Conversations.ts"
import { Journal } from "../../src/conversation/Journal.ts"
import { never, ScriptedModel, text, toolCall } from "../../src/testing/ScriptedModel.ts"
import type * as Scripted from "../../src/testing/ScriptedModel.ts"
import * as Threads from "../../src/thread/Threads.ts"
import * as Fixtures from "./Fixtures.ts"
import * as Lives from "./Lives.ts"

const { TestRuntime: Troupe } = TestRuntime

/** Says what it was asked. */
const echoing: Scripted.Scripts = ({ prompt }) => [text(`to ${lastOf(prompt)}`)]
const lastOf = (prompt: Scripted.Request["prompt"]): string => {
  const last = prompt.content.findLast((message) => message.role === "user")
  return last?.role === "user" ? last.content.map((part) => (part.type === "text" ? part.text : "")).join("") : ""
}

const push = (deliver: (delivery: Delivery) => Effect.Effect<void>) =>
  Effect.flatMap(Channels.Channels, (channels) =>
    Effect.orDie(
      channels.register({
        name: "push",
        capabilities: { approval: false, formatting: ["text"], files: false },
        deliver
      })
    )
  )

const emptied = Effect.flatMap(Outbox, (outbox) =>
  Effect.repeat(Effect.andThen(Effect.yieldNow, outbox.pending), { until: (left) => left.length === 0 })
)

/** A process that ends while its one turn, that of `early`, is still given its time. */
const ending = Effect.gen(function* () {
  const store = yield* Lives.makeStore
  const scope = yield* Scope.make()
  const context = yield* Layer.buildWithScope(TestRuntime.layer({ scripts: () => [never] }, store), scope)
  const accept = (message: string, chat: string) =>
    Effect.provideContext(
      Troupe.use((troupe) => troupe.accept(message, { chat, externalId: message })),
      context
    )
  const early = yield* accept("early", "main")
  yield* Effect.provideContext(
    ScriptedModel.use((model) => model.awaitRequests(1)),
    context
  )
  const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void), { startImmediately: true })
  yield* Effect.repeat(Effect.yieldNow, { times: 100 })
  assert.isUndefined(closing.pollUnsafe(), "the turn at work is still given its time")
  return { store, context, accept, early, closed: Fixtures.whileTimePasses(Fiber.join(closing)) }
})

describe("a message", () => {
  it.effect("F017 that comes in while the process ends is on disk, and answered by the next", () =>
    Effect.gen(function* () {
      const { accept, closed, early, store } = yield* ending
      const late = [yield* accept("late", "main"), yield* accept("elsewhere", "other")]
      yield* closed

      const outcomes = yield* Lives.whole(
        store,
        () => ({ scripts: echoing }),
        Troupe.use((troupe) => Effect.forEach([early, ...late], troupe.outcome))
      )
      assert.deepStrictEqual(
        outcomes.map(({ state }) => state),
        ["answered", "answered", "answered"]
      )
    })
  )

  it.effect(
    "that comes in while the process ends keeps nobody waiting: what is asked of its conversation is refused",
    () =>
      Effect.gen(function* () {
        const { accept, closed, context, early } = yield* ending
        const conversations = yield* Effect.provideContext(Conversations, context)
        for (const { threadId } of [early, yield* accept("late", "other")]) {
          const refusals = [
            yield* Effect.flip(conversations.inspect(threadId)),
            yield* Effect.flip(conversations.stop(threadId, "tester")),
            yield* Effect.flip(Stream.runHead(conversations.watch(threadId, { from: 1 })))
          ]
          for (const refusal of refusals) assert.strictEqual(refusal._tag, "ConversationUnavailable")
        }
        yield* closed
      })
  )

  it.effect("F023 of a feed is fetched again when the process dies before it is on disk, and is answered once", () =>
    Effect.gen(function* () {
      for (let point = 1; ; point++) {
        const store = yield* Lives.makeStore
        const { life, at } = telling({ scripts: echoing })
        const died = yield* Lives.killedAt(store, point, life, polled(at))
        yield* Lives.whole(store, life, polled(at))
        const states = yield* Lives.whole(
          store,
          life,
          Effect.gen(function* () {
            const { entries } = yield* (yield* Troupe).outcome(yield* received("update 5", 5))
            return entries.flatMap((entry) =>
              entry._tag === "UserMessage" || entry._tag === "AssistantMessage" ? [entry.text] : []
            )
          })
        )
        assert.deepStrictEqual(
          states.filter((said) => !said.startsWith("to ")),
          ["1", "2", "3", "4", "5"],
          died
        )
        assert.deepStrictEqual(
          states.filter((said) => said.startsWith("to ")),
          ["to 1", "to 2", "to 3", "to 4", "to 5"],
          died
        )
        if (died === undefined) break
        assert.isBelow(point, 200)
      }
    })
  )
})

describe("a reply", () => {
  it.effect(
    "F018 that was made while its channel was blocked outlives a process that is killed, and is sent once",
    () =>
      Effect.gen(function* () {
        const chats = ["a", "b", "c"]
        const words = Array.from({ length: 12 }, (_, n) => ({ chat: chats[n % 3] ?? "", text: `${n}` }))
        const store = yield* Lives.makeStore
        const { at, life } = telling({ scripts: echoing })
        const died = yield* Lives.killedAt(
          store,
          "all are made",
          life,
          Effect.gen(function* () {
            const taken: Array<string> = []
            yield* push((delivery) =>
              Effect.andThen(
                Effect.sync(() => taken.push(delivery.chat)),
                Effect.never
              )
            )
            const troupe = yield* Troupe
            for (const { chat, text } of words) yield* troupe.say(text, { channel: "push", chat, externalId: text })
            // One of each chat is on its way, and nobody will ever know how far it came.
            yield* Effect.repeat(Effect.yieldNow, { until: () => taken.length === 3 })
            yield* at("all are made")
          }).pipe(Effect.scoped)
        )
        assert.strictEqual(died, "all are made")
        const sent = yield* Lives.whole(
          store,
          life,
          Effect.gen(function* () {
            const sent: Array<Delivery> = []
            yield* push((delivery) => Effect.sync(() => void sent.push(delivery)))
            yield* Fixtures.whileTimePasses(emptied)
            return sent
          }).pipe(Effect.scoped)
        )
        for (const chat of chats) {
          assert.deepStrictEqual(
            sent.filter((delivery) => delivery.chat === chat).map(({ inDoubt, text }) => [text, inDoubt]),
            words.filter((one) => one.chat === chat).map(({ text }, index) => [`to ${text}`, index === 0])
          )
        }
        assert.strictEqual(new Set(sent.map(({ id }) => id)).size, 12)
      })
  )
})

describe("ten turns whose tools write at the same time", () => {
  it.effect("F087 are killed in the middle, and all go on in the next life at once", () =>
    Effect.gen(function* () {
      const chats = Array.from({ length: 10 }, (_, n) => `chat-${n}`)
      const all = Effect.gen(function* () {
        const troupe = yield* Troupe
        const accepted = yield* Effect.forEach(chats, (chat) => troupe.accept("go", { chat, externalId: chat }))
        return yield* Effect.forEach(accepted, troupe.outcome)
      })
      const store = yield* Lives.makeStore
      let waiting = 0
      const life: Lives.Make = (at) => ({
        scripts: ({ prompt }) =>
          prompt.content.some(({ role }) => role === "tool") ? [text("written")] : [toolCall("order", { text: "a" })],
        tools: Fixtures.tools(({ text }) => Effect.as(++waiting === 10 ? at("all write") : Effect.yieldNow, text)),
        settings: { runtime: { max_concurrent_turns: 10 } }
      })
      assert.strictEqual(yield* Lives.killedAt(store, "all write", life, all), "all write")
      // The clock stands still: nothing waits for a lock of the dead to become old.
      const outcomes = yield* Lives.whole(store, life, all)
      assert.deepStrictEqual(
        outcomes.map(({ answer }) => answer),
        chats.map(() => "written")
      )
    })
  )
})

/** A life that can be told of points which are none of its own. */
const telling = (options: TestRuntime.Options) => {
  let current: Lives.At = () => Effect.void
  const life: Lives.Make = (at) => {
    current = at
    return options
  }
  const at: Lives.At = (point) => Effect.suspend(() => current(point))
  return { life, at }
}

/** Hands in an update of the feed, with its place in it. */
const received = (externalId: string, place: number) =>
  Effect.flatMap(Conversations, (conversations) =>
    Effect.orDie(
      conversations.accept({
        thread: Threads.ThreadKey.make("feed:main"),
        channel: "feed",
        externalId,
        sender: {},
        source: "person",
        delivery: "after-turn",
        text: `${place}`,
        attachments: [],
        agent: "troupe",
        cursor: `${place}`
      })
    )
  )

/** Reads the feed to its end as a channel does: from its cursor on, which moves with the messages alone. */
const polled = (at: Lives.At) =>
  Effect.gen(function* () {
    const journal = yield* Journal
    for (;;) {
      const place = Number((yield* journal.cursor("feed")) ?? "0") + 1
      yield* at("fetched")
      if (place > 5) return
      yield* received(`update ${place}`, place)
      yield* at("on disk")
    }
  })
