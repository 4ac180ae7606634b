import * as Key from "../../Key.ts"
import * as Values from "../../Values.ts"

export const section = Key.key(
  Key.table({
    enabled: Key.key(Values.Bool, false, "Offer the tools for managed files."),
    root_dir: Key.optional(
      Values.FilePath,
      "/srv/troupe-files",
      "Folder of the managed files; without it, files in the data directory."
    ),
    max_write_bytes: Key.key(Values.ByteSize, 64_000, "Most that write_file writes at once."),
    max_total_bytes: Key.optional(
      Values.ByteSize,
      "50GB",
      "Size of all managed files beyond which agents write no more; without it, 20GB in the data directory and no limit in a root_dir. Temporary files do not count."
    ),
    allow_outside_root: Key.key(
      Values.Bool,
      false,
      "Let paths lead out of root_dir, to every file that this user may read or write. Not recommended."
    ),
    save_incoming_uploads: Key.key(
      Values.Bool,
      false,
      "Keep files that come with messages as managed files, in uploads_subdir."
    ),
    uploads_subdir: Key.key(
      Values.RelativeFolder,
      "uploads",
      "Folder for files that are kept, below the managed files."
    ),
    incoming_temp_subdir: Key.key(
      Values.RelativeFolder,
      "uploads/temp",
      "Folder for files that came with messages and are not kept yet, below the managed files."
    )
  }),
  {},
  "Managed files: a folder that agents read and write in."
)
