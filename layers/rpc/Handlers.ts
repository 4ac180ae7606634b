/** What each call of the RPC interface does: it finds the thread and asks the service that knows. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as HttpServer from "effect/http/HttpServer"
import type * as Rpc from "effect/rpc/Rpc"
import type * as RpcGroup from "effect/rpc/RpcGroup"
import * as Stream from "effect/Stream"
import { Agents } from "../../src/agent/Agents.ts"
import { Approvals } from "../../src/approval/Approvals.ts"
import * as Attachment from "../../src/attachment/Attachment.ts"
import { ChannelNotFound, Channels } from "../../src/channel/Channels.ts"
import { ConfigSource } from "../../src/config/ConfigSource.ts"
import { KnownSecrets } from "../../src/secret/KnownSecrets.ts"
import { Settings } from "../../src/config/Settings.ts"
import { Conversations } from "../../src/conversation/Conversations.ts"
import * as Following from "../../src/conversation/Following.ts"
import { Held } from "../../src/conversation/Held.ts"
import type * as Journal from "../../src/conversation/Journal.ts"
import * as Ids from "../../src/Ids.ts"
import { Ledger } from "../../src/ledger/Ledger.ts"
import { Undo } from "../../src/ledger/Undo.ts"
import * as Action from "../../src/policy/Action.ts"
import { Policy } from "../../src/policy/Policy.ts"
import { Models } from "../../src/model/Models.ts"
import { Overview } from "../../src/rpc/Overview.ts"
import type { SentItem, Status, ThreadRef, ToolSummary } from "../../src/rpc/TroupeRpcs.ts"
import { Caller, TroupeRpcs } from "../../src/rpc/TroupeRpcs.ts"
import { DataDirectory } from "../../src/storage/DataDirectory.ts"
import { Incarnation } from "../../src/storage/Incarnation.ts"
import * as Threads from "../../src/thread/Threads.ts"
import type * as Tool from "../../src/tool/Tool.ts"
import { ToolRegistry } from "../../src/tool/ToolRegistry.ts"
import * as Availability from "../../src/tools/Availability.ts"
import { version } from "../cli/Version.ts"
import * as Report from "../config/Report.ts"
import * as ProcessMemory from "../observability/ProcessMemory.ts"
import * as NodeProcess from "../storage/NodeProcess.ts"
import * as ToolDefinitions from "./ToolDefinitions.ts"
import * as Address from "./Address.ts"

export const layer = TroupeRpcs.toLayer(
  Effect.gen(function* () {
    const conversations = yield* Conversations
    const threads = yield* Threads.Threads
    const channels = yield* Channels
    const registry = yield* ToolRegistry
    const approvals = yield* Approvals
    const settings = yield* Settings
    const agents = yield* Agents
    const policy = yield* Policy
    const held = yield* Held
    const ledger = yield* Ledger
    const undoing = yield* Undo
    const config = yield* ConfigSource
    const secrets = yield* KnownSecrets
    const { status } = yield* makeStatus

    const find = (ref: ThreadRef) => (isKey(ref) ? threads.byKey(ref) : threads.get(ref))
    const idOf = (ref: ThreadRef) => (isKey(ref) ? Effect.map(threads.byKey(ref), ({ id }) => id) : Effect.succeed(ref))

    /**
     * A thread of a channel whose clients read it themselves is written to under that channel's name, so that it asks for
     * approvals where its people are. Writing into another channel's thread is this interface's own doing.
     */
    const channelFor = Effect.fnUntraced(function* (key: Threads.ThreadKey) {
      const name = Threads.partsOfKey(key).channel
      const channel = yield* channels.find(name)
      if (channel === undefined) {
        const known = (yield* channels.all).map((one) => one.name).toSorted()
        return yield* new ChannelNotFound({ name, known })
      }
      return channel.deliver === undefined ? name : "rpc"
    })

    const inbound = Effect.fnUntraced(function* ({
      attachments = [],
      delivery,
      externalId,
      sender,
      text,
      thread
    }: Rpc.Payload<Rpc.ExtractTag<RpcGroup.Rpcs<typeof TroupeRpcs>, "Send">>): Effect.fn.Return<
      Journal.InboundMessage,
      ChannelNotFound | Attachment.AttachmentRefused
    > {
      return {
        thread,
        channel: yield* channelFor(thread),
        externalId: externalId ?? (yield* Ids.makeMessageId),
        sender: sender ?? { id: settings.runtime.owner_id },
        source: "person",
        delivery: delivery ?? "now",
        text,
        attachments: yield* Effect.fromResult(Attachment.judgeEncoded(attachments, Attachment.limitsOf(settings))),
        agent: agents.main.name
      }
    })

    /** Once the message is written, only its conversation can be late to hear of it; the sweep tells it then. */
    const sendAndWatch = Effect.fn("Rpc.SendAndWatch")(function* (message: Journal.InboundMessage) {
      const accepted = yield* conversations.acceptQuietly(message)
      return Stream.concat(
        Stream.succeed<SentItem>({ _tag: "Accepted", ...accepted }),
        Following.from(conversations, accepted, !accepted.duplicate)
      )
    })

    /** Whether every call of it is asked about; rules about what a call does speak only of some. */
    const needsApproval = (tool: Tool.Any) =>
      Effect.map(
        policy.judge({
          tool: tool.name,
          agent: agents.main.name,
          channel: "console",
          thread: "console:main",
          tainted: false,
          actions: [Action.call]
        }),
        ({ verdict }) => verdict.decision === "ask"
      )
    const summarise = (tool: Tool.Any) =>
      Effect.map(needsApproval(tool), (needs) =>
        summary(tool, { needsApproval: needs, keptOffBy: Availability.keptOffBy(settings, tool.name) })
      )

    return TroupeRpcs.of({
      Status: () => status,
      Send: (message) => Effect.flatMap(inbound(message), conversations.accept).pipe(Effect.withSpan("Rpc.Send")),
      SendAndWatch: (message) => Stream.unwrap(Effect.flatMap(inbound(message), sendAndWatch)),
      MessageState: ({ messageId }) => threads.receipt(messageId),
      Watch: ({ from, thread }) => Stream.unwrap(Effect.map(idOf(thread), (id) => conversations.watch(id, { from }))),
      Stop: Effect.fn("Rpc.Stop")(function* ({ thread }) {
        return yield* conversations.stop(yield* idOf(thread), (yield* Caller).name)
      }),
      Decide: Effect.fn("Rpc.Decide")(function* ({ approver, thread, ...answer }) {
        const via = (yield* Caller).name
        const given = { ...answer, approver: approver ?? settings.runtime.owner_id, via }
        return yield* conversations.decide(yield* idOf(thread), given)
      }),
      Approvals: () => approvals.waiting(),
      Grants: () => approvals.grants,
      RevokeGrant: Effect.fn("Rpc.RevokeGrant")(function* ({ grantId }) {
        return yield* approvals.revoke(grantId, (yield* Caller).name)
      }),
      Inspect: ({ thread }) => Effect.flatMap(idOf(thread), conversations.inspect),
      Threads: (page) => threads.list(page),
      Thread: ({ thread }) => find(thread),
      History: Effect.fn("Rpc.History")(function* ({ from, limit, thread }) {
        const { entries, id } = yield* find(thread)
        return yield* threads.entries(id, { from: from ?? Math.max(1, entries - limit + 1), limit })
      }),
      SideEffects: Effect.fn("Rpc.SideEffects")(function* ({ limit, thread, turnId }) {
        return yield* ledger.ofTurn(yield* idOf(thread), turnId, limit)
      }),
      Undo: Effect.fn("Rpc.Undo")(function* ({ dryRun = false, thread, turnId }) {
        return yield* undoing.undo(yield* idOf(thread), { turnId, dryRun })
      }),
      Held: () => held.list,
      Release: ({ how }) => held.release(how),
      Tools: () =>
        Effect.flatMap(registry.all, (tools) =>
          Effect.map(Effect.forEach(tools, summarise), (all) => all.toSorted(byName))
        ),
      ToolDefinitions: () =>
        Effect.flatMap(registry.all, (tools) =>
          Effect.map(
            Effect.forEach(tools, (tool) =>
              Effect.map(summarise(tool), (summarised) => ToolDefinitions.define(tool, summarised))
            ),
            (all) => all.toSorted(byName)
          )
        ),
      ShowConfig: () =>
        Report.show.pipe(
          Effect.provideService(Settings, settings),
          Effect.provideService(ConfigSource, config),
          Effect.provideService(KnownSecrets, secrets)
        )
    })
  })
)

