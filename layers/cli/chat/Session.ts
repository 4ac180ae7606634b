/** What a chat talks to: the daemon that runs, or one of its own. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import { TroupeClient } from "../../../src/client/TroupeClient.ts"
import type { DataDirectory } from "../../../src/storage/DataDirectory.ts"
import * as CommandLine from "../../config/CommandLine.ts"
import * as AccessTokenLive from "../../rpc/AccessToken.ts"
import * as DataDirectoryLive from "../../storage/DataDirectory.ts"
import * as Connection from "../Connection.ts"

export class Session extends Context.Service<
  Session,
  { /** Whether the daemon ends with the chat. */ readonly embedded: boolean }
>()("troupe/cli/Session") {}

export const layer = (place: CommandLine.Place) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const found = yield* runningClient(place)
      if (Option.isSome(found)) return session(false, Layer.succeed(TroupeClient, found.value))
      const { layer: embedded } = yield* Effect.promise(() => import("../../daemon/Embedded.ts"))
      // Two consoles may start at once; the second finds the daemon of the first.
      return session(true, embedded(place)).pipe(
        Layer.catchTag("DataDirectoryInUse", (inUse) =>
          Layer.unwrap(
            Effect.gen(function* () {
              const other = yield* Effect.repeat(runningClient(place), { until: Option.isSome, schedule: patience })
              return yield* Option.match(other, {
                onNone: () => Effect.fail(inUse),
                onSome: (client) => Effect.succeed(session(false, Layer.succeed(TroupeClient, client)))
              })
            })
          )
        )
      )
    })
  )

/** A daemon that has just taken the directory needs a moment until it can be asked. */
const patience = Schedule.spaced("100 millis").pipe(Schedule.upTo({ times: 100 }))

const session = <E, R>(embedded: boolean, client: Layer.Layer<TroupeClient, E, R>) =>
  Layer.merge(Layer.succeed(Session, { embedded }), client)

const runningClient = Effect.fnUntraced(function* (place: CommandLine.Place) {
  const surroundings = yield* Layer.build(
    DataDirectoryLive.layerExisting.pipe(Layer.provideMerge(CommandLine.layerClient(place)))
  )
  return yield* Effect.gen(function* () {
    const endpoint = yield* Connection.running
    if (Option.isNone(endpoint)) return Option.none<TroupeClient["Service"]>()
    const url = Effect.provideContext(
      Connection.address,
      yield* Effect.context<DataDirectory | FileSystem.FileSystem>()
    )
    const client = yield* Layer.build(
      Connection.clientLayer({ url }, "layer").pipe(Layer.provide(AccessTokenLive.layerExisting))
    )
    return Option.some(Context.get(client, TroupeClient))
  }).pipe(Effect.provideContext(surroundings))
})
