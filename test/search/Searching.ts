/** Searches over a folder of its own, by an engine of choice. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as WorkspaceLive from "../../layers/file/Workspace.ts"
import * as ProcessRunnerLive from "../../layers/process/ProcessRunner.ts"
import * as FileSearchLive from "../../layers/search/FileSearch.ts"
import { Environment } from "../../src/config/Environment.ts"
import { Settings } from "../../src/config/Settings.ts"
import type { SettingsInput } from "../../src/config/Settings.ts"
import { Workspace } from "../../src/file/Workspace.ts"
import type * as FileSearch from "../../src/search/FileSearch.ts"
import * as ProcessSetting from "../process/Setting.ts"
import * as FileZoo from "../rigs/FileZoo.ts"

export type Grep = NonNullable<NonNullable<SettingsInput["tools"]>["grep"]>

/** What a search is of, unless a test says otherwise. */
export const usual: FileSearch.Request = {
  pattern: "",
  path: ".",
  fixed: false,
  ignoreCase: false,
  recursive: true,
  hidden: false,
  ignored: false,
  before: 0,
  after: 0,
  maxMatches: 200,
  maxFileBytes: 1_000_000
}

/** What searches need, in a new data directory. The PATH is the system's, without what npm puts before it. */
export const layer = (settings: SettingsInput, path = "/usr/bin:/bin") =>
  Layer.mergeAll(ProcessRunnerLive.layer, WorkspaceLive.layer).pipe(
    Layer.provideMerge(
      Layer.mergeAll(ProcessSetting.temporary, Settings.layer(settings), Environment.layerTable({ PATH: path }))
    ),
    Layer.provideMerge(NodeServices.layer)
  )

/** Searches over a new zoo. */
export const start = Effect.fnUntraced(function* (
  grep: Grep,
  options: { readonly path?: string; readonly allowOutside?: boolean } = {}
) {
  const zoo = yield* FileZoo.make
  const file_storage = { root_dir: zoo.root, allow_outside_root: options.allowOutside ?? false }
  const context = yield* Layer.build(layer({ tools: { file_storage, grep } }, options.path))
  const { reading } = yield* Effect.provideContext(Workspace, context)
  const { search } = yield* Effect.provideContext(FileSearchLive.make, context)
  const of = search(reading)
  return {
    ...zoo,
    reading,
    search: (request: Partial<FileSearch.Request>) => of({ ...usual, ...request })
  }
})

/** The matches in one line each: `path:line:column: text`. */
export const lines = ({ matches }: FileSearch.Found): ReadonlyArray<string> =>
  matches.map(({ column, line, place, text }) => `${place.relative ?? place.absolute}:${line}:${column}: ${text}`)

/** `reason: path`, for each file that was left out. */
export const left = ({ skipped }: FileSearch.Found): ReadonlyArray<string> =>
  skipped.flatMap(({ examples, reason }) => examples.map((path) => `${reason}: ${path}`)).toSorted()
