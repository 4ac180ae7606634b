/** Why a patch was not applied. All of it is left undone, unless the error says otherwise. */
import * as Schema from "effect/Schema"

const Reason = Schema.Literals([
  "empty_patch",
  "patch_too_large",
  "invalid_patch",
  "too_many_files",
  "file_not_found",
  "file_too_large",
  "not_text",
  "is_link",
  "empty_content",
  "target_exists",
  "hunk_not_found",
  "ambiguous_hunk",
  "too_complex",
  "no_change",
  "write_failed",
  "not_restored",
  "out_of_time"
])
export type Reason = typeof Reason.Type

/**
 * `line` of the patch text, from 1. `hunk` counts within its file, from 1. `detail` says what was found and what to do; never
 * anything of a file's content. `cause`: the code of the refusal of the system. `left`: paths that could not be put back.
 */
export class PatchError extends Schema.TaggedError<PatchError>()("PatchError", {
  reason: Reason,
  path: Schema.optionalKey(Schema.String),
  line: Schema.optionalKey(Schema.Int),
  hunk: Schema.optionalKey(Schema.Int),
  cause: Schema.optionalKey(Schema.String),
  left: Schema.optionalKey(Schema.Array(Schema.String)),
  detail: Schema.String
}) {
  /** Stable error code, `subsystem:reason`. */
  get code(): string {
    return `apply_patch:${this.reason}`
  }
  override get message(): string {
    const where = [
      this.line === undefined ? [] : [`line ${this.line} of the patch`],
      this.hunk === undefined ? [] : [`hunk ${this.hunk}`],
      this.path === undefined ? [] : [JSON.stringify(this.path)]
    ].flat()
    return where.length === 0 ? this.detail : `${capital(where.join(", "))}: ${this.detail}`
  }
}

const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1)

/** Code → meaning. */
export const failures: Readonly<Record<string, string>> = {
  ...({
    "apply_patch:empty_patch": "rejected: there is nothing in the patch",
    "apply_patch:patch_too_large": "the patch has more bytes than `max_patch_bytes`",
    "apply_patch:invalid_patch": "it is not in the format; `details.line` is where",
    "apply_patch:too_many_files": "it names more than 200 files, or they have more than 32 MiB together",
    "apply_patch:file_not_found": "a file to update or delete is not there",
    "apply_patch:file_too_large": "a file has more than 8 MiB or more than 200000 lines, before or after",
    "apply_patch:not_text": "a file to update is not text",
    "apply_patch:is_link": "a file to delete or move is a link",
    "apply_patch:empty_content": "a file that has a content would be replaced by an empty one",
    "apply_patch:target_exists": "a file would be moved to where another one is",
    "apply_patch:hunk_not_found": "the lines of a hunk are not in the file where they are looked for",
    "apply_patch:ambiguous_hunk": "the lines of a hunk are there more than once; the message says on which lines",
    "apply_patch:too_complex": "finding the places would take too long",
    "apply_patch:no_change": "every file would stay as it is",
    "apply_patch:write_failed": "a file could not be changed; those that were are put back; `details.cause` says why",
    "apply_patch:not_restored": "the same, and `details.left` could not be put back",
    "apply_patch:out_of_time": "it took longer than it may; `details.left` could not be put back, if there is any"
  } satisfies Readonly<Record<`apply_patch:${Reason}`, string>>)
}
