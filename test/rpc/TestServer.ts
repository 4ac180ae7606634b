/** The real server on a free port of loopback, over conversations in memory. */
import * as Effect from "effect/Effect"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as ChannelsLive from "../../layers/channel/Channels.ts"
import * as TurnSlots from "../../layers/conversation/TurnSlots.ts"
import * as Address from "../../layers/rpc/Address.ts"
import * as Server from "../../layers/rpc/Server.ts"
import { Agents } from "../../src/agent/Agents.ts"
import { Approvals } from "../../src/approval/Approvals.ts"
import { Channels } from "../../src/channel/Channels.ts"
import * as TroupeClient from "../../src/client/TroupeClient.ts"
import { ConfigSource } from "../../src/config/ConfigSource.ts"
import type { SettingsInput } from "../../src/config/Settings.ts"
import { Settings } from "../../src/config/Settings.ts"
import { Held } from "../../src/conversation/Held.ts"
import * as Ids from "../../src/Ids.ts"
import { Ledger } from "../../src/ledger/Ledger.ts"
import { Undo } from "../../src/ledger/Undo.ts"
import { ModelUnavailable } from "../../src/model/ModelError.ts"
import { Policy } from "../../src/policy/Policy.ts"
import { Models } from "../../src/model/Models.ts"
import { Requests } from "../../src/openai/Requests.ts"
import { KnownSecrets } from "../../src/secret/KnownSecrets.ts"
import { AccessToken } from "../../src/rpc/AccessToken.ts"
import { Overview } from "../../src/rpc/Overview.ts"
import { DataDirectory } from "../../src/storage/DataDirectory.ts"
import type { Failing } from "../../src/storage/StorageHealth.ts"
import { Incarnation } from "../../src/storage/Incarnation.ts"
import { ToolRegistry } from "../../src/tool/ToolRegistry.ts"
import * as FakeConversations from "./FakeConversations.ts"

export const token = Redacted.make("a-token-for-tests-0123456789")

/** The server; its `HttpServer` tells the address. */
export const layer = (
  options: { readonly settings?: SettingsInput; readonly port?: number; readonly token?: Redacted.Redacted } = {}
) =>
  Server.layer.pipe(
    Layer.provideMerge(Server.layerListening({ port: options.port ?? 0 })),
    Layer.provide(surroundings),
    Layer.provide(Layer.succeed(AccessToken, { token: options.token ?? token })),
    Layer.provide(KnownSecrets.layer()),
    Layer.provide(TurnSlots.layer),
    Layer.provideMerge(Settings.layer(options.settings ?? {}))
  )

/** The same with its conversations inside. */
export const layerWithStage = (options: { readonly settings?: SettingsInput; readonly port?: number } = {}) =>
  layer(options).pipe(Layer.provideMerge(FakeConversations.layer))

export const url = Effect.map(HttpServer.HttpServer, ({ address }) => Address.urlOf(address))

/** A client of the server in the context. */
export const client = (kind: Kind) =>
  Layer.unwrap(Effect.map(url, (address) => clientOf(kind, { url: address, token, name: "tests" })))

export type Kind = "WebSocket" | "HTTP"

export const clientOf = (kind: Kind, options: TroupeClient.Options) =>
  kind === "WebSocket" ? TroupeClient.layer(options) : TroupeClient.layerHttp(options)

/** What goes wrong in counting the figures. */
let countingFails: string | null = null
export const setCountingFails = (why: string | null) => {
  countingFails = why
}

/** What a slower counting of the figures would say. */
let oldestOwed: number | null = null
export const setOldestOwed = (millis: number | null) => {
  oldestOwed = millis
}

let storageFailing: Failing | null = null
export const setStorageFailing = (failing: Failing | null) => {
  storageFailing = failing
}

const figures = () => ({
  threads: 1,
  activeConversations: 0,
  runningTurns: 0,
  waitingApprovals: 0,
  oldestOwedMillis: oldestOwed,
  undelivered: [],
  storageFailing,
  held: { threads: 0, replies: 0 }
})

const agent = { name: "troupe", prompt: "", tools: { allow: [], deny: [] } }

const surroundings = Layer.mergeAll(
  Layer.succeed(ConfigSource, { _tag: "Defaults" }),
  Layer.succeed(Agents, {
    all: [agent],
    get: () => Effect.succeed(agent),
    main: agent
  }),
  Layer.succeed(Models, {
    get: () => Effect.die("not asked here"),
    default: Effect.fail(new ModelUnavailable({ provider: "none", reason: "missing-key", remedy: "" })),
    available: []
  }),
  Layer.mock(Held, {}),
  Layer.mock(Ledger, {}),
  Layer.mock(Undo, {}),
  Layer.mock(ToolRegistry, { all: Effect.succeed([]) }),
  Layer.mock(Approvals, {}),
  Layer.mock(Policy, {}),
  Layer.mock(Requests, {}),
  Layer.succeed(Overview, {
    read: Effect.suspend(() =>
      countingFails === null ? Effect.succeed(figures()) : Effect.die(new Error(countingFails))
    )
  }),
  Layer.effect(
    Incarnation,
    Effect.map(Ids.makeIncarnationId, (id) => ({ id, startedAt: 1 }))
  ),
  Layer.succeed(DataDirectory, { path: "/data", file: (name) => `/data/${name}` }),
  Layer.effectDiscard(
    Effect.gen(function* () {
      const channels = yield* Channels
      const capabilities = { approval: true, formatting: ["text"], files: false } as const
      yield* channels.register({ name: "telegram", capabilities, deliver: () => Effect.void })
      yield* channels.register({ name: "console", capabilities })
    })
  ).pipe(Layer.provideMerge(ChannelsLive.layer))
)