/** Everything that stays the same is read once; the rest is counted on each call. */
const makeStatus = Effect.gen(function* () {
  const overview = yield* Overview
  const incarnation = yield* Incarnation
  const models = yield* Models
  const { llm } = yield* Settings
  const source = yield* ConfigSource
  const server = yield* HttpServer.HttpServer
  const { path } = yield* DataDirectory
  const { pid } = yield* NodeProcess.self
  const fixed = {
    version,
    pid,
    incarnation: incarnation.id,
    startedAt: incarnation.startedAt,
    configSource: source._tag === "File" ? source.path : "defaults",
    dataDirectory: path,
    url: Address.urlOf(server.address)
  }
  const model = models.default.pipe(
    Effect.map((handle) => ({ provider: handle.provider, model: handle.model })),
    Effect.orElseSucceed(() => ({ provider: llm.provider, model: `${llm.model} (unavailable)` }))
  )
  const status = Effect.gen(function* (): Effect.fn.Return<Status> {
    const now = yield* Clock.currentTimeMillis
    return {
      ...fixed,
      ...(yield* model),
      ...(yield* overview.read),
      uptimeMillis: Math.max(0, now - incarnation.startedAt),
      memoryBytes: yield* ProcessMemory.residentBytes
    }
  }).pipe(Effect.withSpan("Rpc.Status"))
  return { status }
})

const isKey = (ref: ThreadRef): ref is Threads.ThreadKey => ref.includes(":")

const summary = (tool: Tool.Any, policy: Pick<ToolSummary, "needsApproval" | "keptOffBy">): ToolSummary => ({
  name: tool.name,
  description: tool.description,
  timeout: tool.limits.timeout,
  cancellation: tool.cancellation,
  replay: tool.replay,
  capabilities: tool.capabilities.map((capability) => capability.capability),
  ...policy
})

const byName = (a: { readonly name: string }, b: { readonly name: string }): number =>
  a.name < b.name ? -1 : a.name > b.name ? 1 : 0
