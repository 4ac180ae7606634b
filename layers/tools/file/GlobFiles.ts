/** Looking for files by a pattern: what is found in time is given. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as FilePattern from "../../../src/file/FilePattern.ts"
import { FsRead } from "../../../src/file/Workspace.ts"
import type * as Workspace from "../../../src/file/Workspace.ts"
import * as ToolRegistry from "../../../src/tool/ToolRegistry.ts"
import * as Fields from "../../../src/tools/file/Fields.ts"
import * as GlobFiles from "../../../src/tools/file/GlobFiles.ts"
import * as Offered from "./Offered.ts"

/** How long is looked: less than the tool may take, so that what was found is told. */
const longest = "20 seconds"

const glob_files = Effect.fnUntraced(function* (given: typeof GlobFiles.GlobFiles.parameters.Type) {
  const { folder = ".", pattern } = given
  const limit = Math.min(given.limit ?? GlobFiles.usual, GlobFiles.most)
  const files = yield* FsRead
  const wanted = yield* Effect.fromResult(FilePattern.make(pattern))
  const found: Array<Workspace.Walked> = []
  const looked = yield* files.walk(`${folder}/${wanted.prefix}`, { enter: wanted.enters }).pipe(
    Stream.filter(({ below, kind }) => kind === "file" && wanted.matches(below)),
    Stream.take(limit + 1),
    Stream.runForEach((file) => Effect.sync(() => found.push(file))),
    // Where the beginning of the pattern leads to no folder, there is nothing that matches.
    Effect.catchIf(
      ({ reason }) => wanted.prefix !== "" && isNothing.has(reason),
      () => Effect.void
    ),
    Effect.timeoutOption(longest)
  )
  const { place } = yield* files.info(folder)
  const truncated = found.length > limit || Option.isNone(looked)
  const entries = yield* Effect.forEach(found.slice(0, limit), (file) => entryOf(files, file))
  return {
    action: "glob" as const,
    root_dir: yield* files.root,
    folder: Fields.pathOf(place),
    ...Fields.placeOf(place),
    pattern,
    entries: entries.flat().toSorted((one, other) => (one.path < other.path ? -1 : 1)),
    count: entries.flat().length,
    truncated,
    ...(truncated ? { notice: Option.isNone(looked) ? outOfTime : more } : {})
  }
})

const isNothing: ReadonlySet<string> = new Set(["file_not_found", "folder_not_found", "path_is_not_a_folder"])

const outOfTime = "Not all folders could be looked into in time. Give a folder, or a narrower pattern."
const more = "There are more. Give a narrower pattern, a folder or a higher limit."

/** One that went meanwhile is left out. */
const entryOf = (files: FsRead["Service"], { place }: Workspace.Walked) =>
  Effect.map(Effect.option(files.info(Fields.pathOf(place))), (info) =>
    Option.toArray(info).map(({ bytes, kind, modifiedAt, name }) =>
      Fields.entryOf({ name, place, kind, bytes, modifiedAt })
    )
  )

export const layer = ToolRegistry.layer([GlobFiles.GlobFiles], { glob_files }, { offeredWhen: Offered.withFiles })
