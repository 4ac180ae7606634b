import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Schema from "effect/Schema"
import { Approvals } from "../../src/approval/Approvals.ts"
import { Ledger } from "../../src/ledger/Ledger.ts"
import * as SecretMetrics from "../../src/secret/SecretMetrics.ts"
import * as Tool from "../../src/tool/Tool.ts"
import { ToolCalls } from "../../src/tool/ToolCalls.ts"
import * as ToolRegistry from "../../src/tool/ToolRegistry.ts"
import * as Fixtures from "./Fixtures.ts"

const canary = "zq+Canary/0123456789-never-seen"
const encoded: ReadonlyArray<string> = [
  canary,
  JSON.stringify({ canary }),
  encodeURIComponent(canary),
  Buffer.from(canary).toString("hex"),
  Buffer.from(`user:${canary}`).toString("base64"),
  Buffer.from(`x:${canary}`).toString("base64url")
]
/** What of any form of it may be found by its middle, which no neighbour changes. */
const traces = [
  canary.slice(4, 16),
  encodeURIComponent(canary).slice(4, 20),
  Buffer.from(canary).toString("hex").slice(8, 24),
  ...encoded.slice(4).map((text) => text.slice(12, 24))
]

class Failed extends Schema.TaggedError<Failed>()("Failed", { why: Schema.String, code: Schema.String }) {
  override get message() {
    return `It failed: ${this.why}`
  }
}

const declaration = {
  description: "Says something.",
  parameters: Schema.Struct({ text: Schema.String }),
  failure: Failed,
  cancellation: "interruptible",
  capabilities: []
} as const

const Say = Tool.make("say", {
  ...declaration,
  success: Schema.Struct({ said: Schema.String, list: Schema.Array(Schema.String) }),
  limits: { timeout: "1 second", output: { maxChars: 4000, spill: "said" } },
  replay: "unknown"
})

const Fail = Tool.make("fail", {
  ...declaration,
  success: Schema.Struct({ said: Schema.String }),
  limits: { timeout: "1 second", output: { maxChars: 4000 } },
  replay: "safe"
})

const tools = ToolRegistry.layer([Say, Fail], {
  say: ({ text }) => Effect.succeed({ said: text, list: encoded }),
  fail: ({ text }) => Effect.fail(new Failed({ why: text, code: "test:failed" }))
})

const setting = (more: object = {}) =>
  tools.pipe(
    Layer.provideMerge(
      Fixtures.pipeline({ providers: { acme: { base_url: "http://acme.test/v1", api_key: canary } }, ...more })
    )
  )

const assertNone = (what: unknown) => {
  const text = typeof what === "string" ? what : JSON.stringify(what)
  for (const trace of traces) assert.notInclude(text, trace)
  assert.include(text, "[redacted]")
}

describe("F057 the pipeline of tool calls", () => {
  it.effect("F057 no result holds a known secret, in any form, nor half of one at its borders", () =>
    Effect.gen(function* () {
      const turn = yield* Fixtures.startTurn()
      const result = yield* Fixtures.callTool(turn, "say", { text: `${canary.slice(9)} and ${canary.slice(0, 20)}` })
      assert.strictEqual(result.status, "success")
      assertNone(result.data)
      assertNone(result.text)
    }).pipe(Effect.provide(setting()))
  )

  it.effect("a result with a secret is counted, and one without is not", () =>
    Effect.gen(function* () {
      const count = Effect.map(Metric.value(SecretMetrics.maskedBy("say")), ({ count }) => count)
      const before = yield* count
      const turn = yield* Fixtures.startTurn()
      yield* Fixtures.callTool(turn, "say", { text: canary })
      assert.strictEqual(yield* count, before + 1)
      yield* Fixtures.callTool(turn, "fail", { text: canary })
      assert.strictEqual(yield* count, before + 1)
    }).pipe(Effect.provide(setting()))
  )

  it.effect("F057 code that calls a tool gets no secret either", () =>
    Effect.gen(function* () {
      const turn = yield* Fixtures.startTurn()
      assertNone(yield* (yield* ToolCalls).call(turn, Say, { text: canary }))
    }).pipe(Effect.provide(setting()))
  )

  it.effect("F057 no failure does, in its words or its fields, nor where its words are cut", () =>
    Effect.gen(function* () {
      const turn = yield* Fixtures.startTurn()
      const result = yield* Fixtures.callTool(turn, "fail", { text: `${"x".repeat(3980)} ${encoded.join(" ")}` })
      assert.strictEqual(result.status, "error")
      assertNone(result.text)
      assertNone(result.data)
    }).pipe(Effect.provide(setting()))
  )

  it.effect("F057 no spilled file does", () =>
    Effect.gen(function* () {
      const turn = yield* Fixtures.startTurn()
      const long = `${"words ".repeat(100)}${encoded.join(" ")} `.repeat(20)
      const result = yield* Fixtures.callTool(turn, "say", { text: long })
      const { output_file_absolute_path: path } = yield* Schema.decodeUnknownEffect(
        Schema.Struct({ output_file_absolute_path: Schema.String })
      )(result.data)
      const written = yield* (yield* FileSystem.FileSystem).readFileString(path)
      assert.isAbove(written.length, 4000)
      assertNone(written)
    }).pipe(
      Effect.provide(
        Layer.provideMerge(
          readBack,
          setting({ tools: { tool_output_spill: { spill_after_chars: 100, preview_chars: 50 } } })
        )
      )
    )
  )

  it.effect("F057 no event and no line of the ledger does, whatever the arguments hold", () =>
    Effect.gen(function* () {
      const events = yield* Fixtures.recordEvents
      const turn = yield* Fixtures.startTurn()
      // Where a line is cut short, in the middle of the secret.
      yield* Fixtures.callTool(turn, "say", { text: `${"x".repeat(85)}${canary}` })
      yield* Fixtures.callTool(turn, "fail", { text: `${"y".repeat(125)}${canary}` })
      yield* Fixtures.callTool(turn, "say", { text: canary })
      const all = yield* events.all
      assertNone(all)
      for (const event of all) assert.notInclude(JSON.stringify(event), canary.slice(0, 8))
      assertNone(yield* (yield* Ledger).ofTurn(turn.scope.threadId, turn.scope.turnId, 10))
    }).pipe(Effect.scoped, Effect.provide(setting()))
  )

  it.effect("F057 no question to a person does, also where it is cut short", () =>
    Effect.gen(function* () {
      const turn = yield* Fixtures.startTurn()
      const text = `${"x".repeat(950)}${canary}`
      const call = yield* Effect.forkChild(Fixtures.callTool(turn, "say", { text }))
      const approvals = yield* Approvals
      const waiting = yield* Effect.repeat(Effect.andThen(Effect.yieldNow, approvals.waiting(turn.scope.threadId)), {
        until: (questions) => questions.length > 0
      })
      for (const trace of [canary.slice(0, 8), ...traces]) assert.notInclude(JSON.stringify(waiting), trace)
      yield* Fiber.interrupt(call)
    }).pipe(Effect.provide(setting({ tools: { approval: { require_approval: ["say"] } } })))
  )
})

/** A tool that could read a spilled file back must be there for one to be written. */
const readBack = ToolRegistry.layer(
  [
    Tool.make("read_file", {
      ...declaration,
      success: Schema.Struct({ said: Schema.String }),
      limits: { timeout: "1 second", output: { maxChars: 4000 } },
      replay: "safe"
    })
  ],
  { read_file: () => Effect.succeed({ said: "" }) }
)
