import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { CommandFailed, exitCodes } from "../../../src/cli/CommandFailed.ts"
import { Output } from "../../../src/cli/Output.ts"
import * as Plain from "../../../src/cli/Plain.ts"
import * as PolicyText from "../../../src/cli/PolicyText.ts"
import * as CommandLine from "../../config/CommandLine.ts"
import * as DataDirectory from "../../storage/DataDirectory.ts"
import * as PolicyLive from "../../policy/Policy.ts"
import * as Simulate from "../../policy/Simulate.ts"
import * as Client from "./Client.ts"
import * as Recorded from "./Recorded.ts"

/**
 * `troupe policy simulate`: which of the recorded calls the rules would decide in another way. The daemon has the record, the settings
 * file has the rules. Ends with 1 when there are some.
 */
export const run = (common: Client.Common, flags: { readonly since: string; readonly json: boolean }) =>
  Effect.gen(function* () {
    const output = yield* Output
    const since = (yield* Clock.currentTimeMillis) - (yield* Recorded.millisOf(flags.since))
    const simulation = yield* Simulate.make(since)
    yield* Recorded.each(since, ({ agent, key }) => simulation.thread(key, agent))
    const found = simulation.result()
    yield* output.out(flags.json ? Plain.json(found) : PolicyText.simulation(found, output.outStyle))
    if (found.changed > 0) return yield* new CommandFailed({ code: exitCodes.failed, text: "" })
  }).pipe(Client.reachable, Effect.provide(Layer.provideMerge(policy(common), Client.layer(common))))

const policy = (common: Client.Common) =>
  PolicyLive.layer.pipe(
    Layer.provide(DataDirectory.layerExisting.pipe(Layer.provide(CommandLine.layerClient(common)))),
    Layer.provide(CommandLine.layer(common))
  )
