/**
 * What is inside a vault: a text of lines `name: value`. Blank lines and lines that begin with `#` are left out. A value that begins
 * with a quote is a JSON string, which is how values of several lines and with spaces around them are written. Pure.
 */
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

/** A letter or underscore, then letters, digits, `_`, `.` and `-`. */
const namePattern = /^[A-Za-z_][A-Za-z0-9_.-]{0,127}$/

export interface Problem {
  /** From 1. */
  readonly line: number
  /** What is wrong there, without anything that stands there. */
  readonly what: string
}

/** The secrets by name, in the order of the lines, or what is wrong with the first line that is. */
export const parse = (text: string): Result.Result<ReadonlyMap<string, string>, Problem> => {
  const secrets = new Map<string, string>()
  for (const [index, written] of text.split(/\r?\n/).entries()) {
    const line = written.trim()
    if (line === "" || line.startsWith("#")) continue
    const wrong = (what: string) => Result.fail<Problem>({ line: index + 1, what })
    const colon = line.indexOf(":")
    if (colon < 0) return wrong("there is no colon after the name")
    const name = line.slice(0, colon).trim()
    if (name === "") return wrong("there is no name before the colon")
    if (!namePattern.test(name))
      return wrong("the name may have letters, digits, _, . and -, and begins with a letter or _")
    if (secrets.has(name)) return wrong("the name is there a second time")
    const value = valueOf(line.slice(colon + 1).trim())
    if (value === undefined) return wrong("the value begins with a quote and is no JSON string")
    secrets.set(name, value)
  }
  return Result.succeed(secrets)
}

/** Names in order, each with its value as it can be read back. */
export const format = (secrets: Iterable<readonly [name: string, value: string]>): string =>
  Array.from(secrets, ([name, value]) => `${name}: ${isPlain(value) ? value : JSON.stringify(value)}\n`).join("")

const isPlain = (value: string): boolean =>
  value !== "" && value.trim() === value && !/[\r\n]/.test(value) && !/^["#'-]/.test(value)

const valueOf = (written: string): string | undefined =>
  written.startsWith('"') ? Option.getOrUndefined(decodeString(written)) : written

const decodeString = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.String))
