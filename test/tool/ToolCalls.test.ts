import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import { Approvals } from "../../src/approval/Approvals.ts"
import { EventBus } from "../../src/event/EventBus.ts"
import * as Ids from "../../src/Ids.ts"
import * as Capability from "../../src/tool/Capability.ts"
import * as Registration from "../../src/tool/Registration.ts"
import * as Tool from "../../src/tool/Tool.ts"
import { ToolCalls } from "../../src/tool/ToolCalls.ts"
import { ToolCallContext } from "../../src/tool/ToolContext.ts"
import * as ToolError from "../../src/tool/ToolError.ts"
import * as ToolRegistry from "../../src/tool/ToolRegistry.ts"
import { answerTo } from "../approval/Answers.ts"
import * as Fixtures from "./Fixtures.ts"

class Refused extends Schema.TaggedError<Refused>()("Refused", { field: Schema.String }) {
  readonly code = "test:refused"
  override get message() {
    return `${this.field} was refused`
  }
}

const Echo = Tool.make("echo", {
  description: "Says it again.",
  parameters: Schema.Struct({ text: Schema.String, times: Schema.optionalKey(Schema.Int) }),
  success: Schema.Struct({ text: Schema.String }),
  failure: Refused,
  limits: { timeout: "1 second", output: { maxChars: 100 }, perTurn: 3 },
  cancellation: "interruptible",
  replay: "safe",
  capabilities: [],
  identifiedBy: ["text"]
})

const echo = ToolRegistry.layer([Echo], {
  echo: ({ text, times = 1 }) =>
    text === "no" ? Effect.fail(new Refused({ field: "text" })) : Effect.succeed({ text: text.repeat(times) })
})

const Work = Tool.make("work", {
  description: "Works until it is let go.",
  parameters: Schema.Struct({}),
  success: Schema.Struct({ done: Schema.Boolean }),
  failure: Refused,
  limits: { timeout: "10 seconds", output: { maxChars: 100 }, concurrency: 1 },
  cancellation: "interruptible",
  replay: "idempotent",
  capabilities: []
})

const Commit = Tool.make("commit", {
  description: "Commits, or does not.",
  parameters: Schema.Struct({}),
  success: Schema.Struct({ done: Schema.Boolean }),
  failure: Refused,
  limits: { timeout: "10 seconds", output: { maxChars: 100 } },
  cancellation: "atomic",
  replay: "unknown",
  capabilities: []
})

/** Tools that stop in the middle until they are let go, and say what became of them. */
const makeHeld = Effect.gen(function* () {
  const started = yield* Deferred.make<void>()
  const released = yield* Deferred.make<void>()
  const log = yield* Ref.make<ReadonlyArray<string>>([])
  const handler = Deferred.succeed(started, undefined).pipe(
    Effect.andThen(Deferred.await(released)),
    Effect.andThen(Ref.update(log, (lines) => [...lines, "finished"])),
    Effect.as({ done: true }),
    Effect.onInterrupt(() => Ref.update(log, (lines) => [...lines, "interrupted"]))
  )
  const layer = ToolRegistry.layer([Work, Commit], {
    work: () => handler,
    commit: () => Tool.atomic(handler, () => new Refused({ field: "deadline" }))
  })
  return { started, released, log, layer }
})

const phases = (events: ReadonlyArray<{ readonly _tag: string }>) =>
  events.map((event) => ("phase" in event ? String(event.phase) : event._tag))

