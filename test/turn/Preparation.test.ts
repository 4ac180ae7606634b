/** A turn whose preparation breaks: whatever it is that does it, it is counted, and ends. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import type * as TestRuntime from "../../layers/testing/TestRuntime.ts"
import { TestRuntime as Troupe } from "../../layers/testing/TestRuntime.ts"
import { Agents } from "../../src/agent/Agents.ts"
import { Channels } from "../../src/channel/Channels.ts"
import { EventBus } from "../../src/event/EventBus.ts"
import { Models } from "../../src/model/Models.ts"
import { text } from "../../src/testing/ScriptedModel.ts"
import { Threads } from "../../src/thread/Threads.ts"
import { ToolCalls } from "../../src/tool/ToolCalls.ts"
import * as Lives from "../conversation/Lives.ts"

/** What is asked for while a turn is prepared, each with something that happens first. */
const services = (at: Lives.At) => {
  const before =
    <Args extends ReadonlyArray<unknown>, A, E, R>(name: string, ask: (...args: Args) => Effect.Effect<A, E, R>) =>
    (...args: Args) =>
      Effect.andThen(at(name), ask(...args))
  return Layer.effectContext(
    Effect.gen(function* () {
      const agents = yield* Agents
      const files = yield* FileSystem.FileSystem
      const threads = yield* Threads
      const toolCalls = yield* ToolCalls
      const models = yield* Models
      const events = yield* EventBus
      return Context.make(Agents, { ...agents, get: before("agent", agents.get) }).pipe(
        Context.add(FileSystem.FileSystem, {
          ...files,
          stat: (path) =>
            Effect.andThen(path.includes("/channels/") ? at("prompt file") : Effect.void, files.stat(path))
        }),
        Context.add(Threads, {
          ...threads,
          // A watcher reads smaller pages than a turn.
          entries: (id, page) => Effect.andThen(page.limit >= 500 ? at("log") : Effect.void, threads.entries(id, page))
        }),
        Context.add(ToolCalls, { ...toolCalls, forTurn: before("tools", toolCalls.forTurn) }),
        Context.add(Models, { ...models, get: before("model", models.get) }),
        Context.add(EventBus, {
          ...events,
          publish: (event) =>
            Effect.andThen(event._tag === "TurnStarted" ? at("announcement") : Effect.void, events.publish(event))
        })
      )
    })
  ).pipe(Layer.provide(NodeServices.layer))
}

const points = ["log", "agent", "tools", "prompt file", "announcement", "model"]

const make =
  (settings: TestRuntime.Options["settings"] = {}): Lives.Make =>
  (at) => ({ scripts: () => [text("fine")], over: services(at), settings })

const say = (message: string) => Troupe.use((troupe) => troupe.say(message, { externalId: message }))

describe("a message whose preparation ends the process", () => {
  for (const point of points) {
    it.effect(`by the ${point} is parked, and the thread goes on`, () =>
      Effect.gen(function* () {
        const store = yield* Lives.makeStore
        for (let life = 1; life <= 3; life++) {
          assert.strictEqual(yield* Lives.killedAt(store, point, make(), say("poison")), point)
        }
        const parked = yield* Lives.whole(store, make(), say("poison"))
        assert.strictEqual(parked.state, "failed")
        assert.strictEqual(parked.failure?.code, "turn:parked")
        assert.include(parked.answer, "parked")
        assert.strictEqual((yield* Lives.whole(store, make(), say("and now?"))).answer, "fine")
      })
    )
  }

  it.effect("is parked after as many lives as configured", () =>
    Effect.gen(function* () {
      const store = yield* Lives.makeStore
      const once = make({ runtime: { turn_crash_limit: 1 } })
      assert.isDefined(yield* Lives.killedAt(store, "prompt file", once, say("poison")))
      assert.strictEqual((yield* Lives.whole(store, once, say("poison"))).failure?.code, "turn:parked")
    })
  )

  it.effect(
    "even by every attempt to park it, because its log is what does it, is parked without a look at the log",
    () =>
      Effect.gen(function* () {
        const store = yield* Lives.makeStore
        for (let life = 1; life <= 4; life++) {
          assert.strictEqual(yield* Lives.killedAt(store, "log", make(), say("poison")), "log")
        }
        let outcome: readonly [string, string | undefined] | undefined
        const receipt = Effect.gen(function* () {
          const { messageId } = yield* (yield* Troupe).accept("poison", { externalId: "poison" })
          const threads = yield* Threads
          const completed = yield* Effect.repeat(
            Effect.andThen(Effect.yieldNow, Effect.orDie(threads.receipt(messageId))),
            { until: ({ endedAt }) => endedAt !== null, times: 10_000 }
          )
          outcome = [completed.state, completed.failure?.code]
        })
        // The log is as deadly as ever, and nobody looks at it.
        assert.isUndefined(yield* Lives.killedAt(store, "log", make(), receipt))
        assert.deepStrictEqual(outcome, ["failed", "turn:parked"])
      })
  )
})

describe("a message whose preparation has a defect", () => {
  for (const point of points.slice(1)) {
    it.effect(`in the ${point} fails, and the next one is served`, () =>
      Effect.gen(function* () {
        let broken = true
        const at: Lives.At = (name) => (broken && name === point ? Effect.die("a secret detail") : Effect.void)
        const store = yield* Lives.makeStore
        const life = (): TestRuntime.Options => make()(at)
        const [failed, fine] = yield* Lives.whole(
          store,
          life,
          Effect.gen(function* () {
            const first = yield* say("poison")
            broken = false
            return [first, yield* say("and now?")] as const
          })
        )
        assert.strictEqual(failed.state, "failed")
        assert.strictEqual(failed.failure?.code, "turn:defect")
        assert.notInclude(failed.answer, "secret")
        assert.strictEqual(fine.answer, "fine")
      })
    )
  }

  it.effect(
    "in the channels too, so that not even its end can be prepared, fails all the same, and the log says why",
    () => {
      const lines: Array<string> = []
      const logger = Logger.layer([
        Logger.make(({ cause, message }) => void lines.push(`${String(message)} ${Cause.pretty(cause)}`))
      ])
      return Effect.gen(function* () {
        const over = Layer.effect(
          Channels,
          Effect.map(Channels, (channels) => ({ ...channels, find: () => Effect.die("the channels broke") }))
        )
        const store = yield* Lives.makeStore
        const at: Lives.At = (name) => (name === "prompt file" ? Effect.die("a secret detail") : Effect.void)
        const life = (): TestRuntime.Options => ({ scripts: [], over: Layer.merge(services(at), over) })
        const failed = yield* Lives.whole(store, life, say("poison"))
        assert.strictEqual(failed.failure?.code, "turn:defect")
        assert.isTrue(lines.some((line) => line.includes("channel test") && line.includes("the channels broke")))
      }).pipe(Effect.provide(logger))
    }
  )
})
