/**
 * Writing a moment in strftime notation, in UTC and with English names: the directives of POSIX and Python, and `%-d` for
 * a number without padding.
 */
import * as DateTime from "effect/DateTime"
import * as Result from "effect/Result"

/** The text, or the directive that is not known. */
export const format = (moment: DateTime.Utc, pattern: string): Result.Result<string, string> => {
  const fields = fieldsOf(moment)
  let text = ""
  let from = 0
  for (const { 0: directive, index } of pattern.matchAll(/%(?:-?.|-?$)/gsu)) {
    const written = write(fields, directive)
    if (written === undefined) return Result.fail(directive)
    text += pattern.slice(from, index) + written
    from = index + directive.length
  }
  return Result.succeed(text + pattern.slice(from))
}

/** The directives that `format` knows, as they are written. */
export const directives = (): ReadonlyArray<string> => Array.from(writers.keys(), (letter) => `%${letter}`)

// ---------------------------------------------------------------------------------------------------------------------
// Helpers

interface Fields {
  readonly year: number
  /** From 1. */
  readonly month: number
  readonly day: number
  readonly hour: number
  readonly minute: number
  readonly second: number
  readonly millis: number
  /** 0 is Sunday. */
  readonly weekDay: number
  /** From 1. */
  readonly dayOfYear: number
  readonly epochMillis: number
}

const dayMillis = 86_400_000

const fieldsOf = (moment: DateTime.Utc): Fields => {
  const parts = DateTime.toPartsUtc(moment)
  const newYear = DateTime.toEpochMillis(DateTime.startOf(moment, "year"))
  const epochMillis = DateTime.toEpochMillis(moment)
  return {
    year: parts.year,
    month: parts.month,
    day: parts.day,
    hour: parts.hour,
    minute: parts.minute,
    second: parts.second,
    millis: parts.millisecond,
    weekDay: parts.weekDay,
    dayOfYear: Math.floor((epochMillis - newYear) / dayMillis) + 1,
    epochMillis
  }
}

const weekDays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
const months = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December"
]

const weekDayName = ({ weekDay }: Fields): string => weekDays[weekDay] ?? ""
const monthName = ({ month }: Fields): string => months[month - 1] ?? ""
const short = (name: string): string => name.slice(0, 3)
const padded = (value: number, width: number, fill = "0"): string => String(value).padStart(width, fill)
const halfDay = (hour: number): number => (hour % 12 === 0 ? 12 : hour % 12)

/** The week of the year, counted from the first Sunday (0) or Monday (1); the days before it are week 0. */
const weekFrom = ({ dayOfYear, weekDay }: Fields, firstDay: 0 | 1): number =>
  Math.floor((dayOfYear + 6 - ((weekDay - firstDay + 7) % 7)) / 7)

/** The ISO week: that of its Thursday, which also tells the year it belongs to. */
const isoWeek = (fields: Fields): { readonly year: number; readonly week: number } => {
  const toThursday = 4 - (fields.weekDay === 0 ? 7 : fields.weekDay)
  const day = fields.dayOfYear + toThursday
  const length = daysIn(fields.year)
  if (day < 1) return { year: fields.year - 1, week: Math.ceil((day + daysIn(fields.year - 1)) / 7) }
  return day > length
    ? { year: fields.year + 1, week: Math.ceil((day - length) / 7) }
    : { year: fields.year, week: Math.ceil(day / 7) }
}

const daysIn = (year: number): number => (year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 366 : 365)

const date = (fields: Fields): string =>
  `${padded(fields.month, 2)}/${padded(fields.day, 2)}/${padded(fields.year % 100, 2)}`
const time = (fields: Fields): string => `${minutes(fields)}:${padded(fields.second, 2)}`
const minutes = (fields: Fields): string => `${padded(fields.hour, 2)}:${padded(fields.minute, 2)}`

const writers: ReadonlyMap<string, (fields: Fields) => string> = new Map([
  ["a", (fields) => short(weekDayName(fields))],
  ["A", weekDayName],
  ["b", (fields) => short(monthName(fields))],
  ["B", monthName],
  [
    "c",
    (fields) =>
      `${short(weekDayName(fields))} ${short(monthName(fields))} ${padded(fields.day, 2, " ")} ${time(fields)} ${fields.year}`
  ],
  ["C", (fields) => padded(Math.floor(fields.year / 100), 2)],
  ["d", (fields) => padded(fields.day, 2)],
  ["D", date],
  ["e", (fields) => padded(fields.day, 2, " ")],
  ["f", (fields) => `${padded(fields.millis, 3)}000`],
  ["F", (fields) => `${padded(fields.year, 4)}-${padded(fields.month, 2)}-${padded(fields.day, 2)}`],
  ["g", (fields) => padded(isoWeek(fields).year % 100, 2)],
  ["G", (fields) => padded(isoWeek(fields).year, 4)],
  ["h", (fields) => short(monthName(fields))],
  ["H", (fields) => padded(fields.hour, 2)],
  ["I", (fields) => padded(halfDay(fields.hour), 2)],
  ["j", (fields) => padded(fields.dayOfYear, 3)],
  ["k", (fields) => padded(fields.hour, 2, " ")],
  ["l", (fields) => padded(halfDay(fields.hour), 2, " ")],
  ["m", (fields) => padded(fields.month, 2)],
  ["M", (fields) => padded(fields.minute, 2)],
  ["n", () => "\n"],
  ["p", (fields) => (fields.hour < 12 ? "AM" : "PM")],
  ["P", (fields) => (fields.hour < 12 ? "am" : "pm")],
  [
    "r",
    (fields) =>
      `${padded(halfDay(fields.hour), 2)}:${padded(fields.minute, 2)}:${padded(fields.second, 2)} ${fields.hour < 12 ? "AM" : "PM"}`
  ],
  ["R", minutes],
  ["s", (fields) => String(Math.floor(fields.epochMillis / 1000))],
  ["S", (fields) => padded(fields.second, 2)],
  ["t", () => "\t"],
  ["T", time],
  ["u", (fields) => String(fields.weekDay === 0 ? 7 : fields.weekDay)],
  ["U", (fields) => padded(weekFrom(fields, 0), 2)],
  ["V", (fields) => padded(isoWeek(fields).week, 2)],
  ["w", (fields) => String(fields.weekDay)],
  ["W", (fields) => padded(weekFrom(fields, 1), 2)],
  ["x", date],
  ["X", time],
  ["y", (fields) => padded(fields.year % 100, 2)],
  ["Y", (fields) => padded(fields.year, 4)],
  ["z", () => "+0000"],
  ["Z", () => "UTC"],
  ["%", () => "%"]
])

const write = (fields: Fields, directive: string): string | undefined => {
  const unpadded = directive.startsWith("%-")
  const text = writers.get(directive.slice(unpadded ? 2 : 1))?.(fields)
  return text === undefined || !unpadded ? text : text.replace(/^[0 ]+(?=\d)/, "")
}
