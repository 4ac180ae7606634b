/**
 * The kinds of value a settings file may hold. Each is a schema whose encoded side is what TOML can carry (quoted
 * numbers and booleans included, so that `port = "${PORT}"` works) and whose decoded side is what the program uses.
 * Every one carries an `expected` annotation, the words used in error messages and in the reference tables, and one that says
 * what of it may be shown: nothing is shown of a kind without it.
 */
import * as ByteSizes from "effect/ByteSize"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import * as SchemaTransformation from "effect/SchemaTransformation"
import * as HostPattern from "../http/HostPattern.ts"
import * as Document from "./Document.ts"
import * as Shown from "./Shown.ts"
import * as ToolName from "../tool/ToolName.ts"
import * as ToolPattern from "./ToolPattern.ts"

// ---------------------------------------------------------------------------------------------------------------------
// Numbers and switches

/** `true` or `false`, also quoted. Also understands yes/no, on/off and 1/0 in quotes, since that is what environments hold. */
export const Bool = value({
  expected: "true or false",
  from: Schema.Union([Schema.Boolean, Schema.String]),
  to: Schema.Boolean,
  decode: (input) => (typeof input === "boolean" ? Option.some(input) : parseBool(input)),
  encode: (output) => output
})

/** Any finite number within bounds, also quoted. */
export const NumberBetween = (minimum: number, maximum: number) =>
  number(`a number from ${minimum} to ${maximum}`, (n) => n >= minimum && n <= maximum)

/** A part of a whole, also quoted. */
export const Ratio = number("a number above 0 and at most 1", (n) => n > 0 && n <= 1)

/** A whole number within bounds, also quoted. */
export const IntBetween = (minimum: number, maximum: number) =>
  number(`a whole number from ${minimum} to ${maximum}`, (n) => Number.isSafeInteger(n) && n >= minimum && n <= maximum)

/** A whole number of at least 1, also quoted. */
export const PositiveInt = number("a whole number of at least 1", (n) => Number.isSafeInteger(n) && n > 0)

/** A whole number of at least 0, also quoted. */
export const NonNegativeInt = number("a whole number of at least 0", (n) => Number.isSafeInteger(n) && n >= 0)

/** A TCP port; 0 asks the system for a free one. */
export const Port = IntBetween(0, 65535)

// ---------------------------------------------------------------------------------------------------------------------
// Amounts with a unit

/**
 * A length of time greater than zero: a number of seconds (fractions allowed), or a string such as `"2 minutes"` or
 * `"500 millis"`. Decodes to a `Duration` that a timer of the system can wait for. Keys holding one end in `_seconds`.
 */
export const Seconds = value({
  expected: `seconds (more than 0, at most 24 days), or a duration such as "2 minutes"`,
  from: Schema.Union([Schema.Number, Schema.String]),
  to: Schema.Duration,
  decode: (input) =>
    Option.filter(
      typeof input === "number" ? secondsToDuration(input) : parseDuration(input),
      (duration) => Duration.toMillis(duration) > 0
    ),
  encode: (output) => Duration.toSeconds(output)
})

/**
 * A size in bytes greater than zero: a whole number, or a string with a unit. `16KB` is 16 000 (decimal units),
 * `2MiB` is 2 097 152 (binary units carry an `i`); the case of the letters does not matter. Decodes to a safe integer.
 */
export const ByteSize = value({
  expected: `bytes (a whole number of at least 1), or a size such as "10MB" or "2MiB"`,
  from: Schema.Union([Schema.Number, Schema.String]),
  to: Schema.Number,
  decode: (input) =>
    Option.filter(
      typeof input === "number" ? Option.some(input) : parseByteSize(input),
      (bytes) => Number.isSafeInteger(bytes) && bytes > 0
    ),
  encode: formatByteSize
})

// ---------------------------------------------------------------------------------------------------------------------
// Text

/** Text, kept as it is. */
export const Text = Schema.String.annotate({ expected: "text", [Shown.shownKey]: Shown.whole })

/** Text with at least one visible character; surrounding white space is dropped. */
export const NonEmptyText = text("text that is not empty", (trimmed) => trimmed !== "")

/** A name: trimmed and lower-cased, so that it can be compared. */
export const LowerCaseName = value({
  expected: "a name",
  from: Schema.String,
  to: Schema.String,
  decode: (input) => Option.filter(Option.some(input.trim().toLowerCase()), (name) => name !== ""),
  encode: (output) => output
})

