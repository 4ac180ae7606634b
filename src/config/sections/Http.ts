import * as Redacted from "effect/Redacted"
import * as Key from "../Key.ts"
import type { Rule } from "../Rule.ts"
import * as Values from "../Values.ts"

export const meaning = "The server that the console, web page and other clients talk to."

export const authToken = Key.key(
  Values.Token,
  "",
  "Bearer token clients must send; empty uses the token file in the data folder, made on first start."
)

export const section = Key.key(
  Key.table({
    host: Key.key(
      Values.Host,
      "127.0.0.1",
      "Address to listen on; any other than 127.0.0.1 or ::1 needs an auth_token."
    ),
    port: Key.key(Values.Port, 7433, "Port to listen on; 0 picks a free one."),
    auth_token: authToken,
    allowed_origins: Key.key(
      Values.Origins,
      [],
      'Origins of web pages that may call the server besides its own, such as "https://example.org".'
    )
  }),
  {},
  meaning
)

const minimumTokenLength = 16

/** Names are not resolved, so `localhost` is not taken for loopback: what it means is up to the machine. */
const isLoopback = (host: string): boolean => host === "127.0.0.1" || host === "::1"

/** A server that others can reach must ask who they are, with something that cannot be guessed. */
export const rules: ReadonlyArray<Rule<{ readonly http: typeof section.Type }>> = [
  ({ http }) => {
    const length = Redacted.value(http.auth_token).length
    if (isLoopback(http.host) || length >= minimumTokenLength) return []
    return [
      {
        path: ["http", "auth_token"],
        found:
          length === 0
            ? "no token, while [http].host is not a loopback address"
            : "a short token, while [http].host is not a loopback address",
        expected: `a token of at least ${minimumTokenLength} characters`,
        hint: "set auth_token, or listen on 127.0.0.1 or ::1",
        reads: [["http", "host"]]
      }
    ]
  }
]
