/**
 * Everything that is wrong with the settings, reported at once. Neither the error nor its message ever holds a value from
 * the file or from the environment, since any of them may be a secret: only kinds of value, places and names of keys.
 */
import * as Schema from "effect/Schema"

/** One thing that is wrong. */
export const Problem = Schema.Struct({
  /** Where: dotted keys, list items as `[0]`. Empty when it concerns the file as a whole. */
  path: Schema.String,
  /** The kind of value that was found there, never the value. */
  found: Schema.String,
  /** What may stand there. */
  expected: Schema.String,
  /** What to do about it. */
  hint: Schema.optionalKey(Schema.String),
  /** Line of the file, from 1, where it is known. */
  line: Schema.optionalKey(Schema.Number),
  /** Column of the line, from 1, where it is known. */
  column: Schema.optionalKey(Schema.Number)
})
export type Problem = typeof Problem.Type

/** How many problems a person is shown. Nobody reads more, and what comes after them is seldom of another kind. */
const mostShown = 100

/** The settings cannot be used. `message` lists the problems, for people: the first hundred of them. */
export class ConfigError extends Schema.TaggedError<ConfigError>()("ConfigError", {
  /** What was read: the path of the file, or words for where else the settings came from. */
  source: Schema.String,
  problems: Schema.NonEmptyArray(Problem)
}) {
  override get message(): string {
    const count = this.problems.length === 1 ? "1 problem" : `${this.problems.length} problems`
    const more = this.problems.length - mostShown
    return [
      `${this.source}: ${count}`,
      ...this.problems.slice(0, mostShown).map(render),
      ...(more > 0 ? [`  … and ${more} more`] : [])
    ].join("\n")
  }
}

const render = (problem: Problem): string => {
  const place = problem.line === undefined ? "" : ` (line ${problem.line}, column ${problem.column ?? 1})`
  const where = problem.path === "" ? "" : `${problem.path}${place}: `
  const found = problem.path === "" ? `${problem.found}${place}` : problem.found
  const hint = problem.hint === undefined ? "" : `\n      ${problem.hint}`
  return `  - ${where}found ${found}; expected ${problem.expected}${hint}`
}
