/**
 * A reader of one literal value, as JSON or as Python writes it. One pass, bounded depth, and an error where the text does
 * not say exactly one thing.
 */
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"

export type Dialect = "json" | "python"

/** What is wrong, and the offset where. Never the text itself. */
export interface Problem {
  readonly problem: string
  readonly at: number
}

/** Values inside values, at most. */
export const maxDepth = 64

/** The value that the whole text stands for; closing braces, and only these, may be missing at its end. */
export const parse = (text: string, dialect: Dialect): Result.Result<Schema.Json, Problem> => {
  const reader: Reader = { text, dialect, at: 0, closed: true }
  const value = readValue(reader, 0)
  if (Result.isFailure(value)) return value
  skipSpace(reader)
  return reader.at === text.length ? value : fail(reader, "there is more after the value")
}

interface Reader {
  readonly text: string
  readonly dialect: Dialect
  at: number
  /** Whether the last value read ends with a mark of its own, so that it cannot be the first half of a longer one. */
  closed: boolean
}

type Read<A> = Result.Result<A, Problem>

const fail = (reader: Reader, problem: string, at = reader.at): Read<never> => Result.fail({ problem, at })

const skipSpace = (reader: Reader): void => {
  while (" \t\n\r".includes(reader.text.charAt(reader.at)) && reader.at < reader.text.length) reader.at += 1
}

const readValue = (reader: Reader, depth: number): Read<Schema.Json> => {
  if (depth > maxDepth) return fail(reader, `more than ${maxDepth} values inside each other`)
  skipSpace(reader)
  const first = reader.text.charAt(reader.at)
  if (first === "{") return readObject(reader, depth)
  if (first === "[") return readList(reader, depth)
  if (first === '"' || (first === "'" && reader.dialect === "python")) return readString(reader)
  if (first === "") return fail(reader, "the text ends where a value should be")
  return /[-+.0-9]/.test(first) ? readNumber(reader) : readWord(reader)
}

const readObject = (reader: Reader, depth: number): Read<Schema.Json> => {
  const entries = new Map<string, Schema.Json>()
  reader.at += 1
  skipSpace(reader)
  if (reader.text.charAt(reader.at) === "}") return close(reader, {})
  while (true) {
    skipSpace(reader)
    const start = reader.at
    if (reader.dialect === "python" && entries.size > 0 && reader.text.charAt(start) === "}") break
    const key = readKey(reader)
    if (Result.isFailure(key)) return key
    if (key.success === "__proto__") return fail(reader, 'the key "__proto__" is not taken', start)
    if (entries.has(key.success)) return fail(reader, "a key that was there before", start)
    skipSpace(reader)
    if (reader.text.charAt(reader.at) !== ":") return fail(reader, "a colon is missing")
    reader.at += 1
    const value = readValue(reader, depth + 1)
    if (Result.isFailure(value)) return value
    entries.set(key.success, value.success)
    skipSpace(reader)
    const next = reader.text.charAt(reader.at)
    if (next === "," || next === "}") reader.at += 1
    if (next === ",") continue
    if (next === "}") return closed(reader, Object.fromEntries(entries))
    // Only braces are missing, and nothing can be missing before them.
    if (next === "" && reader.closed) return Result.succeed(Object.fromEntries(entries))
    return fail(
      reader,
      next === "" ? "the text ends in the middle of an object" : "a comma or a closing brace is missing"
    )
  }
  return close(reader, Object.fromEntries(entries))
}

const readKey = (reader: Reader): Read<string> => {
  const quote = reader.text.charAt(reader.at)
  if (quote === '"' || (quote === "'" && reader.dialect === "python")) return readString(reader)
  return fail(reader, quote === "" ? "the text ends in the middle of an object" : "a key in quotes is missing")
}

const readList = (reader: Reader, depth: number): Read<Schema.Json> => {
  const items: Array<Schema.Json> = []
  reader.at += 1
  skipSpace(reader)
  if (reader.text.charAt(reader.at) === "]") return close(reader, items)
  while (true) {
    skipSpace(reader)
    if (reader.dialect === "python" && items.length > 0 && reader.text.charAt(reader.at) === "]") break
    const item = readValue(reader, depth + 1)
    if (Result.isFailure(item)) return item
    items.push(item.success)
    skipSpace(reader)
    const next = reader.text.charAt(reader.at)
    if (next === "]") break
    if (next !== ",") {
      return fail(
        reader,
        next === "" ? "the text ends in the middle of a list" : "a comma or a closing bracket is missing"
      )
    }
    reader.at += 1
  }
  return close(reader, items)
}

