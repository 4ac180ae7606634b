import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Output } from "../../../src/cli/Output.ts"
import * as CommandLine from "../../config/CommandLine.ts"
import * as EnvironmentLive from "../../config/Environment.ts"
import * as Report from "../../config/Report.ts"
import * as AskingPassword from "../AskingPassword.ts"
import * as OutputLive from "../Output.ts"
import type { Common } from "./Client.ts"

/** `troupe config check`: whether the settings can be used. */
export const check = (common: Common) =>
  Effect.gen(function* () {
    const text = yield* Report.check(common.config)
    yield* (yield* Output).out(text)
  }).pipe(Effect.provide(platform(common)))

/** `troupe config show`: the settings in force, secrets masked. Needs no daemon. */
export const show = (common: Common) =>
  Effect.gen(function* () {
    yield* (yield* Output).out(yield* Report.show)
  }).pipe(Effect.provide(CommandLine.layer(common).pipe(Layer.provideMerge(platform(common)))))

const platform = (common: Common) =>
  AskingPassword.layer.pipe(
    Layer.provideMerge(OutputLive.layer(common)),
    Layer.provideMerge(Layer.mergeAll(EnvironmentLive.layer, NodeServices.layer))
  )
