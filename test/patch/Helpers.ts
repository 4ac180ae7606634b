/** Patches over files that are in memory: what comes of a text, without a disk. */
import * as Result from "effect/Result"
import * as Patch from "../../src/patch/Patch.ts"
import type { PatchError } from "../../src/patch/PatchError.ts"
import * as PatchParser from "../../src/patch/PatchParser.ts"
import * as PatchPlan from "../../src/patch/PatchPlan.ts"

const encoder = new TextEncoder()

export const bytes = (text: string): Uint8Array => encoder.encode(text)

export const patch = (...lines: ReadonlyArray<string>): string =>
  ["*** Begin Patch", ...lines, "*** End Patch"].join("\n")

export const plan = (
  text: string,
  files: Readonly<Record<string, string | Uint8Array>> = {},
  options: PatchPlan.Options = { preserveTrailingNewline: true }
): Result.Result<PatchPlan.Plan, PatchError> =>
  Result.flatMap(PatchParser.parse(text), (sections) => {
    const found = Patch.pathsOf(sections).map((path): readonly [string, PatchPlan.Found] => {
      const content = Object.hasOwn(files, path) ? files[path] : undefined
      return [path, { id: path, bytes: typeof content === "string" ? bytes(content) : content }]
    })
    return PatchPlan.make(sections, new Map(found), options)
  })

/** What becomes of `f`, or the error: its reason, and the line and the hunk where it has them. */
export const update = (
  before: string | Uint8Array,
  lines: ReadonlyArray<string>,
  options?: PatchPlan.Options
): string | { readonly reason: string; readonly line?: number | undefined; readonly hunk?: number | undefined } =>
  Result.match(plan(patch("*** Update File: f", ...lines), { f: before }, options), {
    onFailure: ({ hunk, line, reason }) => ({ reason, line, hunk }),
    onSuccess: ({ changes }) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(changes[0]?.after)
  })
