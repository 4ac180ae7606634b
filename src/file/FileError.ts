/** Why something could not be done with a file: one error for reading and writing, so that every tool refuses in the same words. */
import * as Schema from "effect/Schema"

const Reason = Schema.Literals([
  "file_not_found",
  "folder_not_found",
  "path_is_not_a_file",
  "path_is_not_a_folder",
  "special_file",
  "invalid_path",
  "outside_root",
  "dangling_link",
  "too_many_links",
  "already_exists",
  "folder_not_empty",
  "root_itself",
  "changed_meanwhile",
  "too_large",
  "empty_content",
  "not_text",
  "invalid_pattern",
  "permission_denied",
  "no_space",
  "read_only_disk",
  "not_recorded",
  "out_of_time",
  "system"
])
export type Reason = typeof Reason.Type

/** `path` as it was asked for. `detail` says what was found there and what to do. Never anything of the content. */
export class FileError extends Schema.TaggedError<FileError>()("FileError", {
  reason: Reason,
  path: Schema.String,
  detail: Schema.String
}) {
  /** Stable error code, `subsystem:reason`. */
  get code(): string {
    return `file:${this.reason}`
  }
  override get message(): string {
    return `${JSON.stringify(this.path)}: ${this.detail}`
  }
}

/** Some of the codes with what they mean, for the catalogue of tools. */
export const failures = (...reasons: ReadonlyArray<Reason>): Readonly<Record<string, string>> =>
  Object.fromEntries(reasons.map((reason) => [`file:${reason}`, meanings[reason]]))

/** Reason → what it means, for the pages and for what tools say of their failures. */
const meanings: Readonly<Record<Reason, string>> = {
  file_not_found: "there is no file of this name",
  folder_not_found: "there is no folder of this name",
  path_is_not_a_file: "a folder, or a link where a file is needed",
  path_is_not_a_folder: "a file where a folder is needed",
  special_file: "a device, a pipe or a socket",
  invalid_path: "empty, too long, or with characters that no path has",
  outside_root: "it lies outside the folder of managed files, or a link leads there",
  dangling_link: "a link to something that is not there",
  too_many_links: "links that lead to links without an end",
  already_exists: "something is there and `overwrite` was not given",
  folder_not_empty: "the folder has something in it and `recursive` was not given",
  root_itself: "the folder of managed files itself can be neither moved nor deleted",
  changed_meanwhile: "the file is not as it was expected, or changed while it was worked on",
  too_large: "more bytes than allowed",
  empty_content: "an empty content in place of one that is not",
  not_text: "the content is not text in UTF-8",
  invalid_pattern: "a pattern that is empty or too much to look for",
  permission_denied: "the system does not allow it",
  no_space: "the disk, this user's share of it, or the limit of the managed files is used up",
  read_only_disk: "the disk cannot be written",
  not_recorded: "the change could not be recorded, so it was not made",
  out_of_time: "it took longer than it may; the message says what was done by then",
  system: "another error of the system"
}
