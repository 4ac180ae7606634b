/** The page about watching the process names what there is to see, and no more. */
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Tracer from "effect/Tracer"
import { globSync, readFileSync } from "node:fs"
import * as TestRuntime from "../../layers/testing/TestRuntime.ts"
import { Channels } from "../../src/channel/Channels.ts"
import * as ScriptedModel from "../../src/testing/ScriptedModel.ts"
import * as Tool from "../../src/tool/Tool.ts"
import * as ToolRegistry from "../../src/tool/ToolRegistry.ts"
import { pages } from "./Pages.ts"

const { TestRuntime: Troupe } = TestRuntime

const page = pages.find(({ path }) => path === "docs/observability.md")?.text ?? ""

const part = (heading: string): string => page.split(`\n## ${heading}\n`)[1]?.split("\n## ")[0] ?? ""

const sorted = (names: Iterable<string>): ReadonlyArray<string> => [...new Set(names)].toSorted()

describe("docs/observability.md", () => {
  it("names the metrics that are declared", () => {
    const declared = globSync("src/**/*Metrics.ts").flatMap((path) =>
      [...readFileSync(path, "utf8").matchAll(/Metric\.\w+\(\s*"(\w+)"/g)].map(([, name]) => name ?? "")
    )
    const named = [...part("The metrics").matchAll(/`(troupe_\w+)`/g)].map(([, name]) => name ?? "")
    assert.isAbove(named.length, 20)
    assert.deepStrictEqual(sorted(named), sorted(declared))
    const elsewhere = globSync(["src/**/*.ts", "layers/**/*.ts"])
      .filter((path) => !path.endsWith("Metrics.ts"))
      .filter((path) => /Metric\.(counter|gauge|histogram|summary|frequency)\(/.test(readFileSync(path, "utf8")))
    assert.deepStrictEqual(elsewhere, [])
  })

  it.effect("names spans that there are, and they hold no words of messages and arguments", () => {
    const spans: Array<Tracer.NativeSpan> = []
    const tracer = Tracer.make({
      span: (options) => {
        const span = new Tracer.NativeSpan(options)
        spans.push(span)
        return span
      }
    })
    return Effect.gen(function* () {
      const troupe = yield* Troupe
      yield* (yield* Channels).register({
        name: "post",
        capabilities: { approval: false, formatting: ["text"], files: false },
        deliver: () => Effect.void
      })
      for (const text of [`a word-of-message ${"and so on ".repeat(100)}`, "another word-of-message"]) {
        yield* troupe.say(text, { channel: "post" })
      }
      const named = [...part("The spans").matchAll(/`([A-Z]?[a-zA-Z]+\.[a-zA-Z]+)`/g)].map(([, name]) => name ?? "")
      assert.isAbove(named.length, 8)
      const seen = sorted(spans.map(({ name }) => name))
      for (const name of named) assert.include(seen, name)
      for (const { attributes, events, name, status } of spans) {
        // A collector is told of an exit only how it failed.
        const failure = status._tag === "Ended" && Exit.isFailure(status.exit) ? Cause.pretty(status.exit.cause) : ""
        const told = JSON.stringify([name, [...attributes], events, failure], (_, value: unknown) =>
          typeof value === "bigint" || value instanceof Error ? String(value) : value
        )
        assert.notMatch(told, /word-of/, name)
      }
    }).pipe(
      Effect.provide(runtime.pipe(Layer.provide(Layer.succeed(Tracer.Tracer, tracer)))),
      Effect.provideService(Tracer.Tracer, tracer)
    )
  })
})

const Look = Tool.make("look", {
  description: "Looks, and sees nothing.",
  parameters: Schema.Struct({ at: Schema.String }),
  success: Schema.Struct({ text: Schema.String }),
  failure: Schema.Struct({ code: Schema.String, message: Schema.String }),
  limits: { timeout: "1 second", output: { maxChars: 100 } },
  cancellation: "interruptible",
  replay: "safe",
  capabilities: []
})

const answers = (said: string, tokens: number) => [
  ScriptedModel.text(said),
  ScriptedModel.finish("stop", { input: tokens, output: 1 })
]

/** Asks for a tool twice, which fails the first time, and comes to the limit of its history. */
const runtime = TestRuntime.layer({
  settings: { memory: { max_history_tokens: 500 } },
  scripts: [
    [ScriptedModel.toolCall("look", { at: "word-of-argument fails" })],
    [ScriptedModel.toolCall("look", { at: "word-of-argument" }), ScriptedModel.toolCall("look", "word-of-no-json")],
    answers("word-of-answer", 1000),
    answers("word-of-summary", 10),
    answers("word-of-answer", 10)
  ],
  tools: ToolRegistry.layer([Look], {
    look: ({ at }) =>
      at.endsWith("fails")
        ? Effect.fail({ code: "look:failed", message: "word-of-failure" })
        : Effect.succeed({ text: "word-of-result" })
  })
})
