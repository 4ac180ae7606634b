/**
 * Who wrote something that nobody else may read again: reasoning, ids of items, a compacted history. Other models, and other
 * providers of the same model, refuse it or take it for something that was said.
 */
import * as Schema from "effect/Schema"

/** A model of a provider. */
export interface Origin {
  readonly provider: string
  readonly model: string
}

/** The fields of an origin, for schemas of what it wrote. */
export const fields = { provider: Schema.String, model: Schema.String }

/** Whether both are the same model of the same provider. */
export const same = (one: Origin, other: Origin | undefined): boolean =>
  one.provider === other?.provider && one.model === other.model

/** One text for an origin, to look it up by. */
export const keyOf = ({ model, provider }: Origin): string => JSON.stringify([provider, model])
