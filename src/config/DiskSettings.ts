/**
 * What a report about the disk needs of the settings: where things are written, and what limits and removes them. It must be
 * possible to ask where the room has gone while another part of the file is wrong or the vault is closed.
 */
import * as Document from "./Document.ts"
import type { Path } from "./Rule.ts"
import type { SettingsValue } from "./Settings.ts"

/** Settings of which only the keys below are the installation's; the rest are defaults. */
export type DiskSettings = Pick<SettingsValue, "storage" | "retention" | "logging" | "tools">

const keys: ReadonlyArray<Path> = [
  ["retention"],
  ["storage", "wal_max_bytes"],
  ["logging", "file"],
  ["logging", "max_file_bytes"],
  ["logging", "max_files"],
  ["tools", "bash", "spill_subdir"],
  ["tools", "file_storage", "root_dir"],
  ["tools", "file_storage", "max_total_bytes"],
  ["tools", "file_storage", "uploads_subdir"],
  ["tools", "file_storage", "incoming_temp_subdir"],
  ["tools", "http_client", "spill_subdir"],
  ["tools", "send_gif", "subdir"],
  ["tools", "tool_output_spill", "subdir"]
]

/** The part of a document that this is about. */
export const part = (document: unknown): unknown =>
  keys.reduce<unknown>((kept, path) => {
    const value = Document.get(document, path)
    return value === undefined ? kept : placed(kept, path, value)
  }, {})

const placed = (document: unknown, [key, ...below]: Path, value: unknown): unknown =>
  key === undefined
    ? value
    : {
        ...(Document.isTable(document) ? document : {}),
        [key]: placed(Document.get(document, [key]), below, value)
      }
