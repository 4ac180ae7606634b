/**
 * The whole runtime for tests: real conversations, turns, tools and tables, over a store in memory and a model that follows
 * a script. Runs on the test clock.
 *
 * ```ts
 * it.effect("greets", () => Effect.gen(function* () {
 *   const troupe = yield* TestRuntime
 *   assert.strictEqual((yield* troupe.say("hello")).answer, "hi")
 * }).pipe(Effect.provide(TestRuntime.layer({ scripts: [[ScriptedModel.text("hi")]] }))))
 * ```
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import * as Stream from "effect/Stream"
import type * as Scope from "effect/Scope"
import * as Attachment from "../../src/attachment/Attachment.ts"
import * as Channels from "../../src/channel/Channels.ts"
import * as Settings from "../../src/config/Settings.ts"
import * as Conversations from "../../src/conversation/Conversations.ts"
import * as Journal from "../../src/conversation/Journal.ts"
import type * as Ids from "../../src/Ids.ts"
import type { Models } from "../../src/model/Models.ts"
import { KnownSecrets } from "../../src/secret/KnownSecrets.ts"
import * as DataDirectory from "../../src/storage/DataDirectory.ts"
import * as ScriptedModel from "../../src/testing/ScriptedModel.ts"
import type * as Entry from "../../src/thread/Entry.ts"
import * as Threads from "../../src/thread/Threads.ts"
import type * as ToolRegistry from "../../src/tool/ToolRegistry.ts"
import * as Runtime from "../runtime/Runtime.ts"
import * as Database from "../storage/Database.ts"

export interface Options {
  /** What the model answers, request by request, or a function of the request. */
  readonly scripts: ScriptedModel.Scripts
  readonly model?: ScriptedModel.Options
  readonly settings?: Settings.SettingsInput
  /**
   * Tools, of which there are none otherwise: `ToolRegistry.layer([...], {...})`, several merged with `Layer.mergeAll`, and
   * what else must be registered before a turn begins, such as the grants of their capabilities.
   */
  readonly tools?: Layer.Layer<never, ToolRegistry.RegisterError, Below>
  /** Services that stand in for those of the same name that the conversations use, to see or to disturb what they do. */
  readonly over?: Layer.Layer<never, never, Below>
  /** Put around the journal, to see or to disturb what is written. */
  readonly journal?: (journal: Journal.Journal["Service"]) => Journal.Journal["Service"]
}

/** How a message ended. */
export interface Outcome {
  readonly threadId: Ids.ThreadId
  readonly state: Threads.MessageState
  /** The text of the last answer of its turn, or of the notice that stands in for it. */
  readonly answer: string
  readonly failure: Entry.Failure | null
  /** The thread from its beginning to the end of the message's turn. */
  readonly entries: ReadonlyArray<Entry.Entry>
}

export class TestRuntime extends Context.Service<
  TestRuntime,
  {
    /** Hands a message in. Threads are named by their chat: `say("hi", { chat: "other" })`. */
    readonly accept: (text: string, options?: MessageOptions) => Effect.Effect<Journal.Accepted>
    /** Waits until the message has its outcome. */
    readonly outcome: (message: Journal.Accepted) => Effect.Effect<Outcome>
    /** Hands a message in and waits for its outcome. */
    readonly say: (text: string, options?: MessageOptions) => Effect.Effect<Outcome>
  }
>()("troupe/testing/TestRuntime") {}

export interface MessageOptions {
  readonly chat?: string
  readonly channel?: string
  readonly externalId?: string
  readonly delivery?: Entry.Delivery
  readonly source?: Entry.Source
  /** Files that come with it, as `[attachments]` lets them pass. */
  readonly attachments?: ReadonlyArray<Attachment.Given>
}

/** The services that are there before the conversations begin. */
export type Below =
  | Layer.Success<typeof Runtime.agents>
  | Layer.Success<typeof Runtime.repositories>
  | Layer.Success<typeof Runtime.registries>
  | ScriptedModel.ScriptedModel
  | Models
  | Settings.Settings
  | KnownSecrets
  | DataDirectory.DataDirectory
  | Database.Services

/** The services that a test may ask for besides `TestRuntime`. */
export type Services = TestRuntime | Layer.Success<typeof Runtime.conversations> | Below

