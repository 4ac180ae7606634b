import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Dns from "effect/net/Dns"
import * as NetAddress from "effect/net/NetAddress"
import type * as Redacted from "effect/Redacted"
import { Settings } from "../../src/config/Settings.ts"
import type { SettingsInput } from "../../src/config/Settings.ts"
import * as Outbound from "../../src/http/Outbound.ts"
import { KnownSecrets } from "../../src/secret/KnownSecrets.ts"
import * as Live from "../../layers/http/Outbound.ts"

export interface World {
  readonly outbound?: SettingsInput["outbound"]
  readonly secrets?: ReadonlyArray<Redacted.Redacted>
  /** The addresses of a name: those of the n-th time it is looked up, the last ones from then on. */
  readonly names?: Readonly<Record<string, ReadonlyArray<ReadonlyArray<string>>>>
  /** Each name that is looked up. */
  readonly looked?: (name: string) => void
}

/** The way out as it runs, with names of the test's choice. Without `outbound`, the settings that apply by default. */
export const layer = ({ looked, names = {}, outbound = {}, secrets = [] }: World = {}) =>
  Live.layer.pipe(
    Layer.provide(Layer.mergeAll(Settings.layer({ outbound }), KnownSecrets.layer(secrets), resolver(names, looked)))
  )

const resolver = (names: NonNullable<World["names"]>, looked: (name: string) => void = () => {}) =>
  Layer.sync(Dns.Dns, () => {
    const times = new Map<string, number>()
    return Dns.make({
      lookup: (name) =>
        Effect.sync(() => {
          looked(name)
          const time = times.get(name) ?? 0
          times.set(name, time + 1)
          const answers = names[name] ?? []
          return (answers[time] ?? answers.at(-1) ?? []).map((one) => NetAddress.ipFromStringUnsafe(one))
        }),
      resolve: () => Effect.succeed([]),
      reverse: () => Effect.succeed([])
    })
  })

export const limits: Outbound.Limits = {
  connect: Duration.seconds(20),
  idle: Duration.seconds(5),
  total: Duration.seconds(60),
  body: 10_000_000
}

export type Asked = Partial<Outbound.Request> & { readonly url: string }

const send = (request: Asked) =>
  Outbound.Outbound.use((outbound) => outbound.send({ method: "GET", limits, ...request }))

/** The response with its body as text. */
export const ask = (request: Asked) =>
  Effect.scoped(
    Effect.gen(function* () {
      const response = yield* send(request)
      const { bytes, truncated } = yield* Outbound.readUpTo(response, 20_000_000)
      return { ...response, text: new TextDecoder().decode(bytes), truncated }
    })
  )

/** The error of a request that is to fail, in its head or its body. */
export const failing = (request: Asked) => Effect.flip(ask(request))

/** Everything on loopback may be reached. */
export const open: World = { outbound: { allow_private: true } }
