/**
 * Applies a patch to files, all of it or nothing: what it names is read and planned, then each file is changed if it is still the one
 * that was read, and if one cannot be, those before it are put back.
 */
import * as Effect from "effect/Effect"
import type { FileError } from "../../src/file/FileError.ts"
import * as Patch from "../../src/patch/Patch.ts"
import { PatchError } from "../../src/patch/PatchError.ts"
import type { PatchedFiles } from "../../src/patch/PatchFiles.ts"
import * as PatchParser from "../../src/patch/PatchParser.ts"
import * as PatchPlan from "../../src/patch/PatchPlan.ts"
import * as PatchCommit from "./PatchCommit.ts"
import * as PatchSources from "./PatchSources.ts"

export interface Options extends PatchPlan.Options {
  readonly maxPatchBytes: number
  /** Told of each path that could not be put back, also when the time is up. */
  readonly leave: (path: string) => void
}

export interface Applied extends PatchPlan.Plan {
  /** Absolute, without links. */
  readonly root: string
}

export const apply = Effect.fn("Patch.apply")(function* <R>(
  files: PatchedFiles<R>,
  text: string,
  options: Options
): Effect.fn.Return<Applied, PatchError | FileError, R> {
  const bytes = new TextEncoder().encode(text).length
  if (bytes > options.maxPatchBytes) return yield* tooLarge(bytes, options.maxPatchBytes)
  const sections = yield* Effect.fromResult(PatchParser.parse(text))
  const sources = yield* PatchSources.read(files.reading, Patch.pathsOf(sections))
  const plan = yield* Effect.fromResult(PatchPlan.make(sections, sources, options))
  yield* PatchCommit.make(files, plan.changes, sources, options.leave)
  return { ...plan, root: yield* files.reading.root }
})

const tooLarge = (bytes: number, most: number) =>
  new PatchError({
    reason: "patch_too_large",
    detail: `Expected at most ${most} bytes; found ${bytes}. Split the patch.`
  })