describe("a call", () => {
  it.effect("runs to a result, with its events around it", () =>
    Effect.gen(function* () {
      const events = yield* Fixtures.recordEvents
      const tools = yield* Fixtures.startTurn()
      const result = yield* Fixtures.callTool(tools, "echo", { text: "ab", times: 2 })
      assert.deepStrictEqual(result, {
        status: "success",
        outcome: "completed",
        text: '{"text":"abab"}',
        data: { text: "abab" },
        untrusted: "`echo` text=ab"
      })
      const seen = yield* events.all
      assert.deepStrictEqual(phases(seen), ["started", "TurnTainted", "completed"])
      assert.strictEqual(seen[0]?._tag === "ToolCall" ? seen[0].detail : "", "`echo` text=ab")
    }).pipe(Effect.provide(Layer.provideMerge(echo, Fixtures.pipeline())))
  )

  it.effect("gives a declared failure its code, its words and its signature", () =>
    Effect.gen(function* () {
      const tools = yield* Fixtures.startTurn()
      const first = yield* Fixtures.callTool(tools, "echo", { text: "no" })
      const again = yield* Fixtures.callTool(tools, "echo", '{"text" : "no"}')
      assert.strictEqual(first.outcome, "failed")
      assert.strictEqual(first.errorCode, "test:refused")
      assert.deepStrictEqual(first, again)
      assert.deepInclude(first.data, {
        ok: false,
        tool: "echo",
        error_code: "test:refused",
        error: "text was refused",
        details: { field: "text" }
      })
      assert.strictEqual(first.text, JSON.stringify(first.data))
    }).pipe(Effect.provide(Layer.provideMerge(echo, Fixtures.pipeline())))
  )

  it.effect("refuses arguments it cannot read or that do not fit, without running", () =>
    Effect.gen(function* () {
      const tools = yield* Fixtures.startTurn()
      for (const written of [
        '{"text": "cut',
        "[1]",
        "{}",
        { text: 1 },
        { text: "a", extra: 1 },
        { text: "a", times: "x" }
      ]) {
        const result = yield* Fixtures.callTool(tools, "echo", written)
        assert.strictEqual(result.outcome, "invalid", JSON.stringify(written))
        assert.strictEqual(result.errorCode, "invalid_tool_arguments")
      }
      assert.strictEqual(tools.counts.get("echo"), undefined)
      assert.strictEqual((yield* Fixtures.callTool(tools, "echo", { text: "a", times: null })).outcome, "completed")
    }).pipe(Effect.provide(Layer.provideMerge(echo, Fixtures.pipeline())))
  )

  it.effect("of a tool the turn does not have says which there are", () =>
    Effect.gen(function* () {
      const tools = yield* Fixtures.startTurn()
      for (const name of ["nothing", "", "  "]) {
        const result = yield* Fixtures.callTool(tools, name, {})
        assert.strictEqual(result.errorCode, "tool:unknown")
        assert.include(result.text, "echo")
      }
      assert.include((yield* Fixtures.callTool(tools, "", {})).text, "unknown_tool")
    }).pipe(Effect.provide(Layer.provideMerge(echo, Fixtures.pipeline())))
  )

  it.effect("beyond the count of a turn is refused, and another turn starts anew", () =>
    Effect.gen(function* () {
      const tools = yield* Fixtures.startTurn()
      const call = Fixtures.callTool(tools, "echo", { text: "a" })
      const outcomes = yield* Effect.replicateEffect(call, 4)
      assert.deepStrictEqual(
        outcomes.map((result) => result.errorCode),
        [undefined, undefined, undefined, "tool:per_turn_limit"]
      )
      assert.strictEqual(
        (yield* Fixtures.callTool(yield* Fixtures.startTurn(), "echo", { text: "a" })).status,
        "success"
      )
    }).pipe(Effect.provide(Layer.provideMerge(echo, Fixtures.pipeline())))
  )

  it.effect("that dies, or interrupts itself, becomes an error that shows nothing of the cause", () =>
    Effect.gen(function* () {
      for (const handler of [Effect.die("canary"), Effect.interrupt]) {
        const layer = ToolRegistry.layer([Work], { work: () => handler })
        yield* Effect.gen(function* () {
          const result = yield* Fixtures.callTool(yield* Fixtures.startTurn(), "work", {})
          assert.strictEqual(result.outcome, "failed")
          assert.strictEqual(result.errorCode, "tool_execution_failed")
          assert.notInclude(JSON.stringify(result), "canary")
        }).pipe(Effect.provide(Layer.provideMerge(layer, Fixtures.pipeline())))
      }
    })
  )

  it.effect("has text that can be stored, whatever the tool gave", () =>
    Effect.gen(function* () {
      const tools = yield* Fixtures.startTurn()
      const result = yield* Fixtures.callTool(tools, "echo", { text: "\ud800a\u0000b" })
      assert.deepStrictEqual(result.data, { text: "\ufffdab" })
      assert.isTrue(result.text.isWellFormed())
    }).pipe(Effect.provide(Layer.provideMerge(echo, Fixtures.pipeline())))
  )
})

