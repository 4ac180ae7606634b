/** What the tools for managed files share: how they say where something is, and how they fail. */
import * as DateTime from "effect/DateTime"
import * as Schema from "effect/Schema"
import { FileError } from "../../file/FileError.ts"
import type * as Workspace from "../../file/Workspace.ts"

const Scope = Schema.Literals(["inside_root", "outside_root"])
type Scope = typeof Scope.Type

/** Where the file of a result is. */
export const placed = {
  path_relative: Schema.NullOr(Schema.String),
  path_absolute: Schema.String,
  path_scope: Scope
} as const

const scopeOf = ({ relative }: Workspace.Place): Scope => (relative === null ? "outside_root" : "inside_root")

export const placeOf = (place: Workspace.Place) => ({
  path_relative: place.relative,
  path_absolute: place.absolute,
  path_scope: scopeOf(place)
})

/** Where the two files of a result are. */
export const placedTwice = {
  source_path_relative: Schema.NullOr(Schema.String),
  source_path_absolute: Schema.String,
  source_path_scope: Scope,
  destination_path_relative: Schema.NullOr(Schema.String),
  destination_path_absolute: Schema.String,
  destination_path_scope: Scope
} as const

export const placesOf = (source: Workspace.Place, destination: Workspace.Place) => ({
  source_path_relative: source.relative,
  source_path_absolute: source.absolute,
  source_path_scope: scopeOf(source),
  destination_path_relative: destination.relative,
  destination_path_absolute: destination.absolute,
  destination_path_scope: scopeOf(destination)
})

/** The path of a result: what the next call can name it by. */
export const pathOf = ({ absolute, relative }: Workspace.Place): string => relative ?? absolute

/** Something in a folder. */
export const Entry = Schema.Struct({
  name: Schema.String,
  path: Schema.String,
  is_dir: Schema.Boolean,
  kind: Schema.Literals(["file", "folder", "link", "other"]),
  size_bytes: Schema.Int,
  modified_at: Schema.String
})

export const entryOf = ({ bytes, kind, modifiedAt, name, place, target }: Workspace.Entry): typeof Entry.Type => ({
  name,
  path: pathOf(place),
  is_dir: (target ?? kind) === "folder",
  kind,
  size_bytes: bytes,
  modified_at: timeOf(modifiedAt)
})

/** As in ISO 8601, in UTC. */
export const timeOf = (millis: number): string => DateTime.formatIso(DateTime.makeUnsafe(millis))

export const path = (description: string) => Schema.String.annotate({ description })

export const Failure = FileError

/** How a text was saved. */
export const Encoding = Schema.Literals(["utf-8", "utf-16le", "utf-16be"])

/** A content as the model reads it: what it is, what is to be known of it, and then nothing but itself. */
export const textOf = (what: string, notice: string | undefined, content: string): string =>
  `${what}${notice === undefined ? "" : `. ${notice}`}\n\n${content}`
