/** Times as a model writes them: ISO 8601, in UTC where nothing else is said. */
import * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"

/** Unix milliseconds. A date alone is its first moment, or its last one where `end` asks for it. */
export const parse = (text: string, end: "first" | "last" = "first"): Option.Option<number> => {
  const match = iso.exec(text.trim())
  const [, date, time, zone] = match ?? []
  if (date === undefined || !isDay(date)) return Option.none()
  const moment = time === undefined ? (end === "first" ? "00:00" : "23:59:59.999") : time.replace(",", ".")
  const offset = zone === undefined ? "Z" : zone.length === 3 ? `${zone}:00` : zone
  return Option.map(DateTime.make(`${date}T${moment}${offset}`), DateTime.toEpochMillis)
}

const iso = /^(\d{4}-\d{2}-\d{2})(?:[Tt ](\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?) ?([Zz]|[+-]\d{2}(?::?\d{2})?)?)?$/

/** JavaScript takes 30 February for 1 March. */
const isDay = (date: string): boolean =>
  Option.match(DateTime.make(`${date}T00:00:00Z`), {
    onNone: () => false,
    onSome: (day) => DateTime.formatIsoDateUtc(day) === date
  })