describe("time", () => {
  it.effect("ends an interruptible tool with a timeout", () =>
    Effect.gen(function* () {
      const held = yield* makeHeld
      yield* Effect.gen(function* () {
        const fiber = yield* Effect.forkChild(Fixtures.callTool(yield* Fixtures.startTurn(), "work", {}))
        yield* Deferred.await(held.started)
        yield* TestClock.adjust("10 seconds")
        const result = yield* Fiber.join(fiber)
        assert.strictEqual(result.outcome, "timeout")
        assert.strictEqual(result.errorCode, "tool:timeout")
        assert.deepStrictEqual(yield* Ref.get(held.log), ["interrupted"])
      }).pipe(Effect.provide(Layer.provideMerge(held.layer, Fixtures.pipeline())))
    })
  )

  it.effect("ends an atomic tool from within, with the failure it declared", () =>
    Effect.gen(function* () {
      const held = yield* makeHeld
      yield* Effect.gen(function* () {
        const fiber = yield* Effect.forkChild(Fixtures.callTool(yield* Fixtures.startTurn(), "commit", {}))
        yield* Deferred.await(held.started)
        yield* TestClock.adjust("10 seconds")
        const result = yield* Fiber.join(fiber)
        assert.strictEqual(result.errorCode, "test:refused")
        assert.include(result.text, "deadline was refused")
      }).pipe(Effect.provide(Layer.provideMerge(held.layer, Fixtures.pipeline())))
    })
  )

  it.effect("waiting for a place among the calls of all turns does not use it up", () =>
    Effect.gen(function* () {
      const held = yield* makeHeld
      yield* Effect.gen(function* () {
        const first = yield* Effect.forkChild(Fixtures.callTool(yield* Fixtures.startTurn(), "work", {}))
        yield* Deferred.await(held.started)
        const second = yield* Effect.forkChild(Fixtures.callTool(yield* Fixtures.startTurn(), "work", {}))
        yield* TestClock.adjust("9 seconds")
        yield* Deferred.succeed(held.released, undefined)
        assert.strictEqual((yield* Fiber.join(first)).outcome, "completed")
        assert.strictEqual((yield* Fiber.join(second)).outcome, "completed")
      }).pipe(Effect.provide(Layer.provideMerge(held.layer, Fixtures.pipeline())))
    })
  )

  it.effect("of one tool is used by as many calls as it allows, over all turns", () =>
    Effect.gen(function* () {
      const now = yield* Ref.make(0)
      const most = yield* Ref.make(0)
      const layer = ToolRegistry.layer([Work], {
        work: () =>
          Effect.acquireUseRelease(
            Effect.flatMap(
              Ref.updateAndGet(now, (n) => n + 1),
              (n) => Ref.update(most, (m) => Math.max(m, n))
            ),
            () => Effect.as(Effect.sleep("1 second"), { done: true }),
            () => Ref.update(now, (n) => n - 1)
          )
      })
      yield* Effect.gen(function* () {
        const calls = Effect.forEach(
          [1, 2, 3],
          () => Effect.flatMap(Fixtures.startTurn(), (tools) => Fixtures.callTool(tools, "work", {})),
          { concurrency: "unbounded" }
        )
        const fiber = yield* Effect.forkChild(calls)
        yield* TestClock.adjust("3 seconds")
        assert.lengthOf(yield* Fiber.join(fiber), 3)
        assert.strictEqual(yield* Ref.get(most), 1)
      }).pipe(Effect.provide(Layer.provideMerge(layer, Fixtures.pipeline())))
    })
  )
})

