/** What of a turn waits for the disk: whatever somebody outside learns or feels of it, and nothing else. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as Database from "../../layers/storage/Database.ts"
import * as TestRuntime from "../../layers/testing/TestRuntime.ts"
import * as Settings from "../../src/config/Settings.ts"
import * as EventBus from "../../src/event/EventBus.ts"
import * as DataDirectory from "../../src/storage/DataDirectory.ts"
import * as ScriptedModel from "../../src/testing/ScriptedModel.ts"
import * as HeldFlushes from "../rigs/HeldFlushes.ts"
import * as Fixtures from "./Fixtures.ts"

const directory = Layer.effect(
  DataDirectory.DataDirectory,
  Effect.gen(function* () {
    const path = yield* Effect.orDie((yield* FileSystem.FileSystem).makeTempDirectoryScoped())
    return { path, file: (name: string) => `${path}/${name}` }
  })
)

const store = HeldFlushes.over(
  Database.layer.pipe(
    Layer.provide(Layer.mergeAll(directory, Settings.Settings.layer({ storage: { synchronous: "full" } }))),
    Layer.provide(NodeServices.layer),
    Layer.orDie
  )
)

/** What became of a turn that calls the tool once. */
interface Turn {
  readonly calls: Array<string>
  readonly askedAgain: Deferred.Deferred<void>
}

/** A runtime over a file whose flushes are held from the first request to the model on. */
const runtime = (tool: "look" | "pay", { askedAgain, calls }: Turn) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const context = yield* Layer.build(store)
      const disk = Context.get(context, HeldFlushes.Disk)
      const scripts = ({ prompt }: ScriptedModel.Request): ScriptedModel.Script => {
        if (prompt.content.at(-1)?.role === "tool") {
          Deferred.doneUnsafe(askedAgain, Effect.void)
          return [ScriptedModel.text("done")]
        }
        disk.hold()
        return [ScriptedModel.toolCall(tool, { text: "once" })]
      }
      const tools = Fixtures.tools(({ text }) =>
        Effect.sync(() => {
          calls.push(text)
          return text
        })
      )
      return TestRuntime.layer({ scripts, tools }, Layer.succeedContext(context)).pipe(
        Layer.provideMerge(Layer.succeedContext(context))
      )
    })
  )

const turn = Effect.map(Deferred.make<void>(), (askedAgain): Turn => ({ calls: [], askedAgain }))

/** Time enough for everything that waits for nothing. */
const aWhile = Effect.repeat(Effect.yieldNow, { times: 500 })

describe("while the disk takes its time", () => {
  it.live("a call that does something outside waits until the log on the disk has it", () =>
    Effect.gen(function* () {
      const { askedAgain, calls } = yield* turn
      yield* Effect.gen(function* () {
        const troupe = yield* TestRuntime.TestRuntime
        const disk = yield* HeldFlushes.Disk
        const sent = yield* troupe.accept("pay")
        const ended = yield* Effect.forkChild(troupe.outcome(sent))
        const { letGo } = yield* disk.held
        yield* aWhile
        assert.deepStrictEqual(calls, [])
        disk.release()
        letGo()
        assert.strictEqual((yield* Fiber.join(ended)).answer, "done")
        assert.deepStrictEqual(calls, ["once"])
      }).pipe(Effect.provide(runtime("pay", { askedAgain, calls })))
    })
  )

  it.live("a turn goes on with what is its own, and nobody is told of its answer", () =>
    Effect.gen(function* () {
      const { askedAgain, calls } = yield* turn
      yield* Effect.gen(function* () {
        const troupe = yield* TestRuntime.TestRuntime
        const disk = yield* HeldFlushes.Disk
        const told: Array<string> = []
        const events = yield* (yield* EventBus.EventBus).subscribe
        yield* Effect.forkChild(Stream.runForEach(events, ({ _tag }) => Effect.sync(() => void told.push(_tag))))
        const sent = yield* troupe.accept("look")
        const ended = yield* Effect.forkChild(troupe.outcome(sent))
        const { letGo } = yield* disk.held
        // Asked again, with the result of the call, while not even the call is on the disk.
        yield* Deferred.await(askedAgain)
        assert.deepStrictEqual(calls, ["once"])
        yield* aWhile
        assert.notInclude(told, "TurnCompleted")
        assert.isUndefined(ended.pollUnsafe())
        disk.release()
        letGo()
        assert.strictEqual((yield* Fiber.join(ended)).answer, "done")
        assert.include(told, "TurnCompleted")
      }).pipe(Effect.scoped, Effect.provide(runtime("look", { askedAgain, calls })))
    })
  )
})
