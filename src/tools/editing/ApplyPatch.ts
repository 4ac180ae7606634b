import * as Schema from "effect/Schema"
import { FileError } from "../../file/FileError.ts"
import { PatchError } from "../../patch/PatchError.ts"
import { FsPatch } from "../../patch/PatchFiles.ts"
import * as PatchActions from "../../policy/PatchActions.ts"
import * as Tool from "../../tool/Tool.ts"

/** Ways in which the lines of a hunk differ from those of the file and were still taken for them. */
const Ignored = Schema.Literals(["trailing_whitespace", "whitespace", "typography", "trailing_blank_line"])

export const ApplyPatch = Tool.make("apply_patch", {
  description: `Changes text files of the workspace, all of the patch or nothing. Format:
*** Begin Patch
*** Add File: new.txt
+every line of it
*** Update File: a.ts
*** Move to: b.ts
@@ function around()
 line that stays
-line that goes
+line that comes
*** Delete File: old.txt
*** End Patch
Move is optional. Hunks are in the order of the file and give a few lines that stay, so that each fits one place; "@@" alone, "@@ <line above>" or "@@ -a,b +c,d @@" begins one, "*** End of File" below it ties it to the end. Add replaces a file that is there.`,
  parameters: Schema.Struct({
    patch_text: Schema.String.annotate({ description: "The patch. Paths are relative to the workspace." })
  }),
  success: Schema.Struct({
    ok: Schema.Literal(true),
    summary: Schema.String,
    updated_files: Schema.Array(Schema.String).annotate({ description: "`A`, `D` or `M`, and the path." }),
    workspace_root: Schema.String,
    fuzz: Schema.optionalKey(
      Schema.Array(Schema.Struct({ path: Schema.String, hunk: Schema.Int, line: Schema.Int, ignored: Ignored }))
    ),
    replaced_files: Schema.optionalKey(Schema.Array(Schema.String))
  }),
  failure: Schema.Union([PatchError, FileError]),
  limits: { timeout: "60 seconds", output: { maxChars: 12_000 } },
  cancellation: "atomic",
  // Hunks that were applied already may fit once more: lines that only are added always do.
  replay: "unknown",
  capabilities: [FsPatch],
  actions: ({ patch_text }) => PatchActions.of(patch_text)
})
