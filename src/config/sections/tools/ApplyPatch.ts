import * as Key from "../../Key.ts"
import * as Values from "../../Values.ts"

export const section = Key.key(
  Key.table({
    enabled: Key.key(Values.Bool, false, "Offer apply_patch, which changes text files below workspace_root."),
    workspace_root: Key.key(
      Values.FilePath,
      ".",
      "Folder that paths of patches are relative to. A relative one is below the directory that the daemon runs in."
    ),
    restrict_to_workspace: Key.key(Values.Bool, true, "Refuse paths that lead out of workspace_root."),
    allow_outside_workspace: Key.key(
      Values.Bool,
      false,
      "Let paths lead out of it all the same, to every file that this user may write. Not recommended."
    ),
    preserve_trailing_newline: Key.key(
      Values.Bool,
      true,
      "Let an updated file end as it did, with a line break or without; one whose last line changes is given one otherwise."
    ),
    max_patch_bytes: Key.key(Values.ByteSize, 262_144, "Largest patch, in bytes.")
  }),
  {},
  "Patches to text files."
)
