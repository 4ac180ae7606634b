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
import { KnownSecrets } from "../../src/secret/KnownSecrets.ts"
import * as Conversations from "../../src/conversation/Conversations.ts"
import * as EventBus from "../../src/event/EventBus.ts"
import * as DataDirectory from "../../src/storage/DataDirectory.ts"
import * as Threads from "../../src/thread/Threads.ts"
import * as SqlClient from "effect/sql/SqlClient"
import * as Stream from "effect/Stream"
import { median, quantile, type Measurement } from "./Report.ts"
import * as Processes from "./Processes.ts"

/** Turns before the first that counts: a daemon runs for days, and its code is compiled in the first minute. */
const warmUp = 600
const turns = 200
/** Turns of one thread, the last of which is compared with the first. */
const longThread = 60
/** Threads that are served at once, and turns of each. */
const parallel = 32
const turnsEach = 8
/** Rounds of all of them, the first of which do not count. */
const rounds = 9
const warmUpRounds = 4

export const measure = async (): Promise<ReadonlyArray<Measurement>> => {
  const { child, line } = await Processes.startScript("test/bench/InstantProvider.ts")
  const url = `http://127.0.0.1:${line}/v1`
  const result = await Effect.runPromise(Effect.provide(samples(url), layer(url)).pipe(Effect.scoped)).finally(() =>
    Processes.stop(child)
  )
  const { accepts, bare, bytesEarly, bytesLate, early, late, perSecond, turn } = result
  return [
    { name: "turn", value: median(turn), unit: "ms", note: "two model responses, one tool call, durable" },
    { name: "turn p99", value: quantile(turn, 0.99), unit: "ms" },
    { name: "bare loop", value: median(bare), unit: "ms", note: "the same two HTTP calls, nothing else" },
    { name: "turn / bare loop", value: median(turn) / median(bare), unit: "×", target: 2 },
    {
      name: `turns, ${parallel} threads`,
      value: perSecond,
      unit: "/s",
      target: 500,
      better: "higher",
      note: "at once, each turn durable"
    },
    {
      name: `turn ${longThread} / turn 1`,
      value: median(late) / median(early),
      unit: "×",
      target: 1.3,
      note: "of one thread; medians over ten turns"
    },
    {
      name: "stored per turn",
      value: bytesEarly,
      unit: "B",
      target: 3000,
      note: "rows of the log, the inbox and the turns"
    },
    {
      name: `stored, turn ${longThread} / turn 1`,
      value: bytesLate / bytesEarly,
      unit: "×",
      target: 1.05,
      note: "does not depend on how long the thread is"
    },
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
  return { turn, accepts, bare, ...(yield* growth), perSecond: yield* load }
})

/** Time and bytes of the first ten turns of a thread, and of the last ten. */
const growth = Effect.gen(function* () {
  const times: Array<number> = []
  const bytes: Array<number> = []
  for (let i = 0; i < longThread + 10; i++) {
    const before = yield* storedBytes
    times.push((yield* oneTurn(`long-${i}`, "long")).turn)
    bytes.push((yield* storedBytes) - before)
  }
  return {
    early: times.slice(0, 10),
    late: times.slice(-10),
    bytesEarly: median(bytes.slice(0, 10)),
    bytesLate: median(bytes.slice(-10))
  }
})

const storedBytes = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const lengths = yield* Effect.forEach(["thread_entries", "inbox", "turns"], (table) =>
    Effect.gen(function* () {
      const columns = yield* sql<{ readonly name: string }>`SELECT name FROM pragma_table_info(${table})`
      const length = columns.map(({ name }) => `COALESCE(LENGTH(CAST(${name} AS BLOB)), 0)`).join(" + ")
      const [row] = yield* sql.unsafe<{ readonly bytes: number }>(`SELECT SUM(${length}) AS bytes FROM ${table}`)
      return row?.bytes ?? 0
    })
  )
  return lengths.reduce((sum, one) => sum + one, 0)
})

/** Turns a second when many threads are served at once. */
const load = Effect.gen(function* () {
  const perSecond: Array<number> = []
  for (let round = 0; round < rounds; round++) perSecond.push(yield* loadRound(round))
  return median(perSecond.slice(warmUpRounds))
})

const loadRound = Effect.fnUntraced(function* (round: number) {
  const started = performance.now()
  yield* Effect.forEach(
    Array.from({ length: parallel }, (_, thread) => `load-${round}-${thread}`),
    (thread) =>
      Effect.forEach(
        Array.from({ length: turnsEach }, (_, i) => i),
        (i) => oneTurn(`${thread}-${i}`, thread),
        { discard: true }
      ),
    { concurrency: "unbounded", discard: true }
  )
  return (parallel * turnsEach * 1000) / (performance.now() - started)
})

const oneTurn = Effect.fnUntraced(function* (externalId: string, chat: string = externalId) {
  const conversations = yield* Conversations.Conversations
  const events = yield* (yield* EventBus.EventBus).subscribe
  const started = performance.now()
  const accepted = yield* conversations.accept({
    thread: Threads.ThreadKey.make(`bench:${chat}`),
    channel: "bench",
    externalId,
    sender: {},
    source: "person",
    delivery: "now",
    text: "what is 12*(3+4)?",
    attachments: [],
    agent: "troupe"
  })
  const accept = performance.now() - started
  const over = yield* events.pipe(
    Stream.filter(
      (event) => (event._tag === "TurnCompleted" || event._tag === "TurnFailed") && event.threadId === accepted.threadId
    ),
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
    Layer.provideMerge(KnownSecrets.layerSettings),
    Layer.provideMerge(
      Layer.mergeAll(
        temporaryDirectory,
        Layer.succeed(ConfigSource.ConfigSource, { _tag: "Defaults" }),
        Settings.Settings.layer({
          storage: { synchronous: "full" },
          runtime: { max_concurrent_turns: parallel },
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
