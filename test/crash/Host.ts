/**
 * A daemon that is made to end: the real one, with tools whose effects are seen outside, a push channel with a feed, and crash
 * points. Started by `Lives.ts`; the world it talks to is `World.ts`.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Tracer from "effect/Tracer"
import * as Daemon from "../../layers/daemon/Daemon.ts"
import * as NodeSqlite from "../../layers/storage/NodeSqlite.ts"
import * as Channels from "../../src/channel/Channels.ts"
import { Conversations } from "../../src/conversation/Conversations.ts"
import { Journal } from "../../src/conversation/Journal.ts"
import { ThreadKey } from "../../src/thread/Threads.ts"
import * as Tool from "../../src/tool/Tool.ts"
import { ToolCallContext } from "../../src/tool/ToolContext.ts"
import * as ToolRegistry from "../../src/tool/ToolRegistry.ts"
import * as Points from "./Points.ts"
import * as Protocol from "./Protocol.ts"

/** What `Lives.ts` says in the environment. */
const Told = Schema.Struct({
  world: Schema.String,
  armed: Schema.optionalKey(
    Schema.Struct({
      point: Schema.String,
      pass: Schema.Int,
      how: Schema.Literals(["SIGKILL", "SIGTERM", "SIGSTOP"])
    })
  )
})
const told = Schema.decodeUnknownSync(Schema.fromJsonString(Told))(process.env["CRASH_RIG"])
const { pass, report } = Points.recorder(told.armed)
const at = (point: string) => Effect.sync(() => pass(point))

// ---------------------------------------------------------------------------------------------------------------------
// The outside world

const post = (path: string, body: unknown) =>
  Effect.promise((signal) =>
    fetch(`${told.world}${path}`, { method: "POST", body: JSON.stringify(body), signal }).then((response) =>
      response.text()
    )
  )

const decodeFeed = Schema.decodeUnknownEffect(Schema.fromJsonString(Protocol.Feed))

const readFeed = (after: string) =>
  Effect.promise((signal) => fetch(`${told.world}/feed?after=${after}`, { signal }).then((response) => response.text()))

// ---------------------------------------------------------------------------------------------------------------------
// Tools, one for each thing that a restart may do

const declare = <const Name extends Protocol.ToolName>(name: Name, replay: Tool.Replay) =>
  Tool.make(name, {
    description: `Does ${name} outside.`,
    parameters: Schema.Struct({ tag: Schema.String }),
    success: Schema.Struct({ done: Schema.String }),
    failure: Tool.NoFailure,
    limits: { timeout: "20 seconds", output: { maxChars: 200 } },
    cancellation: "interruptible",
    replay,
    capabilities: []
  })

const effect =
  (tool: Protocol.ToolName) =>
  ({ tag }: { readonly tag: string }) =>
    Effect.gen(function* () {
      const { callId, idempotencyKey } = yield* ToolCallContext
      yield* at("tool before its effect")
      yield* post("/effect", { tool, callId, key: idempotencyKey, tag } satisfies Protocol.Effected)
      yield* at("tool after its effect")
      return { done: tag }
    })

const tools = ToolRegistry.layer(
  [declare("look", "safe"), declare("put", "idempotent"), declare("fire", "unknown"), declare("careful", "unknown")],
  { look: effect("look"), put: effect("put"), fire: effect("fire"), careful: effect("careful") }
)

// ---------------------------------------------------------------------------------------------------------------------
// The push channel

const channel = Layer.effectDiscard(
  Effect.flatMap(Channels.Channels, (channels) =>
    channels.register({
      name: "outside",
      capabilities: { approval: true, formatting: ["text"], files: false },
      deliver: ({ id, inDoubt, text, threadId }) =>
        at("delivery before").pipe(
          Effect.andThen(post("/deliver", { id, threadId, text, inDoubt } satisfies Protocol.Delivered)),
          Effect.andThen(at("delivery after"))
        )
    })
  )
).pipe(Layer.orDie)

/** Hands the feed in from where the last accepted message left it. */
const follow = Effect.gen(function* () {
  const conversations = yield* Conversations
  const journal = yield* Journal
  let cursor = (yield* journal.cursor("outside")) ?? "0"
  const look = Effect.gen(function* () {
    for (const item of yield* decodeFeed(yield* readFeed(cursor))) {
      yield* at("feed before accept")
      yield* conversations.accept({
        thread: ThreadKey.make(`outside:${item.chat}`),
        channel: "outside",
        externalId: item.tag,
        sender: { id: "somebody" },
        source: "person",
        delivery: item.delivery,
        text: item.text,
        attachments: [],
        agent: "troupe",
        cursor: String(item.number)
      })
      yield* at("feed after accept")
      cursor = String(item.number)
    }
  })
  yield* Effect.repeat(look, Schedule.spaced("50 millis"))
})

// ---------------------------------------------------------------------------------------------------------------------
// Crash points

const tracer = Tracer.make({
  span(options) {
    const points = Points.ofSpan(options.name)
    if (points === undefined) return new Tracer.NativeSpan(options)
    pass(points.begin)
    return new PointSpan(options, points.end)
  }
})

class PointSpan extends Tracer.NativeSpan {
  readonly #point: string
  constructor(options: ConstructorParameters<typeof Tracer.NativeSpan>[0], point: string) {
    super(options)
    this.#point = point
  }
  override end(...args: Parameters<Tracer.NativeSpan["end"]>): void {
    super.end(...args)
    pass(this.#point)
  }
}

const beforeStatements = (sql: string) => {
  const point = Points.ofStatement(sql)
  if (point !== undefined) pass(point)
  return undefined
}

const program = Effect.gen(function* () {
  yield* Effect.sync(() => process.stdout.write("ready\n"))
  yield* follow
}).pipe(
  Effect.provide(
    Layer.provideMerge(
      Daemon.layer({ terminalLog: false, tools: Layer.merge(tools, channel) }),
      Layer.merge(Layer.succeed(Tracer.Tracer, tracer), Layer.succeed(NodeSqlite.Faults, beforeStatements))
    )
  ),
  Effect.ensuring(Effect.sync(report))
)

NodeRuntime.runMain(program)
