import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import * as Channels from "../../../src/channel/Channels.ts"
import { FileError } from "../../../src/file/FileError.ts"
import * as Workspace from "../../../src/file/Workspace.ts"
import { Grants } from "../../../src/tool/Capability.ts"
import { FsSearch } from "../../../src/search/FileSearch.ts"
import type * as FileSearch from "../../../src/search/FileSearch.ts"
import * as SearchError from "../../../src/search/SearchError.ts"
import { catalogue } from "../../../src/tools/Catalogue.ts"
import * as TurnFiles from "../../../src/tools/file/TurnFiles.ts"
import * as Refusals from "./Refusals.ts"

/**
 * Files of which the first name of a path says how they refuse. What really leads to each is in `test/file`: a full disk and a file
 * that changes meanwhile cannot be had here. `binary`, `large` and `folder` are there, so that the tools refuse by themselves.
 */
const { literals: reasons } = FileError.fields.reason

const nameOf = (path: string): string => path.split("/")[0] ?? ""

const refuse = (path: string) =>
  Effect.fail(
    new FileError({
      path,
      reason: reasons.find((one) => one === nameOf(path)) ?? "system",
      detail: "It refuses to be worked with."
    })
  )

/** A change that does not end: its time is up while it is at work. */
const change = (path: string) =>
  nameOf(path) === "out_of_time" ? Effect.andThen(TestClock.adjust("1 hour"), Effect.never) : refuse(path)

const binary = Uint8Array.of(0, 255, 254, 1)

const infoOf = (path: string, bytes: number): Workspace.Info => ({
  place: { relative: path, absolute: `/memory/${path}` },
  name: path,
  kind: "file",
  bytes,
  modifiedAt: 0,
  mode: 0o600
})

const reading: Workspace.Reading = {
  root: Effect.succeed("/memory"),
  info: refuse,
  state: refuse,
  open: (path) =>
    path === "binary"
      ? Effect.succeed({
          info: infoOf(path, binary.length),
          read: () => Effect.succeed(binary),
          stream: () => Stream.make(binary)
        })
      : refuse(path),
  read: (path) =>
    path === "binary" || path === "large"
      ? Effect.succeed({ info: infoOf(path, 1e9), bytes: binary, truncated: path === "large" })
      : refuse(path),
  list: refuse,
  walk: (folder) => Stream.fromEffect(refuse(folder))
}

const writing: Workspace.Writing<never> = {
  write: change,
  makeFolder: change,
  move: change,
  remove: (path) =>
    path === "file" || path === "folder"
      ? Effect.succeed({ place: infoOf(path, 0).place, kind: path, count: 0 })
      : change(path)
}

/** A search for the name of a reason is refused for it. */
const search = ({ path, pattern }: FileSearch.Request) => {
  const reason = SearchError.SearchError.fields.reason.literals.find((one) => one === pattern)
  return reason === undefined ? refuse(path) : new SearchError.SearchError({ reason, detail: "It refuses to search." })
}

const grants = Layer.effectDiscard(
  Effect.gen(function* () {
    const { register } = yield* Grants
    yield* register(Workspace.FsRead, () => Effect.succeed(reading))
    yield* register(Workspace.FsWrite, () => Effect.succeed(writing))
    yield* register(FsSearch, () => Effect.succeed({ search }))
    yield* register(TurnFiles.TurnContext, () => Effect.succeed({ insert: () => Effect.void }))
    yield* register(TurnFiles.Messaging, ({ channel }) =>
      Effect.succeed({
        takesFiles: Effect.succeed(false),
        send: () => new Channels.FilesNotTaken({ channel }),
        sendLink: () => Effect.succeed(false)
      })
    )
  })
)

/** The arguments with which a tool works at a path. */
const working: Readonly<Record<string, (path: string) => object>> = {
  list_files: (folder) => ({ folder }),
  glob_files: (folder) => ({ folder, pattern: "*.md" }),
  grep: (path) => ({ path, pattern: "a" }),
  write_file: (path) => ({ path, content: "x" }),
  move_file: (source_path) => ({ source_path, destination_path: "b.txt" }),
  self_insert_artifact: (path) => ({ path, as: "file" })
}
const argumentsOf = (tool: string, path: string): object => working[tool]?.(path) ?? { path }

/** What the tools judge by themselves. */
const own: ReadonlyArray<Refusals.Refusal> = [
  { tool: "glob_files", code: "file:invalid_pattern", arguments: { pattern: "../*.md" } },
  ...Object.keys(SearchError.failures).map((code) => ({
    tool: "grep",
    code,
    arguments: { pattern: code.slice("grep:".length) }
  })),
  { tool: "read_file", code: "file:not_text", arguments: { path: "binary" } },
  { tool: "code_read", code: "file:not_text", arguments: { path: "binary" } },
  {
    tool: "write_file",
    code: "file:empty_content",
    arguments: { path: "already_exists", content: "", overwrite: true }
  },
  { tool: "delete_file", code: "file:path_is_not_a_file", arguments: { path: "folder", target: "file" } },
  { tool: "delete_file", code: "file:path_is_not_a_folder", arguments: { path: "file", target: "folder" } },
  { tool: "send_file", code: "channel:files_not_taken", arguments: { path: "binary" } },
  { tool: "self_insert_artifact", code: "file:too_large", arguments: { path: "large", as: "file" } },
  { tool: "self_insert_artifact", code: "artifact:unsupported_mime", arguments: { path: "binary", as: "file" } }
]

const isOwn = (tool: string, code: string) => own.some((one) => one.tool === tool && one.code === code)

const items = catalogue.find(({ title }) => title === "Managed files")?.items ?? []

export const group: Refusals.Group = {
  layer: Refusals.tools({ tools: { file_storage: { enabled: true }, grep: { enabled: true } } }, grants),
  refusals: [
    ...own,
    ...items.flatMap(({ failures, tool: { name: tool } }) =>
      Object.keys(failures)
        .filter((code) => code.startsWith("file:") && !isOwn(tool, code))
        .map((code) => ({ tool, code, arguments: argumentsOf(tool, code.slice("file:".length)) }))
    )
  ]
}
