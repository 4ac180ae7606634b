/** The one text of a JSON value, whatever order its keys were written in: what is compared in place of the value. */
import type * as Schema from "effect/Schema"

export const text = (json: Schema.Json): string => JSON.stringify(sorted(json))

const sorted = (json: Schema.Json): Schema.Json => {
  if (typeof json !== "object" || json === null) return json
  if (isArray(json)) return json.map(sorted)
  return Object.fromEntries(
    Object.entries(json)
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([key, value]) => [key, sorted(value)])
  )
}

const isArray = (json: object): json is ReadonlyArray<Schema.Json> => Array.isArray(json)
