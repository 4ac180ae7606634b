import * as Key from "../../Key.ts"
import type { Rule } from "../../Rule.ts"
import * as ToolName from "../../../tool/ToolName.ts"
import * as Values from "../../Values.ts"

export const section = Key.key(
  Key.table({
    enabled: Key.key(Values.Bool, true, "Write long tool results to a file and give the model a preview and the path."),
    spill_after_chars: Key.key(
      Values.PositiveInt,
      8000,
      "Results longer than this many characters are written to a file."
    ),
    preview_chars: Key.key(
      Values.PositiveInt,
      800,
      "Characters of the result the model still sees; fewer than spill_after_chars."
    ),
    subdir: Key.key(Values.RelativeFolder, "tool_output/tmp", "Folder for these files, below the managed files."),
    exclude_tools: Key.key(
      Values.ToolPatterns,
      ["http_request", ToolName.answering],
      "Tools whose results are never written to a file."
    )
  }),
  {},
  "What happens with long tool results."
)

/** A preview as long as the limit would make the model read more than without the file. */
export const rules: ReadonlyArray<Rule<{ readonly tools: { readonly tool_output_spill: typeof section.Type } }>> = [
  ({ tools: { tool_output_spill } }) =>
    tool_output_spill.preview_chars < tool_output_spill.spill_after_chars
      ? []
      : [
          {
            path: ["tools", "tool_output_spill", "preview_chars"],
            found: "a number that is not below spill_after_chars",
            expected: "fewer characters than spill_after_chars",
            reads: [["tools", "tool_output_spill", "spill_after_chars"]]
          }
        ]
]
