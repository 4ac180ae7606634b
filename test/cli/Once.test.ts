/** `troupe chat --once` against the real server over the whole runtime, with a model that follows a script. */
import { assert, describe, it } from "@effect/vitest"
import * as AiError from "effect/ai/AiError"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as Once from "../../layers/cli/chat/Once.ts"
import type * as TestRuntime from "../../layers/testing/TestRuntime.ts"
import type { WatchItem } from "../../src/conversation/Conversations.ts"
import { Output } from "../../src/cli/Output.ts"
import { none } from "../../src/cli/Style.ts"
import * as TroupeClient from "../../src/client/TroupeClient.ts"
import * as ScriptedModel from "../../src/testing/ScriptedModel.ts"
import * as Threads from "../../src/thread/Threads.ts"
import * as Endpoint from "../openai/Endpoint.ts"

const thread = Threads.ThreadKey.make("console:main")

const session = Layer.unwrap(
  Effect.map(Endpoint.url, (url) => TroupeClient.layer({ url, token: Redacted.make(Endpoint.token), name: "tests" }))
)

/** Where there is no terminal, as in a script. */
const run = Effect.fnUntraced(function* (text: string, options: Partial<Once.Options> = {}) {
  let out = ""
  let err = ""
  const output = Output.of({
    out: (more) => Effect.sync(() => void (out += more)),
    err: (more) => Effect.sync(() => void (err += more)),
    outStyle: none,
    errStyle: none,
    inIsTerminal: false,
    outIsTerminal: false,
    errIsTerminal: false
  })
  const exit = yield* Once.once(thread, text, { json: false, timeoutSeconds: undefined, ...options }, session).pipe(
    Effect.provideService(Output, output),
    Effect.exit
  )
  return { exit, out, err }
})

const linesOf = (out: string): ReadonlyArray<any> =>
  out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line))

const asking = { tools: { approval: { require_approval: ["echo"] } } }
const callThenSay = [[ScriptedModel.toolCall("echo", { text: "x" })], [ScriptedModel.text("done")]]

const live = <E>(
  name: string,
  options: TestRuntime.Options,
  body: Effect.Effect<void, E, Layer.Success<ReturnType<typeof Endpoint.layer>>>
) => it.live(name, () => Effect.provide(body, Endpoint.layer(options)))