/** A runtime of its own for each use of the layer. `store` is given to run two lives of a process on one store. */
export const layer = (options: Options, store: Layer.Layer<Database.Services> = Database.layerMemory) =>
  Layer.effect(TestRuntime, make).pipe(
    Layer.provideMerge(Runtime.conversations),
    Layer.provide(options.tools ?? Layer.empty),
    Layer.provide(testChannel),
    Layer.provideMerge(options.over ?? Layer.empty),
    Layer.provideMerge(Runtime.agents),
    Layer.provideMerge(
      Layer.mergeAll(repositories(options), Runtime.registries, ScriptedModel.layer(options.scripts, options.model))
    ),
    Layer.provideMerge(Layer.mergeAll(store, KnownSecrets.layerSettings, temporaryDirectory)),
    Layer.provideMerge(Layer.orDie(Settings.Settings.layer(options.settings ?? {}))),
    Layer.provideMerge(NodeServices.layer),
    Layer.orDie
  )

const repositories = ({ journal }: Options) =>
  journal === undefined
    ? Runtime.repositories
    : Layer.provideMerge(Layer.effect(Journal.Journal, Effect.map(Journal.Journal, journal)), Runtime.repositories)

const make = Effect.gen(function* () {
  const conversations = yield* Conversations.Conversations
  const threads = yield* Threads.Threads
  const limits = Attachment.limitsOf(yield* Settings.Settings)
  let messages = 0

  const accept = Effect.fnUntraced(function* (text: string, options: MessageOptions = {}) {
    const channel = options.channel ?? "test"
    return yield* conversations.accept({
      thread: Threads.ThreadKey.make(`${channel}:${options.chat ?? "main"}`),
      channel,
      externalId: options.externalId ?? `message-${++messages}`,
      sender: { id: "tester" },
      source: options.source ?? "person",
      delivery: options.delivery ?? "now",
      text,
      attachments: yield* Effect.fromResult(Attachment.judge(options.attachments ?? [], limits)),
      agent: "troupe"
    })
  }, Effect.orDie)

  const outcome = Effect.fnUntraced(function* (message: Journal.Accepted) {
    const { messageId, threadId } = message
    let turnId: Ids.TurnId | undefined
    const entries: Array<Entry.Entry> = []
    yield* conversations.watch(threadId, { from: 1 }).pipe(
      Stream.filter((item) => item._tag === "Entry"),
      Stream.takeUntil(({ stored: { entry } }) => {
        entries.push(entry)
        if ((entry._tag === "TurnStarted" || entry._tag === "MessagesFolded") && entry.messageIds.includes(messageId)) {
          turnId = entry.turnId
        }
        return entry._tag === "TurnEnded" && entry.turnId === turnId
      }),
      Stream.runDrain,
      Effect.orDie
    )
    const { failure, state } = yield* Effect.orDie(threads.receipt(messageId))
    return { threadId, state, failure, entries, answer: answerOf(entries, turnId) }
  })

  return TestRuntime.of({
    accept,
    outcome,
    say: (text, options) => Effect.flatMap(accept(text, options), outcome)
  })
})

/** A pull channel that can ask a person. It outlives the turns, which look whether it is there. */
const testChannel = Layer.effectDiscard(
  Channels.Channels.use((channels) =>
    Effect.orDie(
      channels.register({
        name: "test",
        capabilities: { approval: true, formatting: ["text", "markdown", "html"], files: true }
      })
    )
  )
)

const temporaryDirectory: Layer.Layer<DataDirectory.DataDirectory, never, FileSystem.FileSystem | Path.Path> =
  Layer.effect(
    DataDirectory.DataDirectory,
    Effect.gen(function* (): Effect.fn.Return<
      DataDirectory.DataDirectory["Service"],
      never,
      FileSystem.FileSystem | Path.Path | Scope.Scope
    > {
      const files = yield* FileSystem.FileSystem
      const paths = yield* Path.Path
      const path = yield* Effect.orDie(files.makeTempDirectoryScoped({ prefix: "troupe-test-" }))
      return { path, file: (name) => paths.join(path, name) }
    })
  )

const answerOf = (entries: ReadonlyArray<Entry.Entry>, turnId: Ids.TurnId | undefined): string => {
  const last = entries.findLast(
    (entry) => (entry._tag === "AssistantMessage" || entry._tag === "Notice") && entry.turnId === turnId
  )
  return last?._tag === "AssistantMessage" || last?._tag === "Notice" ? last.text : ""
}
