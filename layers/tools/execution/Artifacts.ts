/** Files that a program has written, kept among the managed files. Nothing of the program runs any more when they are looked at. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Glob from "effect/Glob"
import * as Path from "effect/Path"
import type { Settings } from "../../../src/config/Settings.ts"
import { FsWrite } from "../../../src/file/Workspace.ts"
import type { PythonExecute, SkipReason } from "../../../src/tools/execution/PythonExecute.ts"
import { PythonRefused } from "../../../src/tools/execution/PythonRefused.ts"
import * as Directories from "../../storage/Directories.ts"

type Section = Settings["Service"]["tools"]["python_exec"]
type Parameters = typeof PythonExecute.parameters.Type
type Result = Pick<typeof PythonExecute.success.Type, "artifacts_saved" | "artifacts_skipped">

/** Which files to keep, and where. */
export interface Wanted {
  readonly globs: ReadonlyArray<string>
  readonly subdir: string
  readonly most: number
}

export const none: Result = { artifacts_saved: [], artifacts_skipped: [] }

/** What the call asks for; undefined when it asks for nothing. */
export const wanted = (
  { file_storage, python_exec: settings }: Settings["Service"]["tools"],
  { artifact_globs = [], artifact_subdir, max_artifacts, save_artifacts }: Parameters
): Effect.Effect<Wanted | undefined, PythonRefused> => {
  const refused = (reason: PythonRefused["reason"]) => Effect.fail(new PythonRefused({ reason }))
  if (save_artifacts !== true) {
    const asks = artifact_globs.length > 0 || artifact_subdir !== undefined || max_artifacts !== undefined
    return asks && save_artifacts === undefined ? refused("invalid_artifact_options") : Effect.undefined
  }
  if (!settings.artifacts_enabled) return refused("artifacts_disabled")
  if (!file_storage.enabled) return refused("file_storage_unavailable")
  const subdir = artifact_subdir?.trim() || settings.artifacts_default_subdir
  if (!isBelow(subdir)) return refused("invalid_artifact_options")
  if (settings.sandbox_mode === "jail") {
    if (!settings.artifacts_allow_in_jail) return refused("artifacts_not_supported_in_jail")
    if (settings.artifacts_jail_shared_dir === undefined) return refused("artifact_export_unreachable")
  }
  const most = Math.min(max_artifacts ?? settings.artifacts_max_files, settings.artifacts_max_files)
  return Effect.succeed({ globs: artifact_globs.length === 0 ? ["*"] : artifact_globs, subdir, most })
}

const isBelow = (path: string): boolean =>
  !/^([/\\]|[A-Za-z]:)/.test(path) &&
  !/\p{Cc}/u.test(path) &&
  !path.split(/[/\\]/).some((part) => part === ".." || part === "")

/** Copies what fits, in the order of the patterns. `folder` is where the program ran. */
export const save = Effect.fnUntraced(function* (settings: Section, folder: string, { globs, most, subdir }: Wanted) {
  const paths = yield* Path.Path
  const { found } = yield* Directories.readableBelow(folder)
  const saved: Array<Result["artifacts_saved"][number]> = []
  const skipped: Array<Result["artifacts_skipped"][number]> = []
  let total = 0
  for (const { bytes, name, path } of inOrder(found, globs, paths.sep)) {
    const extension = paths.extname(name).toLowerCase()
    const reason = skipReason(settings, { bytes, extension, total, isFull: saved.length >= most })
    const copied =
      reason === undefined ? yield* Effect.option(copy(path, bytes, subdir, paths.basename(name))) : undefined
    if (copied === undefined || copied._tag === "None") {
      skipped.push({ name, reason: reason ?? "not_copied" })
      continue
    }
    total += bytes
    const mime = mediaTypes.get(extension) ?? "application/octet-stream"
    saved.push({ ...copied.value, size_bytes: bytes, mime })
  }
  return { artifacts_saved: saved, artifacts_skipped: skipped } satisfies Result
})

/** Under the name, or the first of `name-1`, `name-2` … that nothing has yet. */
const copy = Effect.fnUntraced(function* (source: string, bytes: number, subdir: string, name: string) {
  const files = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  const writing = yield* FsWrite
  const extension = paths.extname(name)
  const stem = name.slice(0, name.length - extension.length)
  for (let count = 0; ; count++) {
    const free = count === 0 ? name : `${stem}-${count}${extension}`
    const written = yield* writing
      .write(`${subdir}/${free}`, files.stream(source), { overwrite: false, most: bytes, expected: "absent" })
      .pipe(Effect.catchIf(isTaken, () => Effect.undefined))
    if (written !== undefined) return { path: written.place.relative ?? `${subdir}/${free}`, name: free }
  }
})

const isTaken = (error: { readonly _tag: string; readonly reason: unknown }): boolean =>
  error._tag === "FileError" && (error.reason === "already_exists" || error.reason === "path_is_not_a_file")

/** Each file once, under the first pattern that it fits. A pattern without a folder fits in every folder. */
const inOrder = (found: ReadonlyArray<Directories.Found>, globs: ReadonlyArray<string>, separator: string) => {
  const all = found.map((file) => ({ ...file, slashed: file.name.split(separator).join("/") }))
  const matching = globs.flatMap((glob) => {
    const patterns = [Glob.make(glob), Glob.make(`**/${glob}`)]
    return all.filter(({ slashed }) => patterns.some((pattern) => Glob.match(pattern, slashed)))
  })
  return new Set(matching)
}

const skipReason = (
  settings: Section,
  file: { readonly bytes: number; readonly extension: string; readonly total: number; readonly isFull: boolean }
): typeof SkipReason.Type | undefined => {
  if (!settings.artifacts_allowed_extensions.some((one) => one.toLowerCase() === file.extension)) {
    return "extension_not_allowed"
  }
  if (file.isFull) return "max_artifacts_reached"
  if (file.bytes > settings.artifacts_max_file_bytes) return "file_too_large"
  return file.total + file.bytes > settings.artifacts_max_total_bytes ? "total_size_limit" : undefined
}

const mediaTypes: ReadonlyMap<string, string> = new Map([
  [".png", "image/png"],
  [".jpg", "image/jpeg"],
  [".jpeg", "image/jpeg"],
  [".gif", "image/gif"],
  [".webp", "image/webp"],
  [".svg", "image/svg+xml"],
  [".pdf", "application/pdf"],
  [".csv", "text/csv"],
  [".txt", "text/plain"],
  [".md", "text/markdown"],
  [".html", "text/html"],
  [".json", "application/json"],
  [".zip", "application/zip"]
])