/** One of a fixed set of lower-case words; the case of what is written does not matter. */
export const Choice = <const Words extends ReadonlyArray<string>>(words: Words) =>
  value({
    expected: `${words.length === 1 ? "" : "one of "}${words.map((word) => `"${word}"`).join(", ")}`,
    from: Schema.String,
    to: Schema.Literals(words),
    decode: (input): Option.Option<Words[number]> => {
      const normal = input.trim().toLowerCase()
      return Option.fromUndefinedOr(words.find((word) => word.toLowerCase() === normal))
    },
    encode: (output): string => output
  })

/** A path of a file or folder. What no system takes in a path, or would write on a terminal, is refused. */
export const FilePath = refusing("a path", (path) => (path === "" ? Document.kindOf(path) : unprintable(path)))

/** The same, or `""` for none. */
export const OptionalFilePath = refusing("a path, or an empty text", unprintable)

/** Where a server listens: an address, or a name to look up. */
export const Host = text("an IP address or the name of a host, without a port", isHost)

/** An `http` or `https` address with a host. Credentials inside the address are refused: they would be shown and logged. */
export const HttpUrl = text(
  "an http:// or https:// address, without a user name or password in it",
  isHttpUrl
).annotate({
  [Shown.shownKey]: Shown.address
})

/** Where a web page comes from, as browsers say it: normalised, so that it can be compared. */
export const Origin = value({
  expected: 'an origin such as "https://example.org": scheme, host and port, without a path',
  from: Schema.String,
  to: Schema.String,
  decode: (input) => Option.fromUndefinedOr(originOf(input.trim())),
  encode: (output) => output,
  found: (input) =>
    input.trim() === "*"
      ? '"*", which would let every page in'
      : isHttpUrl(input.trim())
        ? "an address with more than scheme, host and port in it"
        : undefined
})

/** A list of origins. */
export const Origins = Schema.Array(Origin).annotate({ expected: "a list of origins" })

/** Patterns of hosts, trimmed. See `HostPattern.parse`. */
export const HostPatterns = Schema.Array(
  text(
    'a host, address or network, such as "example.org", "*.example.org", "10.0.0.0/8" or "localhost:8080"',
    (trimmed) => HostPattern.parse(trimmed) !== undefined
  )
).annotate({ expected: "a list of hosts, addresses or networks" })

/** What clients of the OpenAI protocol can give as a model, also in an address. */
export const ModelId = text(
  "a name of at most 64 letters, digits, dots, hyphens and underscores, with a letter or digit at its beginning",
  (trimmed) => /^[\p{L}\p{N}][\p{L}\p{M}\p{N}._-]{0,63}$/u.test(trimmed)
)

/** A folder below another one: relative, with no `..` in it. */
export const RelativeFolder = text('a relative folder path without ".."', isRelativeFolder)

/**
 * Secrets must never be shown. They decode to a `Redacted`, which prints as `<redacted>`; `""` means "not given". All of them
 * are sent in a header, where a line break would begin another one.
 */

/** A key or token, sent after the word `Bearer`. */
export const Token = secret(
  "visible ASCII characters without spaces (kept secret)",
  (text) => unsendable(text) ?? (text.includes(" ") ? "a text with a space in it" : undefined)
)

/** The whole value of a header. */
export const HeaderValue = secret("ASCII characters of one line (kept secret)", unsendable)

/** A list of names, as `LowerCaseName` takes them. */
export const Names = Schema.Array(LowerCaseName).annotate({ expected: "a list of names" })

/** A list of texts, none of them empty. */
export const TextList = Schema.Array(NonEmptyText).annotate({ expected: "a list of texts" })

/** Files and folders by their whole paths. */
export const AbsolutePaths = Schema.Array(
  text("a path from the root of the file system", (path) => /^(\/|[A-Za-z]:[\\/])/.test(path) && !/\p{Cc}/u.test(path))
).annotate({ expected: "a list of paths that begin at the root" })

/**
 * Patterns of tool names, trimmed: `*` any run of characters, `?` one character, `[a-z]` one of a set, `[!a-z]` one not in the
 * set; case matters. Names of tools that no longer exist are refused. See `ToolPattern.compile` for matching.
 */
export const ToolPatterns = Schema.Array(toolPattern()).annotate({
  expected: 'a list of tool names or patterns such as "memory_*"'
})

// ---------------------------------------------------------------------------------------------------------------------
// Helpers

