/** Where the managed files lie. */
import type { Settings } from "../config/Settings.ts"
import { filesFolder } from "../storage/DataDirectory.ts"
import type { DataDirectory } from "../storage/DataDirectory.ts"

/** `[tools.file_storage].root_dir`, or a folder in the data directory. As it is written: it may be relative, or a link. */
export const of = ({ tools }: Pick<Settings["Service"], "tools">, directory: DataDirectory["Service"]): string =>
  tools.file_storage.root_dir ?? directory.file(filesFolder)
