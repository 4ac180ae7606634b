/**
 * Files in memory, in the place of those of the disk: for tests on the test clock, where the time of a tool would be up before a
 * disk answers. There are no links and nothing is recorded.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as Fingerprint from "../../layers/Fingerprint.ts"
import { FileError } from "../../src/file/FileError.ts"
import type { Reason } from "../../src/file/FileError.ts"
import * as FilePath from "../../src/file/FilePath.ts"
import * as Workspace from "../../src/file/Workspace.ts"
import { FsPatch } from "../../src/patch/PatchFiles.ts"
import { Grants } from "../../src/tool/Capability.ts"

export interface Files {
  readonly reading: Workspace.Reading
  readonly writing: Workspace.Writing<never>
}

export const make = (): Files => {
  const files = new Map<string, { readonly bytes: Uint8Array; readonly modifiedAt: number }>()
  const folders = new Set<string>(["."])

  const refuse = (reason: Reason, path: string) => new FileError({ reason, path, detail: "Refused." })
  const keyOf = (path: string) =>
    Effect.flatMap(Effect.fromResult(FilePath.parse(path)), ({ absolute, names }) =>
      absolute ? Effect.fail(FilePath.outside(path)) : Effect.succeed(names.join("/") || ".")
    )
  const place = (relative: string): Workspace.Place => ({ relative, absolute: `/memory/${relative}` })
  const makeFolders = (key: string) => {
    const names = key.split("/")
    for (let depth = 1; depth <= names.length; depth++) folders.add(names.slice(0, depth).join("/"))
  }
  const below = (folder: string) =>
    [...folders, ...files.keys()].filter((key) => key !== "." && (folder === "." || key.startsWith(`${folder}/`)))

  const info = Effect.fnUntraced(function* (path: string) {
    const key = yield* keyOf(path)
    const file = files.get(key)
    if (file === undefined && !folders.has(key)) return yield* refuse("file_not_found", path)
    const made: Workspace.Info = {
      place: place(key),
      name: key.slice(key.lastIndexOf("/") + 1),
      kind: file === undefined ? "folder" : "file",
      bytes: file?.bytes.byteLength ?? 0,
      modifiedAt: file?.modifiedAt ?? 0,
      mode: 0o600
    }
    return made
  })

  const open = Effect.fnUntraced(function* (path: string) {
    const found = yield* info(path)
    const file = files.get(yield* keyOf(path))
    if (file === undefined) return yield* refuse("path_is_not_a_file", path)
    const opened: Workspace.OpenFile = {
      info: found,
      read: (offset, length) => Effect.succeed(file.bytes.slice(offset, offset + length)),
      stream: ({ from = 0, most }) => Stream.succeed(file.bytes.slice(from, from + most))
    }
    return opened
  })

  const reading: Workspace.Reading = {
    root: Effect.succeed("/memory"),
    state: Effect.fnUntraced(function* (path) {
      const key = yield* keyOf(path)
      const file = files.get(key)
      if (file !== undefined) {
        const { bytes } = file
        return { _tag: "File", sha256: Fingerprint.ofBytes(bytes), bytes: bytes.byteLength, mode: 0o600 }
      }
      return folders.has(key) ? { _tag: "Folder", mode: 0o700 } : { _tag: "Absent" }
    }),
    info,
    open,
    read: Effect.fnUntraced(function* (path, { most, offset = 0 }) {
      const file = yield* open(path)
      const bytes = yield* file.read(offset, most)
      return { info: file.info, bytes, truncated: offset + bytes.byteLength < file.info.bytes }
    }),
    list: Effect.fnUntraced(function* (folder, { most, skip = 0 }) {
      const key = yield* keyOf(folder)
      if (files.has(key)) return yield* refuse("path_is_not_a_folder", folder)
      if (!folders.has(key)) return yield* refuse("folder_not_found", folder)
      const names = below(key).filter((name) => !name.slice(key === "." ? 0 : key.length + 1).includes("/"))
      const entries = yield* Effect.forEach(names.toSorted().slice(skip, skip + most), info)
      return { place: place(key), entries, count: names.length }
    }),
    walk: (folder) =>
      Stream.unwrap(
        Effect.map(keyOf(folder), (key) =>
          Stream.fromIterable(
            below(key).map((found): Workspace.Walked => ({
              below: key === "." ? found : found.slice(key.length + 1),
              place: place(found),
              kind: files.has(found) ? "file" : "folder"
            }))
          )
        )
      )
  }

  const put = Effect.fnUntraced(function* (path: string, bytes: Uint8Array, options: Workspace.WriteOptions) {
    const key = yield* keyOf(path)
    const old = files.get(key)
    if (bytes.byteLength > options.most) return yield* refuse("too_large", path)
    if (folders.has(key)) return yield* refuse("path_is_not_a_file", path)
    const written = { place: place(key), bytes: bytes.byteLength, sha256: Fingerprint.ofBytes(bytes) }
    if (old !== undefined && Fingerprint.ofBytes(old.bytes) === written.sha256) {
      return { ...written, change: "unchanged" as const }
    }
    if (old !== undefined && (!options.overwrite || options.expected === "absent")) {
      return yield* refuse("already_exists", path)
    }
    files.set(key, { bytes, modifiedAt: yield* Clock.currentTimeMillis })
    if (key.includes("/")) makeFolders(key.slice(0, key.lastIndexOf("/")))
    return { ...written, change: old === undefined ? ("created" as const) : ("replaced" as const) }
  })

  const writing: Workspace.Writing<never> = {
    write: (path, content, options) =>
      content instanceof Uint8Array
        ? put(path, content, options)
        : Effect.flatMap(Stream.runCollect(content), (pieces) => put(path, Buffer.concat([...pieces]), options)),
    makeFolder: Effect.fnUntraced(function* (path) {
      const key = yield* keyOf(path)
      if (files.has(key)) return yield* refuse("path_is_not_a_folder", path)
      makeFolders(key)
      return place(key)
    }),
    move: Effect.fnUntraced(function* (source, destination, { overwrite }) {
      const { bytes, truncated: _ } = yield* reading.read(source, { most: Number.MAX_SAFE_INTEGER })
      const from = yield* keyOf(source)
      const { change, place: to } = yield* put(destination, bytes, { overwrite, most: Number.MAX_SAFE_INTEGER })
      if (to.relative !== from) files.delete(from)
      return { source: place(from), destination: to, replaced: change === "replaced" }
    }),
    remove: Effect.fnUntraced(function* (path, { expected, kinds, recursive }) {
      const key = yield* keyOf(path)
      if (key === ".") return yield* refuse("root_itself", path)
      const bytes = files.get(key)?.bytes
      if (expected !== undefined && (bytes === undefined || Fingerprint.ofBytes(bytes) !== expected.sha256)) {
        return yield* refuse("changed_meanwhile", path)
      }
      const kind = files.has(key) ? ("file" as const) : folders.has(key) ? ("folder" as const) : null
      if (kind === null || !kinds.includes(kind)) return { place: place(key), kind, count: 0 }
      const inside = below(key)
      if (inside.length > 0 && !recursive) return yield* refuse("folder_not_empty", path)
      for (const gone of [key, ...inside]) {
        files.delete(gone)
        folders.delete(gone)
      }
      return { place: place(key), kind, count: inside.length + 1 }
    })
  }
  return { reading, writing }
}

/** Gives every turn files in memory, the same ones for the life of the layer, whatever else gives it files. */
export const grants: Layer.Layer<never, never, Grants> = Layer.effectDiscard(
  Effect.gen(function* () {
    const { register } = yield* Grants
    const { reading, writing } = make()
    yield* register(Workspace.FsRead, () => Effect.succeed(reading))
    yield* register(Workspace.FsWrite, () => Effect.succeed(writing))
    yield* register(FsPatch, () => Effect.succeed({ reading, writing }))
  })
)
