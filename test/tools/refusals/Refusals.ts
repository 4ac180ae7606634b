/**
 * Refusals of tools, by group: for each failure that a tool declares in the catalogue, a call that ends with it. One file a group,
 * beside this one; `test/tools/Refusals.test.ts` finds the files, makes the calls and misses those that are not there.
 */
import type * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Tools from "../../../layers/tools/Tools.ts"
import { ConfigSource } from "../../../src/config/ConfigSource.ts"
import type { SettingsInput } from "../../../src/config/Settings.ts"
import type * as Capability from "../../../src/tool/Capability.ts"
import type { ToolCalls } from "../../../src/tool/ToolCalls.ts"
import type { ToolRegistry } from "../../../src/tool/ToolRegistry.ts"
import type * as ToolCallsModule from "../../../src/tool/ToolCalls.ts"
import * as Fixtures from "../../tool/Fixtures.ts"

export interface Refusal {
  readonly tool: string
  readonly code: string
  /** What the model writes. */
  readonly arguments: object
  /** What has to happen in the turn before. */
  readonly after?: (turn: ToolCallsModule.TurnTools) => Effect.Effect<unknown, never, ToolCalls>
  /** Where other settings, grants or places are needed than those of the group. */
  readonly layer?: TestLayer
}

type TestLayer = Layer.Layer<ToolCalls | ToolRegistry>

export interface Group {
  /** The tools of the group, turned on, and the pipeline. */
  readonly layer: TestLayer
  readonly refusals: ReadonlyArray<Refusal>
}

/** All tools over these settings, in the whole pipeline, with the grants that are given. */
export const tools = (
  settings: SettingsInput,
  grants: Layer.Layer<never, never, Capability.Grants> = Layer.empty
): TestLayer =>
  Layer.merge(Tools.layer, grants).pipe(
    Layer.provideMerge(Layer.succeed(ConfigSource, { _tag: "Defaults" })),
    Layer.provideMerge(Fixtures.pipeline(settings)),
    Layer.orDie
  )
