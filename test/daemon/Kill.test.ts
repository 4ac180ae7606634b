/** A daemon that is killed in the middle of a turn, as a real process with a real store and a provider that is slow. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Entry from "../../src/thread/Entry.ts"
import * as Program from "../cli/Program.ts"
import * as FakeOpenAi from "../model/FakeOpenAi.ts"

const callsTool = FakeOpenAi.stream(
  FakeOpenAi.delta({
    role: "assistant",
    tool_calls: [
      {
        index: 0,
        id: "call_1",
        type: "function",
        function: { name: "calculate_expression", arguments: '{"expression":"6*7"}' }
      }
    ]
  }),
  FakeOpenAi.delta({}, "tool_calls"),
  FakeOpenAi.done
)

const beginsAndHangs = FakeOpenAi.stream(FakeOpenAi.delta({ content: "It is" }), FakeOpenAi.hang)

const answers = FakeOpenAi.stream(
  FakeOpenAi.delta({ role: "assistant", content: "It is 42." }),
  FakeOpenAi.delta({}, "stop"),
  FakeOpenAi.done
)

const settings = (baseUrl: string) =>
  `[llm]\nprovider = "slow"\nmodel = "slow"\n[providers.slow]\nbase_url = "${baseUrl}"\napi_key = "none"\n`

const decodeHistory = Schema.decodeUnknownEffect(Schema.Array(Schema.fromJsonString(Entry.StoredEntry)))

/** The thread's log, once its turn is over. */
const finished = (at: Program.Place) =>
  Effect.gen(function* () {
    const { stdout } = yield* Program.run(at, ["history", "console:main", "--json"])
    const log = yield* decodeHistory(stdout.split("\n").filter((line) => line.trim() !== ""))
    const entries = log.map(({ entry }) => entry)
    return entries.some((entry) => entry._tag === "TurnEnded") ? entries : yield* Effect.fail("not yet" as const)
  }).pipe(Effect.retry({ while: (error) => error === "not yet", schedule: Schedule.spaced("100 millis") }))

const kill = (running: Program.Running) =>
  Effect.andThen(
    Effect.sync(() => running.process.kill("SIGKILL")),
    running.ended
  )

describe("a daemon killed in the middle of a turn", () => {
  it.live("finishes the turn after the restart, once, with one result for each tool call", () =>
    Effect.gen(function* () {
      const provider = yield* FakeOpenAi.make([callsTool, beginsAndHangs, answers])
      const at = yield* Program.place
      const first = yield* Program.daemon(at, settings(provider.baseUrl))
      yield* Program.start(at, ["chat", "--once", "what is 6*7?"])
      yield* provider.arrived(1)
      yield* kill(first)

      yield* Program.daemon(at, settings(provider.baseUrl))
      const entries = yield* finished(at)
      assert.deepStrictEqual(
        entries.map((entry) => entry._tag),
        ["UserMessage", "TurnStarted", "AssistantMessage", "ToolResult", "TurnResumed", "AssistantMessage", "TurnEnded"]
      )
      assert.strictEqual(provider.received.length, 3)
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.live(
    "asks the model again when it was killed in the middle of its first answer, and keeps nothing of that one",
    () =>
      Effect.gen(function* () {
        const provider = yield* FakeOpenAi.make([beginsAndHangs, answers])
        const at = yield* Program.place
        const first = yield* Program.daemon(at, settings(provider.baseUrl))
        yield* Program.start(at, ["chat", "--once", "what is 6*7?"])
        yield* provider.arrived(0)
        yield* kill(first)
        yield* Program.daemon(at, settings(provider.baseUrl))
        const entries = yield* finished(at)
        assert.deepStrictEqual(
          entries.map((entry) => entry._tag),
          ["UserMessage", "TurnStarted", "TurnResumed", "AssistantMessage", "TurnEnded"]
        )
        assert.strictEqual(
          entries.flatMap((entry) => (entry._tag === "AssistantMessage" ? [entry.text] : []))[0],
          "It is 42."
        )
      }).pipe(Effect.provide(NodeServices.layer))
  )
})
