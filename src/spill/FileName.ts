/** Where outputs that were moved to files lie below the managed files, and how they are named. */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import type { DataDirectory } from "../storage/DataDirectory.ts"
import { filesFolder } from "../storage/DataDirectory.ts"

/** The folder of these outputs. `subdir` is `[tools.tool_output_spill].subdir`. */
export const folder = (directory: DataDirectory["Service"], subdir: string): string =>
  directory.file(`${filesFolder}/${subdir}`)

/** A new name, which nobody can guess. */
export const make = (tool: string, extension: "json" | "txt"): Effect.Effect<string> =>
  Effect.map(random, (id) => `tool-${tool}-${id}.${extension}`)

/** What a file is called until all of it is written. */
export const unfinished = (name: string): string => `.${name}${unfinishedEnd}`

/** Whether a file is not written to its end: left out of backups. */
export const isUnfinished = (name: string): boolean => name.endsWith(unfinishedEnd)

/** Whether it is one of these, finished or not; a person's own file beside them is none. */
export const isOurs = (name: string): boolean => ours.test(name)

const unfinishedEnd = ".unfinished"
const letters = "0123456789abcdefghjkmnpqrstvwxyz"
const length = 16
const ours = new RegExp(`^\\.?tool-[^/]+-[${letters}]{${length}}\\.(json|txt)(\\.unfinished)?$`)

const random = Effect.map(Effect.replicateEffect(Random.nextIntBetween(0, letters.length - 1), length), (picks) =>
  picks.map((pick) => letters.charAt(pick)).join("")
)