describe("cancelling", () => {
  it.effect("ends an interruptible call, which then has a result, also under a caller that cannot be interrupted", () =>
    Effect.gen(function* () {
      const held = yield* makeHeld
      yield* Effect.gen(function* () {
        const callId = yield* Ids.makeCallId
        const calls = yield* ToolCalls
        const call = Fixtures.callTool(yield* Fixtures.startTurn(), "work", {}, { callId })
        const fiber = yield* Effect.forkChild(Effect.uninterruptible(call))
        yield* Deferred.await(held.started)
        assert.isTrue(yield* calls.cancel(callId))
        const result = yield* Fiber.join(fiber)
        assert.strictEqual(result.outcome, "cancelled")
        assert.deepStrictEqual(yield* Ref.get(held.log), ["interrupted"])
        assert.isFalse(yield* calls.cancel(callId))
      }).pipe(Effect.provide(Layer.provideMerge(held.layer, Fixtures.pipeline())))
    })
  )

  it.effect("does nothing to an atomic call", () =>
    Effect.gen(function* () {
      const held = yield* makeHeld
      yield* Effect.gen(function* () {
        const callId = yield* Ids.makeCallId
        const calls = yield* ToolCalls
        const fiber = yield* Effect.forkChild(Fixtures.callTool(yield* Fixtures.startTurn(), "commit", {}, { callId }))
        yield* Deferred.await(held.started)
        assert.isFalse(yield* calls.cancel(callId))
        yield* Deferred.succeed(held.released, undefined)
        assert.strictEqual((yield* Fiber.join(fiber)).outcome, "completed")
      }).pipe(Effect.provide(Layer.provideMerge(held.layer, Fixtures.pipeline())))
    })
  )

  it.effect("the caller interrupts an interruptible tool", () =>
    Effect.gen(function* () {
      const held = yield* makeHeld
      yield* Effect.gen(function* () {
        const events = yield* Fixtures.recordEvents
        const fiber = yield* Effect.forkChild(Fixtures.callTool(yield* Fixtures.startTurn(), "work", {}))
        yield* Deferred.await(held.started)
        yield* Fiber.interrupt(fiber)
        assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(fiber)))
        assert.deepStrictEqual(yield* Ref.get(held.log), ["interrupted"])
        assert.deepStrictEqual(phases(yield* events.all), ["started", "failed"])
      }).pipe(Effect.provide(Layer.provideMerge(held.layer, Fixtures.pipeline())))
    })
  )

  it.effect("the caller waits for an atomic tool", () =>
    Effect.gen(function* () {
      const held = yield* makeHeld
      yield* Effect.gen(function* () {
        const fiber = yield* Effect.forkChild(Fixtures.callTool(yield* Fixtures.startTurn(), "commit", {}))
        yield* Deferred.await(held.started)
        const stopping = yield* Effect.forkChild(Fiber.interrupt(fiber))
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(yield* Ref.get(held.log), [])
        yield* Deferred.succeed(held.released, undefined)
        yield* Fiber.join(stopping)
        assert.deepStrictEqual(yield* Ref.get(held.log), ["finished"])
      }).pipe(Effect.provide(Layer.provideMerge(held.layer, Fixtures.pipeline())))
    })
  )
})

class Secret extends Capability.Service<Secret, { readonly word: string }>()("Secret") {}
class Other extends Capability.Service<Other, { readonly word: string }>()("Other") {}

const Peek = Tool.make("peek", {
  description: "Looks at what it has.",
  parameters: Schema.Struct({}),
  success: Schema.Struct({ word: Schema.String, other: Schema.Boolean, bus: Schema.Boolean, key: Schema.String }),
  failure: Refused,
  limits: { timeout: "1 second", output: { maxChars: 500 } },
  cancellation: "interruptible",
  replay: "safe",
  capabilities: [Secret]
})

const peek = Layer.mergeAll(
  ToolRegistry.layer([Peek], {
    peek: () =>
      Effect.gen(function* () {
        return {
          word: (yield* Secret).word,
          other: Option.isSome(yield* Effect.serviceOption(Other)),
          bus: Option.isSome(yield* Effect.serviceOption(EventBus)),
          key: (yield* ToolCallContext).idempotencyKey
        }
      })
  }),
  Layer.effectDiscard(
    Capability.Grants.use((grants) => grants.register(Secret, (turn) => Effect.succeed({ word: turn.chat })))
  ),
  Layer.effectDiscard(Capability.Grants.use((grants) => grants.register(Other, () => Effect.succeed({ word: "" }))))
)

