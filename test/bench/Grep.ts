/** A search by the tool against ripgrep itself, on 50 000 files: for a word that few hold, and for one that all do. */
import * as Effect from "effect/Effect"
import * as Needs from "../rigs/Needs.ts"
import * as LargeTree from "./LargeTree.ts"
import type { Measurement } from "./Report.ts"

const runs = 9

const samples = Effect.gen(function* () {
  const root = yield* LargeTree.tree
  const call = yield* LargeTree.tools(root, "native")
  const wasm = yield* LargeTree.tools(root, "wasm")
  const ripgrep = (pattern: string) => LargeTree.program(root, "/usr/bin/rg", ["--no-config", "-n", pattern, "."])
  const found = Effect.tap(call("grep", { pattern: "needle" }), (data) =>
    data.includes('"count":100,') ? Effect.void : Effect.die(new Error("The tool has not found what is there."))
  )
  return yield* LargeTree.medians(runs, [
    ripgrep("needle"),
    found,
    ripgrep("value7"),
    call("grep", { pattern: "value7" }),
    wasm("grep", { pattern: "needle" })
  ])
})

export const measure = async (): Promise<ReadonlyArray<Measurement>> => {
  if (Needs.ripgrep.missing) throw new Error(`grep cannot be measured: ${Needs.ripgrep.reason}`)
  const [rare = NaN, tool = NaN, common = NaN, cut = NaN, wasm = NaN] = await Effect.runPromise(Effect.scoped(samples))
  return [
    {
      name: "grep, 100 matches in 50 000 files",
      value: tool / rare,
      unit: "x rg",
      target: LargeTree.mostRatio,
      note: `${tool.toFixed(0)} ms, ripgrep ${rare.toFixed(0)} ms`
    },
    {
      name: "grep, a word of all 50 000 files",
      value: cut / common,
      unit: "x rg",
      target: LargeTree.mostRatio,
      note: `${cut.toFixed(0)} ms for the first 200 lines, ripgrep ${common.toFixed(0)} ms for all`
    },
    {
      name: "grep without a ripgrep",
      value: wasm / rare,
      unit: "x rg",
      note: `${wasm.toFixed(0)} ms by the one in WebAssembly`
    }
  ]
}
