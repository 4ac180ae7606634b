/**
 * A turn with one tool call against a provider that answers at once, with every journal point on disk (synchronous = full),
 * compared with a bare loop that makes the same two HTTP calls and computes the same number.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import * as Models from "../../layers/model/Models.ts"
import * as Runtime from "../../layers/runtime/Runtime.ts"
import * as Database from "../../layers/storage/Database.ts"
import * as Tools from "../../layers/tools/Tools.ts"
import * as Channels from "../../src/channel/Channels.ts"
import * as ConfigSource from "../../src/config/ConfigSource.ts"
import * as Settings from "../../src/config/Settings.ts"
import * as Conversations from "../../src/conversation/Conversations.ts"
import * as EventBus from "../../src/event/EventBus.ts"
import * as DataDirectory from "../../src/storage/DataDirectory.ts"
import * as Threads from "../../src/thread/Threads.ts"
import * as Stream from "effect/Stream"
import { median, quantile, type Measurement } from "./Report.ts"
import * as Processes from "./Processes.ts"

const warmUp = 30
const turns = 200

export const measure = async (): Promise<ReadonlyArray<Measurement>> => {
  const { child, line } = await Processes.startScript("test/bench/InstantProvider.ts")
  const url = `http://127.0.0.1:${line}/v1`
  const result = await Effect.runPromise(Effect.provide(samples(url), layer(url)).pipe(Effect.scoped)).finally(() =>
    Processes.stop(child)
  )
  const { accepts, bare, turn } = result
  return [
    { name: "turn", value: median(turn), unit: "ms", note: "two model responses, one tool call, durable" },
    { name: "turn p99", value: quantile(turn, 0.99), unit: "ms" },
    { name: "bare loop", value: median(bare), unit: "ms", note: "the same two HTTP calls, nothing else" },
    { name: "turn / bare loop", value: median(turn) / median(bare), unit: "×" },
    { name: "turn overhead", value: median(turn) - median(bare), unit: "ms" },
    { name: "accept", value: median(accepts), unit: "ms", note: "until the message is on disk" },
    { name: "accept p99", value: quantile(accepts, 0.99), unit: "ms" }
  ]
}

const samples = Effect.fnUntraced(function* (url: string) {
  const turn: Array<number> = []
  const accepts: Array<number> = []
  const bare: Array<number> = []
  for (let i = 0; i < warmUp + turns; i++) {
    const one = yield* oneTurn(`bench-${i}`)
    const alone = yield* Effect.promise(() => bareLoop(url))
    if (i < warmUp) continue
    turn.push(one.turn)
    accepts.push(one.accept)
    bare.push(alone)
  }
  return { turn, accepts, bare }
})

const oneTurn = Effect.fnUntraced(function* (chat: string) {
  const conversations = yield* Conversations.Conversations
  const events = yield* (yield* EventBus.EventBus).subscribe
  const started = performance.now()
  const accepted = yield* conversations.accept({
    thread: Threads.ThreadKey.make(`bench:${chat}`),
    channel: "bench",
    externalId: chat,
    sender: {},
    source: "person",
    delivery: "now",
    text: "what is 12*(3+4)?",
    attachments: [],
    agent: "troupe"
  })
  const accept = performance.now() - started
  const over = yield* events.pipe(
    Stream.filter((event) => event._tag === "TurnCompleted" || event._tag === "TurnFailed"),
    Stream.runHead
  )
  const took = performance.now() - started
  if (over._tag === "None" || over.value._tag !== "TurnCompleted" || over.value.threadId !== accepted.threadId) {
    return yield* Effect.die(`the benchmark's turn did not answer: ${JSON.stringify(over)}`)
  }
  return { accept, turn: took }
}, Effect.scoped)

const layer = (url: string) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      yield* (yield* Channels.Channels).register({
        name: "bench",
        capabilities: { approval: false, formatting: ["text"], files: false }
      })
    })
  ).pipe(
    Layer.provideMerge(Runtime.conversations),
    Layer.provideMerge(Tools.layer),
    Layer.provideMerge(Runtime.agents),
    Layer.provideMerge(Layer.mergeAll(Runtime.repositories, Runtime.registries, Models.layer)),
    Layer.provideMerge(Database.layer),
    Layer.provideMerge(
      Layer.mergeAll(
        temporaryDirectory,
        Layer.succeed(ConfigSource.ConfigSource, { _tag: "Defaults" }),
        Settings.Settings.layer({
          storage: { synchronous: "full" },
          llm: { provider: "bench", model: "bench" },
          providers: { bench: { base_url: url, api_key: "none" } }
        })
      )
    ),
    Layer.provideMerge(NodeServices.layer)
  )

const temporaryDirectory = Layer.effect(
  DataDirectory.DataDirectory,
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const paths = yield* Path.Path
    const path = yield* files.makeTempDirectoryScoped({ prefix: "troupe-bench-" })
    return { path, file: (name: string) => paths.join(path, name) }
  })
)

/** What one would write without a runtime: ask, read the call off the stream, compute, ask again. Nothing is kept. */
const bareLoop = async (url: string): Promise<number> => {
  const started = performance.now()
  const user = { role: "user", content: "what is 12*(3+4)?" }
  const first = await ask(url, [user])
  const call = first.calls[0]
  if (call === undefined) throw new Error("the provider made no call")
  const second = await ask(url, [
    user,
    { role: "assistant", tool_calls: [{ id: "call_1", type: "function", function: call }] },
    { role: "tool", tool_call_id: "call_1", content: String(12 * (3 + 4)) }
  ])
  if (second.text !== "It is 84.") throw new Error(`the provider said ${second.text}`)
  return performance.now() - started
}

const ask = async (url: string, messages: ReadonlyArray<unknown>) => {
  const response = await fetch(`${url}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "bench", stream: true, messages })
  })
  let text = ""
  const calls: Array<{ readonly name: string; readonly arguments: string }> = []
  for (const line of (await response.text()).split("\n")) {
    if (!line.startsWith("data: {")) continue
    const delta = JSON.parse(line.slice(6)).choices[0]?.delta
    text += delta?.content ?? ""
    for (const call of delta?.tool_calls ?? []) calls.push(call.function)
  }
  return { text, calls }
}
