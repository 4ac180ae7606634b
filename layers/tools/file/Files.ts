/** Handlers of the tools that look at managed files and change them. */
import * as Effect from "effect/Effect"
import { Settings } from "../../../src/config/Settings.ts"
import { FileError } from "../../../src/file/FileError.ts"
import * as MediaType from "../../../src/file/MediaType.ts"
import { FsRead, FsWrite } from "../../../src/file/Workspace.ts"
import * as Tool from "../../../src/tool/Tool.ts"
import * as ToolRegistry from "../../../src/tool/ToolRegistry.ts"
import { DeleteFile } from "../../../src/tools/file/DeleteFile.ts"
import * as Fields from "../../../src/tools/file/Fields.ts"
import { FileInfo } from "../../../src/tools/file/FileInfo.ts"
import * as ListFiles from "../../../src/tools/file/ListFiles.ts"
import { MoveFile } from "../../../src/tools/file/MoveFile.ts"
import { WriteFile } from "../../../src/tools/file/WriteFile.ts"
import * as Offered from "./Offered.ts"

const list_files = Effect.fnUntraced(function* ({
  folder = ".",
  offset = 0
}: typeof ListFiles.ListFiles.parameters.Type) {
  const files = yield* FsRead
  const { count, entries, place } = yield* files.list(folder, { most: ListFiles.most, skip: offset })
  return {
    action: "list" as const,
    root_dir: yield* files.root,
    folder: Fields.pathOf(place),
    ...Fields.placeOf(place),
    entries: entries.map(Fields.entryOf),
    count: entries.length,
    total: count,
    truncated: offset + entries.length < count
  }
})

const file_info = Effect.fnUntraced(function* ({ path }: typeof FileInfo.parameters.Type) {
  const { bytes, kind, modifiedAt, name, place } = yield* (yield* FsRead).info(path)
  const mime = kind === "file" ? MediaType.ofName(name) : null
  return {
    action: "info" as const,
    ok: true as const,
    path: Fields.pathOf(place),
    ...Fields.placeOf(place),
    name,
    is_dir: kind === "folder",
    extension: MediaType.extensionOf(name),
    mime,
    size_bytes: bytes,
    modified_at: Fields.timeOf(modifiedAt),
    is_image: mime?.startsWith("image/") === true
  }
})

const writeWith = (most: number) =>
  Effect.fnUntraced(function* ({ content, overwrite = false, path }: typeof WriteFile.parameters.Type) {
    const bytes = new TextEncoder().encode(content)
    // Where nothing is, an empty file may be made.
    const expected = bytes.byteLength === 0 ? ({ expected: "absent" } as const) : {}
    const written = yield* (yield* FsWrite)
      .write(path, bytes, { overwrite, most, ...expected })
      .pipe(
        Effect.mapError((error) =>
          bytes.byteLength === 0 && overwrite && error.reason === "already_exists" ? emptied(path) : error
        )
      )
    return {
      action: "write" as const,
      ok: true as const,
      path: Fields.pathOf(written.place),
      ...Fields.placeOf(written.place),
      bytes_written: written.bytes,
      overwrite,
      change: written.change
    }
  })

const move = Effect.fnUntraced(function* (given: typeof MoveFile.parameters.Type) {
  const { overwrite = false } = given
  const { destination, replaced, source } = yield* (yield* FsWrite).move(given.source_path, given.destination_path, {
    overwrite
  })
  return {
    action: "move" as const,
    ok: true as const,
    source_path: Fields.pathOf(source),
    destination_path: Fields.pathOf(destination),
    ...Fields.placesOf(source, destination),
    overwrite,
    replaced
  }
})

const remove = Effect.fnUntraced(function* (given: typeof DeleteFile.parameters.Type) {
  const { path, recursive = false, target = "any" } = given
  const kinds = target === "any" ? (["file", "folder"] as const) : [target]
  const { count, kind, place } = yield* (yield* FsWrite).remove(path, { kinds, recursive })
  if (kind !== null && count === 0) return yield* anotherKind(path, target)
  return {
    action: "delete" as const,
    ok: true as const,
    path: Fields.pathOf(place),
    ...Fields.placeOf(place),
    deleted: count > 0,
    deleted_count: count,
    target,
    recursive,
    target_type: kind,
    message: kind === null ? "There was nothing of this name." : `Deleted: ${count === 1 ? kind : `${count} entries`}.`
  }
})

const late = (path: string) => () =>
  new FileError({
    reason: "out_of_time",
    path,
    detail: "It took longer than it may. What was done by then stays done: list the folder to see it."
  })

const emptied = (path: string) =>
  new FileError({
    reason: "empty_content",
    path,
    detail: "The content is empty, and the file has one. Give the content, or delete the file."
  })

const anotherKind = (path: string, target: "any" | "file" | "folder") =>
  new FileError({
    reason: target === "folder" ? "path_is_not_a_folder" : "path_is_not_a_file",
    path,
    detail: `It is no ${target}, so nothing was deleted. Leave target out to delete whatever it is.`
  })

export const layer = ToolRegistry.layer(
  [ListFiles.ListFiles, FileInfo, WriteFile, MoveFile, DeleteFile],
  Settings.useSync(({ tools }) => {
    const write = writeWith(tools.file_storage.max_write_bytes)
    return {
      list_files,
      file_info,
      write_file: (given: typeof WriteFile.parameters.Type) => Tool.atomic(write(given), late(given.path)),
      move_file: (given: typeof MoveFile.parameters.Type) => Tool.atomic(move(given), late(given.source_path)),
      delete_file: (given: typeof DeleteFile.parameters.Type) => Tool.atomic(remove(given), late(given.path))
    }
  }),
  { offeredWhen: Offered.withFiles }
)
