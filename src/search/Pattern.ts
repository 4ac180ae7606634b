/** What a pattern must be before anything is started for it. */
import * as Result from "effect/Result"
import { SearchError } from "./SearchError.ts"

/** In UTF-16 units. */
const longest = 4096

/** The pattern, or why it is none. */
export const judge = (pattern: string): Result.Result<string, SearchError> => {
  if (pattern === "") return refuse("Expected something to look for; found an empty text.")
  if (pattern.length > longest) return refuse(`Expected at most ${longest} characters; found ${pattern.length}.`)
  if (/[\n\r]/.test(pattern)) {
    return refuse("Expected one line, since lines are searched one by one; found several. Search for one of them.")
  }
  if (pattern.includes("\0")) return refuse("Expected a text without NUL characters.")
  return pattern.isWellFormed()
    ? Result.succeed(pattern)
    : refuse("Expected well-formed Unicode; found half of a character.")
}

/** What ripgrep said of a pattern; undefined where it said something else. */
export const refusal = (said: string): SearchError | undefined => {
  if (/size limit/i.test(said)) {
    return invalid(
      "As a regular expression it is too large to search for. Use smaller counts in braces, or fewer of them."
    )
  }
  if (/is not allowed in a regex/.test(said)) {
    return invalid(
      "Expected a pattern within one line; found one that asks for a line break. Search for one of the lines."
    )
  }
  const problem = /^error: (.{1,200})/m.exec(said)?.[1]
  return problem === undefined || !/regex parse error/.test(said)
    ? undefined
    : invalid(`It is no regular expression that can be searched for: ${problem}. Escape it, or set fixed_string.`)
}

const invalid = (detail: string) => new SearchError({ reason: "invalid_pattern", detail: `pattern: ${detail}` })

const refuse = (detail: string) => Result.fail(invalid(detail))
