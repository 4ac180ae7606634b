/**
 * Whether the store does its work, as its last writes have shown. Health checks ask it; who waits for the store is told.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { StorageTrouble } from "./StorageError.ts"

/** Writes fail, and since when (unix ms). Gone with the first write that succeeds. */
export const Failing = Schema.Struct({ reason: StorageTrouble, since: Schema.Int })
export type Failing = typeof Failing.Type

export class StorageHealth extends Context.Service<
  StorageHealth,
  {
    /** Null as long as the store works. */
    readonly failing: Effect.Effect<Failing | null>
    /** Waits until writes fail. Done at once when they do. */
    readonly awaitFailing: Effect.Effect<void>
  }
>()("troupe/storage/StorageHealth") {}
