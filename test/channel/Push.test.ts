/** A reply's way to a channel that is told its replies: from the end of the turn through the outbox, without waiting. */
import { assert, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as TestRuntime from "../../layers/testing/TestRuntime.ts"
import * as Channels from "../../src/channel/Channels.ts"
import type * as Outbox from "../../src/channel/Outbox.ts"
import { Outbox as OutboxService } from "../../src/channel/Outbox.ts"
import * as ScriptedModel from "../../src/testing/ScriptedModel.ts"

const post = (arrived: Deferred.Deferred<Outbox.Delivery>): Channels.Channel => ({
  name: "post",
  capabilities: { approval: false, formatting: ["text"], files: false },
  deliver: (delivery) => Effect.asVoid(Deferred.succeed(arrived, delivery))
})

const runtime = TestRuntime.layer({ scripts: () => [ScriptedModel.text("It is done.")] })

it.effect("is told at once, and the clock need not move", () =>
  Effect.gen(function* () {
    const troupe = yield* TestRuntime.TestRuntime
    const arrived = yield* Deferred.make<Outbox.Delivery>()
    yield* (yield* Channels.Channels).register(post(arrived))
    yield* troupe.say("do it", { channel: "post", chat: "42" })
    const { channel, chat, inDoubt, text } = yield* Deferred.await(arrived)
    assert.deepStrictEqual(
      { channel, chat, inDoubt, text },
      { channel: "post", chat: "42", inDoubt: false, text: "It is done." }
    )
  }).pipe(Effect.provide(runtime))
)

it.effect(
  "keeps a reply for a channel that is not there, and gives nothing to a client that reads the thread itself",
  () =>
    Effect.gen(function* () {
      const troupe = yield* TestRuntime.TestRuntime
      const outbox = yield* OutboxService
      yield* troupe.say("do it", { channel: "post" })
      yield* troupe.say("do it", { channel: "test" })
      assert.deepStrictEqual(yield* outbox.pending, [{ channel: "post", count: 1 }])
    }).pipe(Effect.provide(runtime))
)
