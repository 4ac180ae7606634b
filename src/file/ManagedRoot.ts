/** Where the managed files lie. */
import type { Settings } from "../config/Settings.ts"
import { filesFolder } from "../storage/DataDirectory.ts"
import type { DataDirectory } from "../storage/DataDirectory.ts"

/** `[tools.file_storage].root_dir`, or a folder in the data directory. As it is written: it may be relative, or a link. */
export const of = ({ tools }: Pick<Settings["Service"], "tools">, directory: DataDirectory["Service"]): string =>
  tools.file_storage.root_dir ?? directory.file(filesFolder)

/** How much agents may keep in that folder of the data directory, in bytes, where nothing else is set. */
const defaultMost = 20_000_000_000

/** `[tools.file_storage].max_total_bytes`, or the default for the folder in the data directory; none for a folder of one's own. */
export const mostOf = ({ tools }: Pick<Settings["Service"], "tools">): number | undefined =>
  tools.file_storage.max_total_bytes ?? (tools.file_storage.root_dir === undefined ? defaultMost : undefined)
