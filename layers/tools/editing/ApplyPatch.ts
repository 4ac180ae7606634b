import * as Effect from "effect/Effect"
import { Settings } from "../../../src/config/Settings.ts"
import { PatchError } from "../../../src/patch/PatchError.ts"
import { FsPatch } from "../../../src/patch/PatchFiles.ts"
import * as Tool from "../../../src/tool/Tool.ts"
import * as ToolRegistry from "../../../src/tool/ToolRegistry.ts"
import { ApplyPatch } from "../../../src/tools/editing/ApplyPatch.ts"
import * as PatchApply from "../../patch/PatchApply.ts"

const apply = Effect.fnUntraced(function* (text: string, options: PatchApply.Options) {
  const { changes, fuzzy, replaced, root } = yield* PatchApply.apply(yield* FsPatch, text, options)
  const updated = changes.flatMap(({ letter, path }) => (letter === undefined ? [] : [{ letter, path }]))
  const count = (letter: string) => updated.filter((one) => one.letter === letter).length
  return {
    ok: true as const,
    summary: `Applied to ${updated.length} ${updated.length === 1 ? "file" : "files"}: ${count("A")} added, ${count("M")} changed, ${count("D")} deleted.`,
    updated_files: updated.map(({ letter, path }) => `${letter} ${path}`),
    workspace_root: root,
    ...(fuzzy.length === 0 ? {} : { fuzz: fuzzy }),
    ...(replaced.length === 0 ? {} : { replaced_files: replaced })
  }
})

const late = (left: ReadonlyArray<string>) =>
  new PatchError({
    reason: "out_of_time",
    left,
    detail:
      left.length === 0
        ? "It took longer than it may. Nothing of the patch is left: what was changed by then was put back."
        : `It took longer than it may, and these could not be put back: ${left.join(", ")}. Look at them before anything else.`
  })

export const layer = ToolRegistry.layer(
  [ApplyPatch],
  Settings.useSync(({ tools: { apply_patch: settings } }) => ({
    apply_patch: ({ patch_text }: typeof ApplyPatch.parameters.Type) => {
      const left: Array<string> = []
      const options = {
        maxPatchBytes: settings.max_patch_bytes,
        preserveTrailingNewline: settings.preserve_trailing_newline,
        leave: (path: string) => void left.push(path)
      }
      return Tool.atomic(apply(patch_text, options), () => late(left))
    }
  })),
  {
    offeredWhen: Settings.useSync(
      ({ tools }) =>
        () =>
          tools.apply_patch.enabled
    )
  }
)
