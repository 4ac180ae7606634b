/** What the commands that ask the running daemon have in common. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { unavailable, usage } from "../../../src/cli/CommandFailed.ts"
import { ThreadKey } from "../../../src/thread/Threads.ts"
import * as CommandLine from "../../config/CommandLine.ts"
import * as EnvironmentLive from "../../config/Environment.ts"
import * as Connection from "../Connection.ts"
import * as OutputLive from "../Output.ts"

/** What every command is given before its own flags. */
export interface Common extends CommandLine.Place {
  readonly colour: boolean
}

/** The platform, the output, and a client of the running daemon. */
export const layer = (common: Common) =>
  Layer.merge(OutputLive.layer(common), Connection.layer(common)).pipe(
    Layer.provideMerge(Layer.mergeAll(EnvironmentLive.layer, NodeServices.layer))
  )

/** A daemon that cannot be reached is one kind of failure, whatever broke on the way. */
export const reachable = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.mapError(effect, (error) =>
    Connection.isRpcClientError(error) ? unavailable(Connection.explain(error)) : error
  )

/** A thread as a person names it: `main` is `console:main`. */
export const threadKey = (name: string) =>
  Effect.mapError(ThreadKey.makeEffect(name.includes(":") ? name : `console:${name}`), () =>
    usage(
      `${JSON.stringify(name)} is no name of a thread. A name is like main, or console:main: no spaces, up to 200 characters.`
    )
  )
