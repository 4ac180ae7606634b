/**
 * Archives that strangers made. One is judged whole before anything of it is used: whoever asks gets all of its files, in memory
 * and bounded, or an error and nothing. What is written to disk afterwards is the caller's choice.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

const Reason = Schema.Literals([
  "not_an_archive",
  "damaged",
  "encrypted",
  "unsafe_name",
  "link",
  "special_file",
  "duplicate_name",
  "too_many_entries",
  "too_large"
])
export type Reason = typeof Reason.Type

/** `entry`: the name of what was refused, as it stands in the archive; `null` where it is the archive as a whole. */
export class ArchiveError extends Schema.TaggedError<ArchiveError>()("ArchiveError", {
  reason: Reason,
  entry: Schema.NullOr(Schema.String),
  detail: Schema.String
}) {
  /** Stable error code, `subsystem:reason`. */
  get code(): string {
    return `archive:${this.reason}`
  }
  override get message(): string {
    return `${this.entry === null ? "The archive" : `The entry ${shown(this.entry)}`} ${this.detail}. Nothing of the archive was used.`
  }
}

/** Names come from strangers: short, and without what a terminal would act on. */
const shown = (name: string): string => JSON.stringify(name.length > 120 ? `${name.slice(0, 120)}…` : name)

export interface Limits {
  /** Of all files together, unpacked, in bytes. */
  readonly maxBytes: number
  /** Files and folders. */
  readonly maxEntries: number
}

/** `path` is relative, with `/` between its names, and safe to join to a folder. */
export interface ArchiveFile {
  readonly path: string
  readonly bytes: Uint8Array
  readonly executable: boolean
}

/** Reads zip, tar and gzipped tar, told apart by their first bytes. */
export class Archives extends Context.Service<
  Archives,
  {
    /** Its files in the order of the archive; folders are implied. */
    readonly unpack: (archive: Uint8Array, limits: Limits) => Effect.Effect<ReadonlyArray<ArchiveFile>, ArchiveError>
  }
>()("troupe/archive/Archives") {}
