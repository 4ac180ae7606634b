/** Why files could not be searched, apart from what a path refuses. */
import * as Schema from "effect/Schema"

const Reason = Schema.Literals(["invalid_pattern", "unavailable", "failed"])
type Reason = typeof Reason.Type

/** `detail` says what was found and what to do. Never anything of a file. */
export class SearchError extends Schema.TaggedError<SearchError>()("SearchError", {
  reason: Reason,
  detail: Schema.String
}) {
  /** Stable error code, `subsystem:reason`. */
  get code(): `grep:${Reason}` {
    return `grep:${this.reason}`
  }
  override get message(): string {
    return this.detail
  }
}

/** Code → meaning, for the catalogue of tools. */
export const failures = {
  "grep:invalid_pattern":
    "`pattern` is empty, longer than allowed, of several lines, no regular expression, or one too large to search for",
  "grep:unavailable": "no program to search with can be started; the message says why",
  "grep:failed": "the search ended without a result; the message says how"
} as const
