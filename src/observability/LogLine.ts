/** What a message of the log looks like, for programs and for people. */
import * as Plain from "../cli/Plain.ts"

export type Level = "trace" | "debug" | "info" | "warn" | "error" | "fatal"

export interface LogLine {
  readonly level: Level
  /** Milliseconds since 1970. */
  readonly time: number
  readonly message: string
  /** What the message is about, by name. */
  readonly fields: Readonly<Record<string, unknown>>
  /** Errors with their stack. */
  readonly cause: string | undefined
}

/** Whether it is of the inner life of a library: below info, and marked as none of our own lines is. */
export const isInner = ({ fields, level }: LogLine): boolean =>
  (level === "debug" || level === "trace") &&
  Object.keys(fields).some((key) => libraryFields.has(key) || key.startsWith("~effect/"))

const libraryFields: ReadonlySet<string> = new Set(["module", "migration_id", "latest_migration_id"])

/** Longer messages and causes are cut: a log is not a place for payloads. */
const longest = 16_384

export const cut = (text: string): string =>
  text.length <= longest ? text : `${text.slice(0, longest).toWellFormed()}… [${text.length - longest} more characters]`

/** Two lines with the same identity say the same at different times. */
export const identity = (line: LogLine): string =>
  `${line.level}\n${line.message}\n${JSON.stringify(line.fields)}\n${line.cause ?? ""}`

/** For people: one line, then the cause below it. `time` is the clock of the day, already written. */
export const pretty = (line: LogLine, time: string, colour: boolean): string => {
  const paint = (code: string, text: string) => (colour ? `\u001b[${code}m${text}\u001b[0m` : text)
  const fields = Object.entries(line.fields).map(([key, value]) => ` ${Plain.line(key)}=${fieldText(value)}`)
  const head = `${paint("2", time)} ${paint(colours[line.level], labels[line.level])} ${Plain.lines(line.message)}`
  const cause = line.cause === undefined ? "" : `\n${indent(Plain.lines(line.cause))}`
  return `${head}${paint("2", fields.join(""))}${cause}\n`
}

const fieldText = (value: unknown): string =>
  typeof value === "string" && /^[\w./:@-]+$/.test(value) ? value : Plain.line(JSON.stringify(value) ?? String(value))

const indent = (text: string): string =>
  text
    .split("\n")
    .map((part) => `    ${part}`)
    .join("\n")

const labels: Readonly<Record<Level, string>> = {
  trace: "trace",
  debug: "debug",
  info: "info ",
  warn: "WARN ",
  error: "ERROR",
  fatal: "FATAL"
}

const colours: Readonly<Record<Level, string>> = {
  trace: "2",
  debug: "2",
  info: "36",
  warn: "33",
  error: "31",
  fatal: "1;31"
}
