/** How outputs that were moved to files are named. */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"

/** A new name, which nobody can guess. */
export const make = (tool: string, extension: "json" | "txt"): Effect.Effect<string> =>
  Effect.map(random, (id) => `tool-${tool}-${id}.${extension}`)

/** Whether it is one of these; a person's own file beside them is none. */
export const isOurs = (name: string): boolean => ours.test(name)

const letters = "0123456789abcdefghjkmnpqrstvwxyz"
const length = 16
/** What `random` makes, as a regular expression. */
export const randomPattern = `[${letters}]{${length}}`
const ours = new RegExp(`^tool-[^/]+-${randomPattern}\\.(json|txt)$`)

/** Letters and digits that nobody can guess. */
export const random = Effect.map(
  Effect.replicateEffect(Random.nextIntBetween(0, letters.length - 1), length),
  (picks) => picks.map((pick) => letters.charAt(pick)).join("")
)
