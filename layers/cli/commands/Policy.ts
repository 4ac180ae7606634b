import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Output } from "../../../src/cli/Output.ts"
import * as Plain from "../../../src/cli/Plain.ts"
import * as PolicyText from "../../../src/cli/PolicyText.ts"
import * as CommandLine from "../../config/CommandLine.ts"
import * as EnvironmentLive from "../../config/Environment.ts"
import * as DataDirectory from "../../storage/DataDirectory.ts"
import * as PolicyLive from "../../policy/Policy.ts"
import * as Explain from "../../policy/Explain.ts"
import * as OutputLive from "../Output.ts"
import type { Common } from "./Client.ts"

/** `troupe policy explain TOOL [ARGUMENTS]`: what the rules say of a call, action by action. Needs no daemon. */
export const explain = (common: Common, { json, ...question }: Explain.Question & { readonly json: boolean }) =>
  Effect.gen(function* () {
    const output = yield* Output
    const explanation = yield* Explain.explain(question)
    yield* output.out(json ? Plain.json(explanation) : PolicyText.explanation(explanation, output.outStyle))
  }).pipe(Effect.provide(platform(common)))

/** `troupe policy check`: the rules in force, and patterns that match no tool. Needs no daemon. */
export const check = (common: Common, { json }: { readonly json: boolean }) =>
  Effect.gen(function* () {
    const output = yield* Output
    const found = yield* Explain.check
    yield* output.out(json ? Plain.json(found) : PolicyText.rules(found, output.outStyle))
  }).pipe(Effect.provide(platform(common)))

const platform = (common: Common) =>
  PolicyLive.layer.pipe(
    Layer.provide(DataDirectory.layerExisting.pipe(Layer.provide(CommandLine.layerClient(common)))),
    Layer.provideMerge(CommandLine.layer(common)),
    Layer.provideMerge(
      OutputLive.layer(common).pipe(Layer.provideMerge(Layer.mergeAll(EnvironmentLive.layer, NodeServices.layer)))
    )
  )
