/**
 * Policy: one engine that judges what every tool call would do before it runs, whoever makes the call: the model, a script or a
 * program.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Rules from "./Rules.ts"

export interface Judgement {
  /** The strictest verdict on any of its actions: what holds for the call. */
  readonly verdict: Rules.Verdict
  /** The verdict on each action. Texts for the shell are judged as the commands in them. */
  readonly each: ReadonlyArray<Rules.Verdict>
}

export class Policy extends Context.Service<
  Policy,
  { readonly judge: (asked: Rules.Asked) => Effect.Effect<Judgement> }
>()("troupe/policy/Policy") {}
