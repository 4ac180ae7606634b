/** Text out of bytes: of a file, a body, or standard input. */
import * as Effect from "effect/Effect"
import type { Problem } from "../src/config/ConfigError.ts"

/** Bytes as text. What is not UTF-8 is refused, with the place of the first byte that is not. */
export const decode = (bytes: Uint8Array): Effect.Effect<string, Problem> =>
  Effect.try({
    try: () => new TextDecoder("utf-8", { fatal: true }).decode(bytes),
    catch: () => {
      const [before = ""] = new TextDecoder("utf-8").decode(bytes).split("\uFFFD", 1)
      const lines = before.split("\n")
      return {
        path: "",
        found: "a text that is not UTF-8",
        expected: "a file saved as UTF-8",
        line: lines.length,
        column: (lines.at(-1)?.length ?? 0) + 1
      }
    }
  })
