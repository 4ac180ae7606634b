/**
 * The log: pino behind Effect's logger. Everything that is logged has its secrets masked, its control characters made
 * visible, and its repetitions folded, on whatever way it leaves.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import type * as LogLevel from "effect/LogLevel"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as Predicate from "effect/Predicate"
import * as References from "effect/References"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import { pino } from "pino"
import { Environment } from "../../src/config/Environment.ts"
import { Settings } from "../../src/config/Settings.ts"
import * as Folding from "../../src/observability/Folding.ts"
import * as LogLine from "../../src/observability/LogLine.ts"
import { KnownSecrets } from "../../src/secret/KnownSecrets.ts"
import { DataDirectory } from "../../src/storage/DataDirectory.ts"
import * as RotatingFile from "./RotatingFile.ts"

export interface Options {
  /** Whether messages also go to standard error. Not while a person is chatting on the same terminal. */
  readonly terminal: boolean
}

/** Where a finished line goes. */
type Sink = (line: LogLine.LogLine) => void

/** Before the data directory is known: standard error alone. */
export const layerTerminal = (options: Options): Layer.Layer<never, never, Settings | KnownSecrets | Environment> =>
  Layer.mergeAll(levelLayer, Logger.layer([Effect.flatMap(terminalSinks(options), makeLogger)]))

/** Standard error and, when `[logging].file` says so, `logs/troupe.log` in the data directory. */
export const layer = (
  options: Options
): Layer.Layer<
  never,
  never,
  Settings | KnownSecrets | Environment | DataDirectory | FileSystem.FileSystem | Path.Path
> =>
  Layer.mergeAll(
    levelLayer,
    Logger.layer([Effect.flatMap(Effect.all([terminalSinks(options), fileSinks]), (sinks) => makeLogger(sinks.flat()))])
  )

const levelLayer = Layer.effect(
  References.MinimumLogLevel,
  Effect.map(Settings, ({ logging }) => levels[logging.log_level])
)

const levels = {
  trace: "Trace",
  debug: "Debug",
  info: "Info",
  warn: "Warn",
  error: "Error",
  off: "None"
} as const

const terminalSinks = Effect.fnUntraced(function* (options: Options) {
  if (!options.terminal) return []
  const { logging } = yield* Settings
  const terminal = process.stderr.isTTY === true
  const write = (text: string) => void process.stderr.write(text)
  if (logging.format === "json" || (logging.format === "auto" && !terminal)) return [json(write)]
  const noColour = yield* (yield* Environment).get("NO_COLOR")
  const colour = terminal && Option.getOrElse(noColour, () => "") === ""
  return [(line: LogLine.LogLine) => write(LogLine.pretty(line, timeOfDay(line.time), colour))]
})

const fileSinks = Effect.gen(function* () {
  const { logging } = yield* Settings
  if (!logging.file) return []
  const paths = yield* Path.Path
  const write = yield* RotatingFile.make({
    path: (yield* DataDirectory).file(paths.join("logs", "troupe.log")),
    maxBytes: logging.max_file_bytes,
    maxFiles: logging.max_files,
    dropped: (count) => `${JSON.stringify({ level: "warn", msg: `${count} lines of the log were lost here` })}\n`
  })
  return [json(write)]
})

/** One JSON object a line. */
const json = (write: (line: string) => void): Sink => {
  const log = pino(
    { level: "trace", base: null, timestamp: false, formatters: { level: (label) => ({ level: label }) } },
    { write }
  )
  return ({ cause, fields, level, message, time }) => {
    const time_ = DateTime.formatIso(DateTime.makeUnsafe(time))
    log[level]({ time: time_, ...(cause === undefined ? {} : { cause }), ...reserved(fields) }, message)
  }
}

/** Fields do not replace what every line has. */
const reserved = (fields: LogLine.LogLine["fields"]) =>
  Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [
      ["level", "time", "msg", "cause"].includes(key) ? `${key}_` : key,
      value
    ])
  )

const makeLogger = Effect.fnUntraced(function* (
  sinks: ReadonlyArray<Sink>
): Effect.fn.Return<Logger.Logger<unknown, void>, never, KnownSecrets | Settings | Scope.Scope> {
  const secrets = yield* KnownSecrets
  const inner = (yield* Settings).logging.log_level === "trace"
  const folding = Folding.make<LogLine.LogLine>()
  const write = (line: LogLine.LogLine) => {
    for (const sink of sinks) sink(line)
  }
  const flush = (now: number, until: number) => {
    for (const { message, times } of folding.due(until)) {
      write({ ...message, time: now, message: `${message.message} [again, ${times} times]`, cause: undefined })
    }
  }
  const clock = yield* Clock.Clock
  const now = () => clock.currentTimeMillisUnsafe()
  // Not the time of day: set back, it would keep a window open for as long.
  const passed = () => Number(clock.monotonicTimeNanosUnsafe()) / 1e6
  yield* Effect.addFinalizer(() => Effect.sync(() => flush(now(), Number.POSITIVE_INFINITY)))
  yield* Effect.sync(() => flush(now(), passed())).pipe(Effect.repeat(Schedule.spaced("5 seconds")), Effect.forkScoped)
  return Logger.make((event) => {
    const line = toLine(event, secrets)
    if (!inner && LogLine.isInner(line)) return
    flush(line.time, passed())
    if (folding.admit(LogLine.identity(line), line, passed())) write(line)
  })
})

const toLine = (event: Logger.Options<unknown>, secrets: KnownSecrets["Service"]): LogLine.LogLine => {
  const parts = Array.isArray(event.message) ? event.message : [event.message]
  const words = parts.filter((part) => !Predicate.isObject(part) || Predicate.isError(part)).map(String)
  const details: ReadonlyArray<object> = parts.filter((part) => Predicate.isObject(part) && !Predicate.isError(part))
  const fields = secrets.value(Object.assign({}, event.fiber.getRef(References.CurrentLogAnnotations), ...details))
  return {
    level: levelOf(event.logLevel),
    time: event.date.getTime(),
    message: LogLine.cut(secrets.text(words.join(" "))),
    fields: Predicate.isObject(fields) ? { ...fields } : {},
    cause: event.cause.reasons.length === 0 ? undefined : LogLine.cut(secrets.text(Cause.pretty(event.cause)))
  }
}

const levelOf = (level: LogLevel.LogLevel): LogLine.Level => {
  switch (level) {
    case "Fatal":
      return "fatal"
    case "Error":
      return "error"
    case "Warn":
      return "warn"
    case "Debug":
      return "debug"
    case "Trace":
    case "All":
      return "trace"
    default:
      return "info"
  }
}

const timeOfDay = (millis: number): string =>
  DateTime.formatIso(DateTime.makeUnsafe(millis)).slice("2026-01-01T".length, "2026-01-01T00:00:00".length)