/** What a failed value says: the words for "expected", and optionally what to do and what was found. Never the value itself. */
function invalid(expected: string, notes: { readonly hint?: string; readonly found?: string } = {}): SchemaIssue.Issue {
  return new SchemaIssue.InvalidValue({ expected, ...notes })
}

/** A schema in one step: decoding answers `None` for anything that is not allowed, and `expected` says what is. */
function value<From, To>(options: {
  readonly expected: string
  readonly from: Schema.Codec<From>
  readonly to: Schema.Codec<To>
  readonly decode: (input: From) => Option.Option<To>
  readonly encode: (output: To) => From
  /** What was found, where its kind alone does not say what is wrong with it. Never the value itself. */
  readonly found?: (input: From) => string | undefined
}) {
  return options.from
    .pipe(
      Schema.decodeTo(
        options.to,
        SchemaTransformation.transformEffect({
          decode: (input: From) =>
            Option.match(options.decode(input), {
              onNone: () => {
                const found = options.found?.(input)
                return Effect.fail(invalid(options.expected, found === undefined ? {} : { found }))
              },
              onSome: (output) => Effect.succeed(output)
            }),
          encode: (output: To) => Effect.succeed(options.encode(output))
        })
      )
    )
    .annotate({ expected: options.expected, [Shown.shownKey]: Shown.whole })
}

function number(expected: string, allowed: (n: number) => boolean) {
  return value({
    expected,
    from: Schema.Union([Schema.Number, Schema.String]),
    to: Schema.Number,
    decode: (input) =>
      Option.filter(
        typeof input === "number" ? Option.some(input) : parseNumber(input),
        (n) => Number.isFinite(n) && allowed(n)
      ),
    encode: (output) => output
  })
}

function text(expected: string, allowed: (trimmed: string) => boolean) {
  return value({
    expected,
    from: Schema.String,
    to: Schema.String,
    decode: (input) => Option.filter(Option.some(input.trim()), allowed),
    encode: (output) => output
  })
}

/** Text that is refused for what `wrong` says was found in it. */
function refusing(expected: string, wrong: (trimmed: string) => string | undefined) {
  return Schema.String.pipe(
    Schema.decodeTo(
      Schema.String,
      SchemaTransformation.transformEffect({
        decode: (input: string) => checked(input, expected, wrong),
        encode: (output: string) => Effect.succeed(output)
      })
    )
  ).annotate({ expected, [Shown.shownKey]: Shown.whole })
}

function secret(expected: string, wrong: (trimmed: string) => string | undefined) {
  return Schema.String.pipe(
    Schema.decodeTo(
      Schema.Redacted(Schema.String),
      SchemaTransformation.transformEffect({
        decode: (input: string) => Effect.map(checked(input, expected, wrong), Redacted.make),
        encode: (output: Redacted.Redacted) => Effect.succeed(Redacted.value(output))
      })
    )
  ).annotate({ expected, [Shown.shownKey]: Shown.nothing })
}

function checked(input: string, expected: string, wrong: (trimmed: string) => string | undefined) {
  const trimmed = input.trim()
  const found = wrong(trimmed)
  return found === undefined ? Effect.succeed(trimmed) : Effect.fail(invalid(expected, { found }))
}

function unprintable(text: string): string | undefined {
  if (/[\r\n]/.test(text)) return "a text with a line break in it"
  return /\p{Cc}/u.test(text) ? "a text with a control character in it" : undefined
}

function unsendable(text: string): string | undefined {
  return unprintable(text) ?? (/^[\x20-\x7e]*$/.test(text) ? undefined : "a text with a character outside ASCII in it")
}

function isHost(input: string): boolean {
  const name = /^[A-Za-z0-9_.-]+$/
  // At least two colons: one would be the beginning of a port.
  const ipv6 = /^[0-9A-Fa-f]*:[0-9A-Fa-f]*:[0-9A-Fa-f:.]*(%[A-Za-z0-9_.-]+)?$/
  return name.test(input) || ipv6.test(input)
}

function toolPattern() {
  const expected = 'a tool name or a pattern such as "memory_*"'
  return Schema.String.pipe(
    Schema.decodeTo(
      Schema.String,
      SchemaTransformation.transformEffect({
        decode: (input: string) => {
          const pattern = input.trim()
          if (pattern === "") return Effect.fail(invalid(expected))
          const hint = goneSince(pattern)
          return hint === undefined ? Effect.succeed(pattern) : Effect.fail(invalid("a tool that exists", { hint }))
        },
        encode: (output: string) => Effect.succeed(output)
      })
    )
  ).annotate({ expected, [Shown.shownKey]: Shown.whole })
}

