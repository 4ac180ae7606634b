/** A tree of 50 000 files, and the tools of managed files over it, in the whole pipeline. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ProcessRunnerLive from "../../layers/process/ProcessRunner.ts"
import * as FileSearchLive from "../../layers/search/FileSearch.ts"
import * as GlobFilesLive from "../../layers/tools/file/GlobFiles.ts"
import * as GrepLive from "../../layers/tools/file/Grep.ts"
import { Environment } from "../../src/config/Environment.ts"
import * as ProcessSetting from "../process/Setting.ts"
import * as Fixtures from "../tool/Fixtures.ts"
import * as Report from "./Report.ts"

const folders = 500
const filesOfEach = 100

/** Files that hold the rare word. */
const rare = 500

const content = (index: number): string => {
  const lines = Array.from(
    { length: 40 },
    (_, at) => `const value${at} = call(${index * 31 + at}) // line ${at} of file ${index}\n`
  )
  return lines.join("") + (index % rare === 0 ? "// the needle\n" : "")
}

/** Made anew, and gone when the scope ends. Its path. */
export const tree = Effect.acquireRelease(
  Effect.sync(() => {
    const root = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "troupe-tree-")))
    for (let folder = 0; folder < folders; folder++) {
      const at = path.join(root, `part${folder % 20}`, `folder${folder}`)
      fs.mkdirSync(at, { recursive: true })
      for (let file = 0; file < filesOfEach; file++) {
        const index = folder * filesOfEach + file
        fs.writeFileSync(path.join(at, `module${file}.${file % 10 === 0 ? "md" : "ts"}`), content(index))
      }
    }
    return root
  }),
  (root) => Effect.sync(() => fs.rmSync(root, { recursive: true, force: true }))
)

/** Calls of a tool over the tree; gives the result's data, so that what is measured is known to have been found. */
export const tools = Effect.fnUntraced(function* (root: string, engine: "native" | "wasm") {
  const layer = Layer.mergeAll(GrepLive.layer, GlobFilesLive.layer, FileSearchLive.grant).pipe(
    Layer.provideMerge(ProcessRunnerLive.layer),
    Layer.provideMerge(Layer.merge(ProcessSetting.incarnation, Environment.layerTable({ PATH: "/usr/bin:/bin" }))),
    Layer.provideMerge(
      Fixtures.pipeline({
        tools: { file_storage: { enabled: true, root_dir: root }, grep: { enabled: true, engine } }
      })
    )
  )
  const context = yield* Layer.build(layer)
  const turn = yield* Effect.provideContext(Fixtures.startTurn(), context)
  return (name: string, parameters: unknown) =>
    Effect.flatMap(
      Effect.provideContext(Fixtures.callTool(turn, name, parameters), context),
      ({ data, status, text }) =>
        status === "success" ? Effect.succeed(JSON.stringify(data)) : Effect.die(new Error(text))
    )
})

/** A program run to its end, its output read and let go. */
export const program = (root: string, name: string, args: ReadonlyArray<string>) =>
  Effect.promise(async () => {
    const child = spawn(name, args, { cwd: root, stdio: ["ignore", "pipe", "ignore"] })
    child.stdout.resume()
    await once(child, "close")
  })

/** Median milliseconds of each, taken in turns, so that what else the machine does falls on all of them. */
export const medians = Effect.fnUntraced(function* <E, R>(
  runs: number,
  effects: ReadonlyArray<Effect.Effect<unknown, E, R>>
) {
  const times = effects.map(() => Array.of<number>())
  for (let index = -1; index < runs; index++) {
    for (const [at, effect] of effects.entries()) {
      const began = performance.now()
      yield* effect
      if (index >= 0) times[at]?.push(performance.now() - began)
    }
  }
  return times.map(Report.median)
})

/** How often longer than another program a tool may take. */
export const mostRatio = 3
