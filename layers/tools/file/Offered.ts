import { Settings } from "../../../src/config/Settings.ts"

/** The tools for managed files are offered where `[tools.file_storage]` turns them on. */
export const withFiles = Settings.useSync(
  ({ tools }) =>
    () =>
      tools.file_storage.enabled
)
