/**
 * The registry of models: which provider and model a turn talks to.
 *
 * A provider is a `[providers.<name>]` section of the configuration or a well-known one (see `Providers.ts`);
 * `offline` needs none, and a program with Troupe inside can bring providers of its own. Clients are made once per provider and model and kept.
 */
import type * as LanguageModel from "effect/ai/LanguageModel"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { ModelUnavailable } from "./ModelError.ts"
import type { ModelInfo } from "./ModelTable.ts"
import type * as NativeCompaction from "./NativeCompaction.ts"

/** What to talk to. Absent fields are taken from `[llm]`; provider names are compared in lower case, trimmed. */
export interface ModelSelection {
  readonly provider?: string | undefined
  readonly model?: string | undefined
}

/** A model ready to be asked. */
export interface ModelHandle {
  /** Name of the provider, as in the configuration. */
  readonly provider: string
  /** Model id sent to the provider. */
  readonly model: string
  readonly languageModel: LanguageModel.LanguageModel
  /** What the model takes and can do, where that is known. */
  readonly info?: ModelInfo | undefined
  /** Has its provider make a history shorter, where it can. */
  readonly compact?: NativeCompaction.Compact | undefined
  /** Who is asked instead, in order, when this one cannot answer. */
  readonly fallback?: ReadonlyArray<ModelHandle> | undefined
}

/** A provider with usable credentials. Never carries a key. */
export interface AvailableProvider {
  readonly name: string
  /** Model names listed in the configuration; advisory, not checked. */
  readonly models: ReadonlyArray<string>
}

export class Models extends Context.Service<
  Models,
  {
    /**
     * The model for a selection. With another provider than `[llm].provider`, a model must be named or listed. Only the model
     * of `[llm]` has others to fall back on: who chose another had a reason.
     */
    readonly get: (selection?: ModelSelection) => Effect.Effect<ModelHandle, ModelUnavailable>
    /** The model of `[llm]`. */
    readonly default: Effect.Effect<ModelHandle, ModelUnavailable>
    /** Providers that can be asked now, sorted by name; `offline` is always among them. */
    readonly available: ReadonlyArray<AvailableProvider>
  }
>()("troupe/model/Models") {}
