import * as Duration from "effect/Duration"
import * as Key from "../../Key.ts"
import type { Rule } from "../../Rule.ts"
import * as Values from "../../Values.ts"

/** A search and a download have this long each, and the time limit of the tool leaves room beyond that. */
const longestTimeout = Duration.seconds(40)

export const section = Key.key(
  Key.table({
    enabled: Key.key(Values.Bool, false, "Offer send_gif."),
    provider: Key.optional(
      Values.Choice(["giphy", "tenor"]),
      "giphy",
      "Whose protocol the search speaks; without one every call is refused."
    ),
    base_url: Key.optional(
      Values.HttpUrl,
      "http://127.0.0.1:8088",
      "Address of another server of the same protocol, without the path of the search."
    ),
    api_key: Key.key(Values.Token, "", "Key that the search is asked with."),
    rating: Key.key(
      Values.Choice(["g", "pg", "pg-13", "r"]),
      "g",
      "For whom what is found must be fit: g for everybody. It is the search that sees to it."
    ),
    max_bytes: Key.key(
      Values.ByteSize,
      "8MB",
      "Largest picture, in bytes; the largest size of it within this is taken."
    ),
    timeout_seconds: Key.key(Values.Seconds, 15, "Longest that the search may take, and the download."),
    subdir: Key.key(
      Values.RelativeFolder,
      "gifs/tmp",
      "Folder for the pictures, below the managed files; without [tools.file_storage] only their address is sent."
    )
  }),
  {},
  "Animated pictures. Off unless switched on."
)

export const rules: ReadonlyArray<Rule<{ readonly tools: { readonly send_gif: typeof section.Type } }>> = [
  ({ tools: { send_gif } }) =>
    Duration.isLessThanOrEqualTo(send_gif.timeout_seconds, longestTimeout)
      ? []
      : [
          {
            path: ["tools", "send_gif", "timeout_seconds"],
            found: "a longer time than a call of send_gif may take",
            expected: `at most ${Duration.toSeconds(longestTimeout)} seconds`
          }
        ]
]