describe("authority", () => {
  it.effect("a handler has the capabilities of its tool and nothing else of the program", () =>
    Effect.gen(function* () {
      const callId = yield* Ids.makeCallId
      const result = yield* Fixtures.callTool(yield* Fixtures.startTurn(), "peek", {}, { callId }).pipe(
        Effect.provideService(Other, { word: "leak" })
      )
      assert.deepStrictEqual(result.data, { word: "main", other: false, bus: false, key: callId })
    }).pipe(Effect.provide(Layer.provideMerge(peek, Fixtures.pipeline())))
  )

  it.effect("a tool without its capability is not offered, and refuses when its turn lost it", () =>
    Effect.gen(function* () {
      const calls = yield* ToolCalls
      const scope = yield* Fixtures.makeScope()
      const narrow = (granted: Capability.Granted) => granted.narrow(["Other"])
      assert.deepStrictEqual((yield* calls.forTurn(scope, Fixtures.everything, narrow)).offers, [])
      const tools = yield* calls.forTurn(scope, Fixtures.everything)
      const result = yield* Fixtures.callTool({ ...tools, granted: narrow(tools.granted) }, "peek", {})
      assert.strictEqual(result.errorCode, "tool:capability_not_granted")
    }).pipe(Effect.provide(Layer.provideMerge(peek, Fixtures.pipeline())))
  )

  it.effect("policy decides by patterns, and a tool that went away in between is refused", () =>
    Effect.gen(function* () {
      const names = (allow: ReadonlyArray<string>, deny: ReadonlyArray<string>) =>
        Effect.map(Fixtures.startTurn({ allow, deny }), (tools) => tools.offers.map((offer) => offer.name))
      assert.deepStrictEqual(yield* names([], []), ["peek"])
      assert.deepStrictEqual(yield* names(["p*"], []), ["peek"])
      assert.deepStrictEqual(yield* names(["q*"], []), [])
      assert.deepStrictEqual(yield* names([], ["*ee?"]), [])
      const registry = yield* ToolRegistry.ToolRegistry
      const [registration] = ToolRegistry.bindAll([Echo], { echo: ({ text }) => Effect.succeed({ text }) })
      assert.isDefined(registration)
      const tools = yield* Effect.scoped(Effect.andThen(registry.register(registration), Fixtures.startTurn()))
      assert.strictEqual((yield* Fixtures.callTool(tools, "echo", { text: "a" })).errorCode, "tool:unknown")
    }).pipe(Effect.provide(Layer.provideMerge(peek, Fixtures.pipeline())))
  )

  it.effect("a tool that a turn is no longer offered is refused", () =>
    Effect.gen(function* () {
      let on = true
      const registry = yield* ToolRegistry.ToolRegistry
      const [registration] = ToolRegistry.bindAll([Echo], { echo: ({ text }) => Effect.succeed({ text }) }, () => on)
      assert.isDefined(registration)
      yield* registry.register(registration)
      const tools = yield* Fixtures.startTurn()
      assert.strictEqual((yield* Fixtures.callTool(tools, "echo", { text: "a" })).status, "success")
      on = false
      assert.strictEqual((yield* Fixtures.callTool(tools, "echo", { text: "a" })).errorCode, "tool:unknown")
    }).pipe(Effect.provide(Fixtures.pipeline()))
  )
})

