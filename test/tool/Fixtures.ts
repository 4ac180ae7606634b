/** What tests of tools stand on: a turn, a registry, and the whole pipeline over whatever settings they choose. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import * as Queue from "effect/Queue"
import type * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as ApprovalsLive from "../../layers/approval/Approvals.ts"
import * as ChannelsLive from "../../layers/channel/Channels.ts"
import * as WorkspaceLive from "../../layers/file/Workspace.ts"
import * as PatchFiles from "../../layers/patch/PatchFiles.ts"
import * as PolicyLive from "../../layers/policy/Policy.ts"
import * as SpillLive from "../../layers/spill/Spill.ts"
import * as GrantsLive from "../../layers/tool/Grants.ts"
import * as ToolCallsLive from "../../layers/tool/ToolCalls.ts"
import * as ToolRegistryLive from "../../layers/tool/ToolRegistry.ts"
import { ApprovalStore } from "../../src/approval/ApprovalStore.ts"
import { Channels } from "../../src/channel/Channels.ts"
import { Settings } from "../../src/config/Settings.ts"
import type { SettingsInput } from "../../src/config/Settings.ts"
import type * as Event from "../../src/event/Event.ts"
import { EventBus } from "../../src/event/EventBus.ts"
import * as Ids from "../../src/Ids.ts"
import { Ledger } from "../../src/ledger/Ledger.ts"
import { KnownSecrets } from "../../src/secret/KnownSecrets.ts"
import { DataDirectory } from "../../src/storage/DataDirectory.ts"
import * as Threads from "../../src/thread/Threads.ts"
import { ToolCalls } from "../../src/tool/ToolCalls.ts"
import type * as ToolCallsModule from "../../src/tool/ToolCalls.ts"
import type * as ToolContext from "../../src/tool/ToolContext.ts"

export const everything: ToolCallsModule.Policy = { allow: [], deny: [] }

/** A new turn; its channel `phone` can ask for approvals, any other cannot. */
export const makeScope = Effect.fnUntraced(function* (channel = "phone") {
  const scope: ToolContext.TurnScope = {
    ownerId: "primary",
    threadId: yield* Ids.makeThreadId,
    threadKey: Threads.ThreadKey.make(`${channel}:main`),
    channel,
    chat: "main",
    turnId: yield* Ids.makeTurnId,
    agent: "troupe",
    chainDepth: 0
  }
  return scope
})

const temporaryDataDirectory = Layer.effect(
  DataDirectory,
  Effect.gen(function* () {
    const paths = yield* Path.Path
    const path = yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped({ prefix: "troupe-tool-" })
    return DataDirectory.of({ path, file: (name) => paths.join(path, name) })
  })
)

const phone = Layer.effectDiscard(
  Channels.use((channels) =>
    channels.register({ name: "phone", capabilities: { approval: true, formatting: ["text"], files: false } })
  )
)

const files = Layer.provideMerge(Layer.merge(WorkspaceLive.grants, PatchFiles.grants), WorkspaceLive.layer)

/** The live pipeline and all below it. */
export const pipeline = (settings: SettingsInput = {}) =>
  ToolCallsLive.layer.pipe(
    Layer.provideMerge(Layer.mergeAll(ApprovalsLive.layer, PolicyLive.layer, SpillLive.layer, phone)),
    Layer.provideMerge(files),
    Layer.provideMerge(
      Layer.mergeAll(
        ToolRegistryLive.layer,
        GrantsLive.layer,
        EventBus.layer,
        ChannelsLive.layer,
        Ledger.layerMemory,
        Layer.provideMerge(KnownSecrets.layerSettings, Settings.layer(settings)),
        ApprovalStore.layerMemory,
        temporaryDataDirectory
      )
    ),
    Layer.provideMerge(NodeServices.layer)
  )

/** The tools of a new turn, on the channel. */
export const startTurn = Effect.fnUntraced(function* (policy: ToolCallsModule.Policy = everything, channel?: string) {
  return yield* (yield* ToolCalls).forTurn(yield* makeScope(channel), policy)
})

/** Runs one call as a model would make it. */
export const callTool = Effect.fnUntraced(function* (
  tools: ToolCallsModule.TurnTools,
  name: string,
  parameters: unknown,
  options: { readonly callId?: Ids.CallId; readonly parentCallId?: Ids.CallId } = {}
) {
  return yield* (yield* ToolCalls).run(tools, {
    callId: options.callId ?? (yield* Ids.makeCallId),
    ...(options.parentCallId === undefined ? {} : { parentCallId: options.parentCallId }),
    name,
    arguments: typeof parameters === "string" ? parameters : JSON.stringify(parameters)
  })
})

/** One value that a schema allows, always the same for the same seed. */
export const sample = Effect.fnUntraced(function* <S extends Schema.Constraint>(schema: S, seed: number) {
  const [value] = yield* Effect.orDie(Arbitrary.sampleEffect(Arbitrary.schema(schema), { count: 1, seed }))
  return value
})

/** Records events from now on. `all` gives those that were published before it ran, in order. */
export const recordEvents = Effect.gen(function* () {
  const bus = yield* EventBus
  const seen = yield* Queue.unbounded<Event.Event>()
  const stream = yield* bus.subscribe
  yield* Effect.forkScoped(Stream.runForEach(stream, (event) => Queue.offer(seen, event)))
  const before: Array<Event.Event> = []
  const all = Effect.gen(function* () {
    // Events come in the order of publishing: what was published before the mark is there when the mark is.
    const by = yield* Ids.makeCallId
    yield* bus.publish({ _tag: "TurnStopRequested", threadId: yield* Ids.makeThreadId, by })
    while (true) {
      const event = yield* Queue.take(seen)
      if (event._tag === "TurnStopRequested" && event.by === by) return before.slice()
      before.push(event)
    }
  })
  return { all }
})
