import * as Duration from "effect/Duration"
import * as Key from "../../Key.ts"
import type { Rule } from "../../Rule.ts"
import * as Values from "../../Values.ts"

/** A request takes at most three times as long, and the time limit of the tool leaves room beyond that. */
const longestTimeout = Duration.minutes(3)

export const section = Key.key(
  Key.table({
    enabled: Key.key(Values.Bool, false, "Offer http_request. Where it may go is said by [outbound]."),
    timeout_seconds: Key.key(
      Values.Seconds,
      10,
      "How long connecting, and each wait for the server, may take; the whole takes at most three times that."
    ),
    follow_redirects: Key.key(Values.Bool, false, "Follow redirections instead of giving them back as they are."),
    max_redirects: Key.key(Values.NonNegativeInt, 5, "Most redirections followed."),
    max_bytes: Key.key(Values.ByteSize, 16_384, "Most bytes of a response that are given as they are."),
    max_parse_bytes: Key.key(Values.ByteSize, 2_000_000, "Most bytes of a page that are read to be made compact."),
    response_processing_mode: Key.key(
      Values.Choice(["auto", "none", "text", "compact"]),
      "auto",
      "What is made of pages: compact text with links and forms (auto, compact), their text alone, or nothing."
    ),
    max_chars: Key.optional(
      Values.PositiveInt,
      16_000,
      "Most characters of a response given to the model; as many as max_bytes without it."
    ),
    normalize_whitespace: Key.key(Values.Bool, true, "Make runs of spaces and empty lines in texts short."),
    spill_to_managed_file: Key.key(
      Values.Bool,
      false,
      "Write long responses to a managed file; needs [tools.file_storage].enabled."
    ),
    spill_after_chars: Key.key(Values.PositiveInt, 16_000, "Responses longer than this are written to a file."),
    spill_preview_chars: Key.key(Values.PositiveInt, 2000, "Characters of such a response the model still sees."),
    max_spill_bytes: Key.key(Values.ByteSize, 5_000_000, "Larger responses are not written to a file."),
    spill_subdir: Key.key(
      Values.RelativeFolder,
      "http_responses/tmp",
      "Folder for these files, below the managed files."
    )
  }),
  {},
  "Requests to other hosts over HTTP."
)

export const rules: ReadonlyArray<Rule<{ readonly tools: { readonly http_client: typeof section.Type } }>> = [
  ({ tools: { http_client } }) =>
    Duration.isLessThanOrEqualTo(http_client.timeout_seconds, longestTimeout)
      ? []
      : [
          {
            path: ["tools", "http_client", "timeout_seconds"],
            found: "a longer time than a call of http_request may take",
            expected: `at most ${Duration.toSeconds(longestTimeout)} seconds`
          }
        ],
  ({ tools: { http_client } }) =>
    http_client.spill_preview_chars < http_client.spill_after_chars
      ? []
      : [
          {
            path: ["tools", "http_client", "spill_preview_chars"],
            found: "a number that is not below spill_after_chars",
            expected: "fewer characters than spill_after_chars",
            reads: [["tools", "http_client", "spill_after_chars"]]
          }
        ]
]