/** What became of a tool that went by this name, if none does today: a pattern would match nothing, and say nothing. */
function goneSince(name: string): string | undefined {
  const parts = ToolPattern.removedTools.get(name)
  if (parts !== undefined) return `that tool was split up; name its parts: ${parts.join(", ")}`
  const today = ToolName.canonical(name)
  return today === name ? undefined : `that tool is called ${today} now`
}

function parseBool(input: string): Option.Option<boolean> {
  switch (input.trim().toLowerCase()) {
    case "true":
    case "yes":
    case "on":
    case "1":
      return Option.some(true)
    case "false":
    case "no":
    case "off":
    case "0":
      return Option.some(false)
    default:
      return Option.none()
  }
}

const decimal = /^[+-]?\d+(\.\d+)?$/

/** Decimal notation only: `Number` alone would also take `""`, `0x10` and `1e3`. */
function parseNumber(input: string): Option.Option<number> {
  const trimmed = input.trim()
  return decimal.test(trimmed) ? Option.some(Number(trimmed)) : Option.none()
}

/** Node's timers hold 31 bits of milliseconds, 24.8 days, and end at once when asked for more. */
const longestSeconds = 24 * 86_400

function secondsToDuration(seconds: number): Option.Option<Duration.Duration> {
  return seconds > 0 && seconds <= longestSeconds ? Option.some(Duration.seconds(seconds)) : Option.none()
}

const durationText = /^(\d+(?:\.\d+)?)\s*(milli|second|minute|hour|day|week)s?$/
const secondsPerUnit: Readonly<Record<string, number>> = {
  milli: 0.001,
  second: 1,
  minute: 60,
  hour: 3600,
  day: 86_400,
  week: 604_800
}

function parseDuration(input: string): Option.Option<Duration.Duration> {
  const trimmed = input.trim().toLowerCase()
  const match = durationText.exec(trimmed)
  const unit = match?.[2] === undefined ? undefined : secondsPerUnit[match[2]]
  return unit === undefined
    ? Option.flatMap(parseNumber(trimmed), secondsToDuration)
    : secondsToDuration(Number(match?.[1]) * unit)
}

const sized = /^(\d+(?:\.\d+)?)\s*([a-z]+)$/i

/** Decides only how units are written; the arithmetic is `effect/ByteSize`'s, exact and with fractions refused. */
function parseByteSize(input: string): Option.Option<number> {
  const match = sized.exec(input.trim())
  if (match === null) return parseNumber(input)
  const [, amount, unit] = match
  return Option.map(ByteSizes.fromString(`${amount} ${unitSymbol(unit ?? "")}`), Number)
}

function unitSymbol(written: string): string {
  const letters = written.toUpperCase()
  if (letters === "KB") return "kB"
  return letters.length === 3 && letters.charAt(1) === "I" ? `${letters.charAt(0)}i${letters.charAt(2)}` : letters
}

/** The largest unit that says it exactly, as people write sizes; a bare number where no unit fits. */
function formatByteSize(bytes: number): number | string {
  const units: ReadonlyArray<readonly [string, number]> = [
    ["GB", 1e9],
    ["GiB", 2 ** 30],
    ["MB", 1e6],
    ["MiB", 2 ** 20],
    ["KB", 1e3],
    ["KiB", 2 ** 10]
  ]
  const unit = units.find(([, size]) => bytes >= size && bytes % size === 0)
  return unit === undefined ? bytes : `${bytes / unit[1]}${unit[0]}`
}

function isHttpUrl(input: string): boolean {
  if (!URL.canParse(input)) return false
  const url = new URL(input)
  return (
    (url.protocol === "http:" || url.protocol === "https:") &&
    url.hostname !== "" &&
    url.username === "" &&
    url.password === ""
  )
}

function originOf(input: string): string | undefined {
  if (!isHttpUrl(input) || /[?#*\s,]/.test(input)) return undefined
  const url = new URL(input)
  return url.pathname === "/" ? url.origin : undefined
}

function isRelativeFolder(input: string): boolean {
  const absolute = /^([/\\]|[A-Za-z]:)/.test(input)
  return input !== "" && !absolute && !input.includes("\0") && !input.split(/[/\\]/).includes("..")
}
