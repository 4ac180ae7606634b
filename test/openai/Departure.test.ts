/** What clients hear when the daemon is stopped while they wait: their answer, if it comes in the grace, or why there is none. */
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Layer from "effect/Layer"
import type * as TestRuntime from "../../layers/testing/TestRuntime.ts"
import * as ScriptedModel from "../../src/testing/ScriptedModel.ts"
import * as Endpoint from "./Endpoint.ts"

const { chat, content, respond, user } = Endpoint

/** A daemon that the test stops, in the way in which the program is stopped: by interrupting what it runs in. */
const daemon = Effect.fnUntraced(function* (options: TestRuntime.Options) {
  const ready = yield* Deferred.make<Context.Context<Layer.Success<ReturnType<typeof Endpoint.layer>>>>()
  const running = yield* Effect.forkDetach(
    Effect.contextWith((context: Context.Context<Layer.Success<ReturnType<typeof Endpoint.layer>>>) =>
      Effect.andThen(Deferred.succeed(ready, context), Effect.never)
    ).pipe(Effect.provide(Endpoint.layer(options)))
  )
  yield* Effect.addFinalizer(() => Fiber.interrupt(running))
  const context = yield* Deferred.await(ready)
  const model = Context.get(context, ScriptedModel.ScriptedModel)
  return {
    begun: model.awaitRequests,
    ask: <A, E>(request: Effect.Effect<A, E, Layer.Success<ReturnType<typeof Endpoint.layer>>>) =>
      Effect.forkChild(Effect.provideContext(request, context)),
    ended: Fiber.await(running),
    stop: Effect.sync(() => running.interruptUnsafe()),
    /** Back when new requests are refused. */
    refuses: Effect.gen(function* () {
      const refused = yield* Effect.repeat(Effect.provideContext(chat([user("late")]), context), {
        until: ({ status }) => status !== 200
      })
      assert.strictEqual(refused.status, 503)
      assert.strictEqual(refused.json.error.code, "going_away")
    })
  }
})

const kinds = {
  "a chat completion": () => chat([user("go")]),
  "a response": () => respond({ input: "go" }),
  "a chat completion that streams": () => chat([user("go")], { stream: true }),
  "a response that streams": () => respond({ input: "go", stream: true })
}

describe("a daemon that is stopped", () => {
  for (const [name, request] of Object.entries(kinds)) {
    it.live(`still gives ${name} its answer`, () =>
      Effect.gen(function* () {
        const gate = yield* Deferred.make<void>()
        const { ask, begun, ended, refuses, stop } = yield* daemon({
          scripts: ({ index }) =>
            index === 0 ? [ScriptedModel.text("first "), ScriptedModel.gate(gate), ScriptedModel.text("last")] : [],
          settings: { runtime: { shutdown_grace_seconds: 20 } }
        })
        const asked = yield* ask(request())
        yield* begun(1)
        yield* stop
        yield* refuses
        yield* Deferred.succeed(gate, undefined)
        const answer = yield* Fiber.join(asked)
        assert.strictEqual(answer.status, 200, answer.body)
        assert.match(answer.body, /last/)
        if (name.includes("streams")) assert.match(answer.body, /\[DONE\]|response\.completed/)
        if (name === "a chat completion") assert.strictEqual(content(answer), "first last")
        yield* ended
      }).pipe(Effect.scoped)
    )

    it.live(`tells ${name} at the end of the grace that it goes away`, () =>
      Effect.gen(function* () {
        const { ask, begun, ended, stop } = yield* daemon({
          scripts: [[ScriptedModel.text("first "), ScriptedModel.never]],
          settings: { runtime: { shutdown_grace_seconds: 1 } }
        })
        const asked = yield* ask(request())
        yield* begun(1)
        yield* stop
        const answer = yield* Fiber.join(asked)
        const words = "The daemon is going away. What was accepted is kept and will be answered."
        assert.include(answer.body, words)
        if (name.includes("streams")) {
          assert.strictEqual(answer.status, 200)
          assert.isTrue(answer.body.endsWith("\r\n0\r\n\r\n"), "the end of a whole body")
          const last = answer.body.slice(answer.body.lastIndexOf("data: "))
          assert.match(last, name.includes("response") ? /"type":"response\.failed"/ : /^data: \{"error":\{"message"/)
          assert.include(last, "going_away")
        } else {
          assert.strictEqual(answer.status, 503)
          assert.strictEqual(answer.header("x-should-retry"), "true")
          assert.deepStrictEqual(answer.json, {
            error: { message: words, type: "server_error", param: null, code: "going_away" }
          })
        }
        yield* ended
      }).pipe(Effect.scoped)
    )
  }

  it.live("tells those whose turn has not begun at once", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const { ask, begun, ended, refuses, stop } = yield* daemon({
        scripts: [[ScriptedModel.gate(gate), ScriptedModel.text("done")]],
        settings: { runtime: { shutdown_grace_seconds: 20, max_concurrent_turns: 1 } }
      })
      const first = yield* ask(chat([user("one")]))
      yield* begun(1)
      const second = yield* ask(chat([user("two")]))
      yield* stop
      yield* refuses
      assert.strictEqual((yield* Fiber.join(second)).json.error.code, "going_away")
      yield* Deferred.succeed(gate, undefined)
      assert.strictEqual(content(yield* Fiber.join(first)), "done")
      yield* ended
    }).pipe(Effect.scoped)
  )
})