describe("--once", () => {
  live(
    "tells the agent that nobody could be asked, and that nobody said no",
    { scripts: callThenSay, settings: asking, tools: Endpoint.echo },
    Effect.gen(function* () {
      const { err, out } = yield* run("go")
      assert.strictEqual(out, "done\n")
      assert.include(err, "Denied, since nobody can be asked here: echo text: x")
      const result = (yield* entries).find(({ entry }) => entry._tag === "ToolResult")?.entry
      assert.strictEqual(result?._tag === "ToolResult" ? result.outcome : undefined, "denied")
      const read = result?._tag === "ToolResult" ? result.text : ""
      assert.include(read, "nobody could be asked")
      assert.include(read, "interactive session")
      assert.notInclude(read, "the person asked said no")
      assert.deepInclude(JSON.parse(read), { details: { reason: "nobody-to-ask" } })
    })
  )

  live(
    "leaves a question to the person whose turn asks it",
    {
      scripts: ({ index }) =>
        index === 0 ? [ScriptedModel.toolCall("echo", { text: "x" })] : [ScriptedModel.text(`answer ${index}`)],
      settings: asking,
      tools: Endpoint.echo
    },
    Effect.gen(function* () {
      const question = yield* personAsks("first")
      const once = yield* Effect.forkChild(run("second"))
      yield* seen(isSaid("second"))
      const client = yield* TroupeClient.TroupeClient
      const still = yield* client.Inspect({ thread })
      assert.deepStrictEqual(
        still.approvals.map(({ approvalId }) => approvalId),
        [question.approvalId]
      )
      yield* client.Decide({ thread, approvalId: question.approvalId, nonce: question.nonce, decision: "approved" })
      const { err, out } = yield* Fiber.join(once)
      assert.match(out, /^answer \d\n$/)
      assert.strictEqual(err, "")
      const results = (yield* entries).flatMap(({ entry }) => (entry._tag === "ToolResult" ? [entry.outcome] : []))
      assert.deepStrictEqual(results, ["completed"])
    }).pipe(Effect.provide(session))
  )

  live(
    "says that another model answers, also where there is no terminal",
    {
      scripts: ({ model }) =>
        model === "main"
          ? [ScriptedModel.fail(new AiError.InternalProviderError({ description: "It is down" }))]
          : [ScriptedModel.text("from the spare")],
      model: { provider: "one", model: "main", fallback: [{ provider: "two", model: "spare" }] }
    },
    Effect.gen(function* () {
      const { err, out } = yield* run("go")
      assert.strictEqual(out, "from the spare\n")
      assert.match(err, /^── two\/spare is asked from here on: .*It is down.* ──\n$/)
      const asJson = yield* run("again", { json: true })
      assert.strictEqual(asJson.err, "")
    })
  )

  live(
    "leaves another's turn alone when it is interrupted",
    {
      scripts: ({ index }) =>
        index === 0 ? [ScriptedModel.toolCall("echo", { text: "x" })] : [ScriptedModel.text(`answer ${index}`)],
      settings: asking,
      tools: Endpoint.echo
    },
    Effect.gen(function* () {
      const question = yield* personAsks("first")
      const once = yield* Effect.forkChild(run("second", { json: true }))
      yield* seen(isSaid("second"))
      yield* Fiber.interrupt(once)
      const client = yield* TroupeClient.TroupeClient
      yield* client.Decide({ thread, approvalId: question.approvalId, nonce: question.nonce, decision: "approved" })
      yield* seen(isEnd)
      const end = (yield* entries).findLast(({ entry }) => entry._tag === "TurnEnded")?.entry
      assert.strictEqual(end?._tag === "TurnEnded" ? end.state : undefined, "answered")
    }).pipe(Effect.provide(session))
  )

  live(
    "--json has everything that happens from the message on, also the first event of a turn",
    {
      scripts: ({ index }) =>
        index % 2 === 0
          ? [ScriptedModel.text("a"), ScriptedModel.toolCall("echo", { text: "x" })]
          : [ScriptedModel.text("do", "ne")],
      tools: Endpoint.echo
    },
    Effect.gen(function* () {
      for (const first of [1, 7]) {
        const { out } = yield* run("go", { json: true })
        assert.deepStrictEqual(linesOf(out).map(kindOf), [
          `${first} UserMessage`,
          `${first + 1} TurnStarted`,
          "TurnStarted",
          "TurnInputPrepared go",
          "ModelDelta a",
          `${first + 2} AssistantMessage`,
          "ToolCall started",
          ...(first === 1 ? ["TurnTainted"] : []),
          "ToolCall completed",
          `${first + 3} ToolResult`,
          "ModelDelta do",
          "ModelDelta ne",
          `${first + 4} AssistantMessage`,
          `${first + 5} TurnEnded`,
          "result answered"
        ])
      }
    })
  )
})

const kindOf = (line: any): string => {
  if (line.type === "entry") return `${line.seq} ${line.entry._tag}`
  if (line.type === "result") return `result ${line.state}`
  return [line.event._tag, line.event.phase ?? line.event.text].filter((word) => word !== undefined).join(" ")
}

const isSaid = (text: string) => (item: WatchItem) =>
  item._tag === "Entry" && item.stored.entry._tag === "UserMessage" && item.stored.entry.text === text

const isEnd = (item: WatchItem) => item._tag === "Entry" && item.stored.entry._tag === "TurnEnded"

/** Waits until the thread has it. */
const seen = (wanted: (item: WatchItem) => boolean) =>
  Effect.flatMap(TroupeClient.TroupeClient, (client) =>
    client.watch({ thread, from: 1 }).pipe(Stream.filter(wanted), Stream.take(1), Stream.runDrain)
  )

/** A person's turn that waits with a question. */
const personAsks = Effect.fnUntraced(function* (text: string) {
  const client = yield* TroupeClient.TroupeClient
  const question = yield* client.sendAndWatch({ thread, text }).pipe(
    Stream.filterMap((item) =>
      item._tag === "Live" && item.event._tag === "ApprovalRequested"
        ? Result.succeed(item.event.request)
        : Result.failVoid
    ),
    Stream.runHead
  )
  return yield* Effect.fromOption(question)
})

const entries = Effect.flatMap(Threads.Threads, (threads) =>
  Effect.flatMap(threads.byKey(thread), ({ id }) => threads.entries(id, { from: 1, limit: 100 })).pipe(
    Effect.map((page) => page.entries)
  )
)
