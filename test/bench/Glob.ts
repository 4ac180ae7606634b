/** Finding files by a pattern against ripgrep's list of files, on 50 000 files: a few in all of them, and the first of many. */
import * as Effect from "effect/Effect"
import * as Needs from "../rigs/Needs.ts"
import * as LargeTree from "./LargeTree.ts"
import type { Measurement } from "./Report.ts"

const runs = 9

const samples = Effect.gen(function* () {
  const root = yield* LargeTree.tree
  const call = yield* LargeTree.tools(root, "native")
  const list = (pattern: string) => LargeTree.program(root, "/usr/bin/rg", ["--no-config", "--files", "-g", pattern])
  return yield* LargeTree.medians(runs, [
    list("folder77/module7.ts"),
    call("glob_files", { pattern: "**/folder77/module7.ts" }),
    list("*.ts"),
    call("glob_files", { pattern: "*.ts" })
  ])
})

export const measure = async (): Promise<ReadonlyArray<Measurement>> => {
  if (Needs.ripgrep.missing) throw new Error(`glob cannot be measured: ${Needs.ripgrep.reason}`)
  const [rare = NaN, tool = NaN, common = NaN, cut = NaN] = await Effect.runPromise(Effect.scoped(samples))
  return [
    {
      name: "glob_files, one of 50 000 files",
      value: tool / rare,
      unit: "x rg --files",
      target: LargeTree.mostRatio,
      note: `${tool.toFixed(0)} ms, ripgrep ${rare.toFixed(0)} ms`
    },
    {
      name: "glob_files, the first 100 of 45 000",
      value: cut / common,
      unit: "x rg --files",
      target: LargeTree.mostRatio,
      note: `${cut.toFixed(0)} ms, ripgrep ${common.toFixed(0)} ms for all`
    }
  ]
}
