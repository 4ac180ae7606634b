/**
 * The process that is watched: a real daemon with a push channel, which hands in one message after the other, and now and then,
 * when it has nothing left to do, prints a sample of itself. Started by `Soak.ts`.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import { readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import { monitorEventLoopDelay } from "node:perf_hooks"
import * as Daemon from "../../layers/daemon/Daemon.ts"
import * as Channels from "../../src/channel/Channels.ts"
import { Conversations } from "../../src/conversation/Conversations.ts"
import { DataDirectory, filesFolder } from "../../src/storage/DataDirectory.ts"
import { ThreadKey } from "../../src/thread/Threads.ts"
import * as Tool from "../../src/tool/Tool.ts"
import * as ToolRegistry from "../../src/tool/ToolRegistry.ts"
import * as TurnMetrics from "../../src/turn/TurnMetrics.ts"
import * as Protocol from "./Protocol.ts"

const work = Schema.decodeUnknownSync(Schema.fromJsonString(Protocol.Work))(process.env["SOAK_RIG"])

// ---------------------------------------------------------------------------------------------------------------------
// Fibers

let fibers = 0
const counting: Metric.FiberRuntimeMetricsService = {
  recordFiberStart: () => void fibers++,
  recordFiberEnd: () => void fibers--
}

// ---------------------------------------------------------------------------------------------------------------------
// Tools and the channel

const declare = <const Name extends "small" | "large">(name: Name) =>
  Tool.make(name, {
    description: `Gives a ${name} result.`,
    parameters: Schema.Struct({}),
    success: Schema.Struct({ text: Schema.String }),
    failure: Tool.NoFailure,
    limits: { timeout: "20 seconds", output: { maxChars: 2_000, spill: "text" } },
    cancellation: "interruptible",
    replay: "safe",
    capabilities: []
  })

const kept: Array<string> = []
let made = 0
const give = (length: number) =>
  Effect.sync(() => {
    const text = `${++made} `.padEnd(length, "0123456789abcdef ")
    if (work.leak) kept.push(text)
    return { text }
  })

const tools = ToolRegistry.layer([declare("small"), declare("large")], {
  small: () => give(100),
  large: () => give(Protocol.largeCharacters)
})

/** Who waits for the reply of a thread. */
const waiting = new Map<string, Deferred.Deferred<void>>()

const channel = Layer.effectDiscard(
  Effect.flatMap(Channels.Channels, (channels) =>
    channels.register({
      name: "soak",
      capabilities: { approval: false, formatting: ["text"], files: false },
      deliver: ({ chat }) =>
        Effect.suspend(() => {
          const reply = waiting.get(chat)
          waiting.delete(chat)
          return reply === undefined ? Effect.void : Effect.asVoid(Deferred.succeed(reply, undefined))
        })
    })
  )
).pipe(Layer.orDie)

// ---------------------------------------------------------------------------------------------------------------------
// Turns and samples

const turn = Effect.fnUntraced(function* (number: number) {
  const conversations = yield* Conversations
  const chat = String(number % work.threads)
  const kind = Protocol.kinds[(number + Math.floor(number / work.threads)) % Protocol.kinds.length]
  const reply = yield* Deferred.make<void>()
  waiting.set(chat, reply)
  yield* conversations.accept({
    thread: ThreadKey.make(`soak:${chat}`),
    channel: "soak",
    externalId: `message-${number}`,
    sender: { id: "somebody" },
    source: "person",
    delivery: "now",
    text: `${number}: ${kind}`,
    attachments: [],
    agent: "troupe"
  })
  yield* Deferred.await(reply)
})

const loop = monitorEventLoopDelay({ resolution: 10 })
loop.enable()

const sample = Effect.fnUntraced(function* (turns: number) {
  const { file } = yield* DataDirectory
  yield* Effect.repeat(Metric.value(TurnMetrics.conversations), {
    schedule: Schedule.spaced("50 millis"),
    until: ({ value }) => value === 0 || !work.passivated
  })
  const loopDelayMillis = loop.percentile(99) / 1e6
  // What finalizers let go of is collected in a second round.
  for (let round = 0; round < 2; round++) {
    yield* Effect.sync(() => globalThis.gc?.())
    yield* Effect.sleep("10 millis")
  }
  const { external, heapUsed, rss } = process.memoryUsage()
  const taken: Protocol.Sample = {
    turns,
    heapBytes: heapUsed,
    externalBytes: external,
    residentBytes: rss,
    descriptors: yield* descriptorsAtRest,
    fibers,
    timers: process.getActiveResourcesInfo().filter((name) => name === "Timeout").length,
    databaseBytes: sizeOf(file("troupe.db")),
    walBytes: sizeOf(file("troupe.db-wal")),
    spilledBytes: bytesBelow(file(filesFolder)),
    loopDelayMillis
  }
  process.stdout.write(`${JSON.stringify(taken)}\n`)
  loop.reset()
})

/** The fewest that were ever seen. */
let fewest = Number.POSITIVE_INFINITY

/** Connections to the model stay open for some seconds after their last use. They are no leak: what stays beyond that is. */
const descriptorsAtRest = Effect.sync(() => readdirSync("/proc/self/fd").length).pipe(
  Effect.tap((open) =>
    Effect.sync(() => {
      fewest = Math.min(fewest, open)
    })
  ),
  Effect.repeat({
    until: (open) => open <= fewest,
    schedule: Schedule.spaced("200 millis").pipe(Schedule.upTo({ duration: "8 seconds" }))
  })
)

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0

const bytesBelow = (path: string): number =>
  statSync(path, { throwIfNoEntry: false }) === undefined
    ? 0
    : readdirSync(path, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .reduce((sum, entry) => sum + sizeOf(join(entry.parentPath, entry.name)), 0)

const program = Effect.gen(function* () {
  const block = Math.ceil(work.turns / work.samples)
  for (let done = 0; done < work.turns; done += block) {
    const numbers = Array.from({ length: Math.min(block, work.turns - done) }, (_, index) => done + index)
    yield* Effect.forEach(numbers, turn, { concurrency: work.parallel, discard: true })
    yield* sample(done + numbers.length)
  }
}).pipe(
  Effect.provide(Daemon.layer({ terminalLog: false, port: 0, tools: Layer.merge(tools, channel) })),
  Effect.provideService(Metric.FiberRuntimeMetrics, counting)
)

NodeRuntime.runMain(program)