/** Takes the closing mark at the current place. */
const close = (reader: Reader, value: Schema.Json): Read<Schema.Json> => {
  reader.at += 1
  return closed(reader, value)
}

const closed = <A>(reader: Reader, value: A): Read<A> => {
  reader.closed = true
  return Result.succeed(value)
}

const jsonNumber = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?/y
const pythonNumber = /[-+]?(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?/y

const readNumber = (reader: Reader): Read<number> => {
  const start = reader.at
  const pattern = reader.dialect === "json" ? jsonNumber : pythonNumber
  pattern.lastIndex = start
  const written = pattern.exec(reader.text)?.[0]
  if (written === undefined) return fail(reader, "a number that cannot be read")
  reader.at += written.length
  if (/[\w.]/.test(reader.text.charAt(reader.at))) return fail(reader, "a number that cannot be read", start)
  const value = Number(written)
  if (!Number.isFinite(value)) return fail(reader, "a number that is too large", start)
  if (/^[-+]?\d+$/.test(written) && !Number.isSafeInteger(value)) {
    return fail(reader, "a whole number that is too large to be exact; write it as text", start)
  }
  reader.closed = false
  return Result.succeed(value)
}

const words: Readonly<Record<Dialect, ReadonlyMap<string, boolean | null>>> = {
  json: new Map([
    ["true", true],
    ["false", false],
    ["null", null]
  ]),
  python: new Map([
    ["True", true],
    ["False", false],
    ["None", null],
    ["true", true],
    ["false", false],
    ["null", null]
  ])
}

const readWord = (reader: Reader): Read<Schema.Json> => {
  const start = reader.at
  while (/\w/.test(reader.text.charAt(reader.at))) reader.at += 1
  const value = words[reader.dialect].get(reader.text.slice(start, reader.at))
  return value === undefined ? fail(reader, "something that is no value", start) : closed(reader, value)
}

const readString = (reader: Reader): Read<string> => {
  const { text } = reader
  const start = reader.at
  const quote = text.charAt(start)
  let content = ""
  let from = start + 1
  let at = from
  while (true) {
    const character = text.charAt(at)
    if (character === "") return fail(reader, "the text ends in the middle of a string", start)
    if (character === quote) break
    if (character === "\\") {
      const escape = readEscape(text, at, reader.dialect)
      if (escape === undefined) return fail(reader, "an escape that cannot be read", at)
      content += text.slice(from, at) + escape.value
      at += escape.length
      from = at
    } else {
      if (character < " " && reader.dialect === "json") return fail(reader, "a raw control character in a string", at)
      at += 1
    }
  }
  reader.at = at + 1
  return closed(reader, content + text.slice(from, at))
}

interface Escape {
  readonly value: string
  readonly length: number
}

const shortEscapes: Readonly<Record<Dialect, ReadonlyMap<string, string>>> = {
  json: new Map([
    ['"', '"'],
    ["\\", "\\"],
    ["/", "/"],
    ["b", "\b"],
    ["f", "\f"],
    ["n", "\n"],
    ["r", "\r"],
    ["t", "\t"]
  ]),
  python: new Map([
    ['"', '"'],
    ["'", "'"],
    ["\\", "\\"],
    ["\n", ""],
    ["a", "\x07"],
    ["b", "\b"],
    ["f", "\f"],
    ["n", "\n"],
    ["r", "\r"],
    ["t", "\t"],
    ["v", "\v"]
  ])
}

const hexDigits: Readonly<Record<Dialect, ReadonlyMap<string, number>>> = {
  json: new Map([["u", 4]]),
  python: new Map([
    ["x", 2],
    ["u", 4],
    ["U", 8]
  ])
}

/** The escape at `at`. Python keeps a backslash that begins no escape; octal and named characters are not taken. */
const readEscape = (text: string, at: number, dialect: Dialect): Escape | undefined => {
  const letter = text.charAt(at + 1)
  const short = shortEscapes[dialect].get(letter)
  if (short !== undefined) return { value: short, length: 2 }
  const digits = hexDigits[dialect].get(letter)
  if (digits !== undefined) return readHexEscape(text.slice(at + 2, at + 2 + digits), digits)
  const refused = dialect === "json" || letter === "" || letter === "N" || /\d/.test(letter)
  return refused ? undefined : { value: `\\${letter}`, length: 2 }
}

const readHexEscape = (written: string, digits: number): Escape | undefined => {
  if (written.length !== digits || !/^[0-9a-fA-F]+$/.test(written)) return undefined
  const code = Number.parseInt(written, 16)
  return code > 0x10ffff ? undefined : { value: String.fromCodePoint(code), length: digits + 2 }
}