describe("approval", () => {
  const asking = { tools: { approval: { require_approval: ["echo", "commit"], timeout_seconds: 60 } } }

  const decideFirst = (decision: "approved" | "denied") =>
    Effect.gen(function* () {
      const approvals = yield* Approvals
      const tools = yield* Fixtures.startTurn()
      const events = yield* Fixtures.recordEvents
      const fiber = yield* Effect.forkChild(Fixtures.callTool(tools, "echo", { text: "a\u202eb", password: "x" }))
      const invalid = yield* Fiber.join(fiber)
      assert.strictEqual(invalid.outcome, "invalid")
      const call = yield* Effect.forkChild(Fixtures.callTool(tools, "echo", { text: "a\u202eb" }))
      yield* TestClock.adjust("1 second")
      const [question] = yield* approvals.waiting(tools.scope.threadId)
      assert.isDefined(question)
      assert.strictEqual(question.detail, "text: a\\u{202e}b")
      yield* approvals.decide(tools.scope.threadId, answerTo(question, decision))
      return { result: yield* Fiber.join(call), events, tools }
    })

  it.effect("lets an approved call through, and no question is left", () =>
    Effect.gen(function* () {
      const { events, result, tools } = yield* decideFirst("approved")
      assert.strictEqual(result.outcome, "completed")
      assert.isTrue(result.approved)
      assert.deepStrictEqual(yield* (yield* Approvals).waiting(tools.scope.threadId), [])
      assert.deepStrictEqual(phases(yield* events.all).slice(2), [
        "started",
        "ApprovalRequested",
        "ApprovalResolved",
        "TurnTainted",
        "completed"
      ])
    }).pipe(Effect.provide(Layer.provideMerge(echo, Fixtures.pipeline(asking))))
  )

  it.effect("shows a denial as a failure", () =>
    Effect.gen(function* () {
      const { events, result } = yield* decideFirst("denied")
      assert.strictEqual(result.outcome, "denied")
      assert.strictEqual(result.errorCode, "tool_approval:denied")
      assert.deepStrictEqual(phases(yield* events.all).slice(2), [
        "started",
        "ApprovalRequested",
        "ApprovalResolved",
        "failed"
      ])
    }).pipe(Effect.provide(Layer.provideMerge(echo, Fixtures.pipeline(asking))))
  )

  it.effect("is withdrawn when the call is cancelled, also before an atomic tool", () =>
    Effect.gen(function* () {
      const held = yield* makeHeld
      yield* Effect.gen(function* () {
        const calls = yield* ToolCalls
        const approvals = yield* Approvals
        const tools = yield* Fixtures.startTurn()
        const callId = yield* Ids.makeCallId
        const fiber = yield* Effect.forkChild(
          Effect.uninterruptible(Fixtures.callTool(tools, "commit", {}, { callId }))
        )
        yield* TestClock.adjust("1 second")
        assert.lengthOf(yield* approvals.waiting(tools.scope.threadId), 1)
        assert.isTrue(yield* calls.cancel(callId))
        assert.strictEqual((yield* Fiber.join(fiber)).errorCode, "tool_approval:denied")
        assert.lengthOf(yield* approvals.waiting(tools.scope.threadId), 0)
        assert.deepStrictEqual(yield* Ref.get(held.log), [])
      }).pipe(Effect.provide(Layer.provideMerge(held.layer, Fixtures.pipeline(asking))))
    })
  )
})

describe("wrappers", () => {
  const upper: Registration.Wrapper = {
    name: "upper",
    wrap: ({ parameters }, next) =>
      Effect.map(next({ ...parameters, text: "changed" }), (data) =>
        typeof data === "object" && data !== null && "text" in data && typeof data.text === "string"
          ? { text: data.text.toUpperCase() }
          : data
      )
  }
  const breaking: Registration.Wrapper = {
    name: "breaking",
    wrap: (_call, next) => Effect.as(next({ text: "a" }), [1])
  }
  const refusing: Registration.Wrapper = {
    name: "refusing",
    wrap: () => Effect.fail({ code: "guard:no", message: "not today" })
  }
  const wrap = (wrapper: Registration.Wrapper) =>
    Layer.effectDiscard(ToolRegistry.ToolRegistry.use((registry) => registry.wrap(wrapper)))
  const wrapped = (wrapper: Registration.Wrapper) =>
    Layer.mergeAll(echo, wrap(wrapper)).pipe(Layer.provideMerge(Fixtures.pipeline()))

  it.effect("may change parameters and results", () =>
    Effect.gen(function* () {
      const result = yield* Fixtures.callTool(yield* Fixtures.startTurn(), "echo", { text: "a" })
      assert.deepStrictEqual(result.data, { text: "CHANGED" })
      assert.strictEqual(result.text, '{"text":"CHANGED"}')
    }).pipe(Effect.provide(wrapped(upper)))
  )

  it.effect("cannot give a result that the tool cannot have", () =>
    Effect.gen(function* () {
      const result = yield* Fixtures.callTool(yield* Fixtures.startTurn(), "echo", { text: "a" })
      assert.strictEqual(result.errorCode, "tool:unfitting_result")
    }).pipe(Effect.provide(wrapped(breaking)))
  )

  it.effect("may refuse, with a failure of their own", () =>
    Effect.gen(function* () {
      const tools = yield* Fixtures.startTurn()
      assert.strictEqual((yield* Fixtures.callTool(tools, "echo", { text: "a" })).errorCode, "guard:no")
      const error = yield* Effect.flip((yield* ToolCalls).call(tools, Echo, { text: "a" }))
      assert.instanceOf(error, ToolError.ToolRefused)
    }).pipe(Effect.provide(wrapped(refusing)))
  )
})

