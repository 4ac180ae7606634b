import type * as Effect from "effect/Effect"
import type * as Rules from "../../src/policy/Rules.ts"
import type { JsonObject } from "../../src/tool/Arguments.ts"
import type * as Registration from "../../src/tool/Registration.ts"
import type * as Tool from "../../src/tool/Tool.ts"
import type * as ToolCalls from "../../src/tool/ToolCalls.ts"

/** One call on its way through the pipeline: it names an offered tool, and its parameters are accepted. */
export interface Invocation {
  readonly tools: ToolCalls.TurnTools
  readonly registration: Registration.Registration
  readonly call: Registration.Call
  readonly parameters: JsonObject
  /** The parameters as they may be written down and shown: with the secrets of this process masked. */
  readonly shown: JsonObject
  readonly prepared: Registration.Prepared
  /** What the policy says of it; a call that is denied is none. */
  readonly verdict: Rules.Verdict
  /** Code gets the whole output; what a model reads is bounded. */
  readonly reader: "model" | "code"
}

/** One layer of the pipeline around the next. Each failure on the way has a code and words for the model. */
export type Stage = (
  invocation: Invocation,
  inner: Effect.Effect<Registration.Output, Tool.Failure>
) => Effect.Effect<Registration.Output, Tool.Failure>
