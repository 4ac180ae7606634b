/** A program with the runtime inside: it hands in one message, waits for the answer and prints it. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { Channels, Conversations, KnownSecrets, Settings, Threads } from "troupe"
import { Database, DataDirectory, Environment, Runtime } from "troupe/layers"
import * as OwnModel from "./OwnModel.ts"
import * as StockTool from "./StockTool.ts"

/** What stands in `config.toml` for the daemon is written in code here, and checked by the same schema. */
const settings = Settings.Settings.layer({
  llm: { provider: "shop", model: "shelf-reader" },
  providers: { shop: { api_format: "custom" } },
  orchestration: { main_agent: { name: "shopkeeper" } },
  runtime: { agent_timeout_seconds: "30 seconds" }
})

/** Where messages come from. Without `deliver` it is a pull channel: whoever asked reads the thread. */
const counter = Layer.effectDiscard(
  Effect.gen(function* () {
    const channels = yield* Channels.Channels
    yield* channels.register({
      name: "counter",
      capabilities: { approval: false, formatting: ["text"], files: false }
    })
  })
)

/** The runtime, from the conversations down to the platform: each layer stands on those below it. */
const runtime = Runtime.conversations.pipe(
  Layer.provide([StockTool.layer, counter]),
  Layer.provideMerge(Runtime.agents),
  Layer.provideMerge(Layer.mergeAll(Runtime.repositories, Runtime.registries, OwnModel.layer)),
  Layer.provideMerge(Database.layer),
  Layer.provideMerge(DataDirectory.layerLocked),
  Layer.provideMerge(KnownSecrets.KnownSecrets.layerSettings),
  Layer.provideMerge(Layer.mergeAll(settings, Environment.layer, NodeServices.layer))
)

const ask = Effect.fnUntraced(function* (text: string) {
  const conversations = yield* Conversations.Conversations
  const accepted = yield* conversations.accept({
    thread: Threads.ThreadKey.make("counter:till-1"),
    channel: "counter",
    externalId: "question-1", // the channel's own id: the same one is accepted once
    sender: { name: "Ada" },
    source: "person",
    delivery: "now",
    text,
    attachments: [],
    agent: "shopkeeper"
  })
  yield* Console.log(accepted.duplicate ? "Asked before; the answer is on disk." : "Accepted: it is on disk.")
  const entries = yield* conversations.watch(accepted.threadId, { from: accepted.seq }).pipe(
    Stream.flatMap((item) => (item._tag === "Entry" ? Stream.succeed(item.stored.entry) : Stream.empty)),
    Stream.takeUntil((entry) => entry._tag === "TurnEnded"),
    Stream.runCollect
  )
  const answer = entries.findLast((entry) => entry._tag === "AssistantMessage" || entry._tag === "Notice")
  return answer?.text ?? ""
})

const program = Effect.gen(function* () {
  yield* Console.log(yield* ask("How many are there of the teapot?"))
})

NodeRuntime.runMain(Effect.provide(program, runtime))