describe("a call from code", () => {
  it.effect("has typed parameters, success and errors", () =>
    Effect.gen(function* () {
      const calls = yield* ToolCalls
      const tools = yield* Fixtures.startTurn()
      const parent = yield* Ids.makeCallId
      const { text } = yield* calls.call(tools, Echo, { text: "x".repeat(20_000) }, parent)
      assert.strictEqual(text.length, 20_000)
      const error = yield* Effect.flip(calls.call(tools, Echo, { text: "no" }))
      assert.instanceOf(error, Refused)
      const same: typeof Echo = { ...Echo, description: "another tool of the same name" }
      assert.instanceOf(yield* Effect.flip(calls.call(tools, same, { text: "a" })), ToolError.UnknownTool)
    }).pipe(Effect.provide(Layer.provideMerge(echo, Fixtures.pipeline())))
  )
})

describe("names", () => {
  it.effect("are trimmed, and old ones lead to today's", () =>
    Effect.gen(function* () {
      const calls = yield* ToolCalls
      assert.strictEqual(calls.canonicalName(" datetime_now "), "current_datetime")
      assert.strictEqual(calls.canonicalName("calculator"), "calculate_expression")
      assert.strictEqual(calls.canonicalName(" "), "unknown_tool")
    }).pipe(Effect.provide(Layer.provideMerge(echo, Fixtures.pipeline())))
  )
})

describe("what a restart may do with a call", () => {
  it.effect("is for its tool to say", () =>
    Effect.gen(function* () {
      const calls = yield* ToolCalls
      assert.strictEqual(yield* calls.replay({ name: " echo", arguments: "{}" }), "safe")
      assert.strictEqual(yield* calls.replay({ name: "none", arguments: "{}" }), "unknown")
    }).pipe(Effect.provide(Layer.provideMerge(echo, Fixtures.pipeline())))
  )

  it.effect("may depend on its parameters, and is the tool's own rule where these cannot be read", () => {
    const Store = Tool.make("store", {
      description: "Looks or changes.",
      parameters: Schema.Struct({ verb: Schema.optionalKey(Schema.Literals(["look", "set", "add"])) }),
      success: Schema.Struct({}),
      failure: Tool.NoFailure,
      limits: { timeout: "1 second", output: { maxChars: 100 } },
      cancellation: "interruptible",
      replay: "unknown",
      replayOf: ({ verb = "look" }) => (verb === "look" ? "safe" : verb === "set" ? "idempotent" : "unknown"),
      capabilities: []
    })
    return Effect.gen(function* () {
      const calls = yield* ToolCalls
      const replay = (given: string) => calls.replay({ name: "store", arguments: given })
      assert.strictEqual(yield* replay("{}"), "safe")
      assert.strictEqual(yield* replay('{"verb":null}'), "safe")
      assert.strictEqual(yield* replay('{"verb":"set"}'), "idempotent")
      assert.strictEqual(yield* replay('{"verb":"add"}'), "unknown")
      assert.strictEqual(yield* replay('{"verb":"peek"}'), "unknown")
      assert.strictEqual(yield* replay('{"verb":"look","more":1}'), "unknown")
      assert.strictEqual(yield* replay("look!"), "unknown")
    }).pipe(
      Effect.provide(
        Layer.provideMerge(ToolRegistry.layer([Store], { store: () => Effect.succeed({}) }), Fixtures.pipeline())
      )
    )
  })
})
