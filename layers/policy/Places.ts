/**
 * Where the paths of actions lie. A path may be written from the root of the files or from the top, and a rule as well: both
 * forms are looked at.
 */
import * as path from "node:path"
import * as Effect from "effect/Effect"
import { Settings } from "../../src/config/Settings.ts"
import * as ManagedRoot from "../../src/file/ManagedRoot.ts"
import type * as Action from "../../src/policy/Action.ts"
import { DataDirectory } from "../../src/storage/DataDirectory.ts"
import * as RealPath from "./RealPath.ts"

/** Where paths lead, as far as one judgement has looked. */
export type Known = Map<string, string>

export interface Places {
  /** All forms of a path that a call of the tool gives. `from`: the folder it is written from, the root when undefined. */
  readonly formsOf: (known: Known, tool: string, written: string, from?: string) => Effect.Effect<ReadonlyArray<string>>
}

export const make = Effect.gen(function* () {
  const settings = yield* Settings
  /** Without links, as far as it exists. What is known in this judgement is not looked at twice. */
  const withoutLinks = (absolute: string, known: Known): Effect.Effect<string> => {
    const before = known.get(absolute)
    if (before !== undefined) return Effect.succeed(before)
    const found = Effect.catch(RealPath.of(absolute), () => {
      const above = path.dirname(absolute)
      return above === absolute
        ? Effect.succeed(absolute)
        : Effect.map(withoutLinks(above, known), (real) => path.join(real, path.basename(absolute)))
    })
    return Effect.map(found, (real) => {
      known.set(absolute, real)
      return real
    })
  }
  /** The root as it is written, and without links. */
  const rootOf = (written: string) => {
    const root = path.resolve(written)
    return Effect.map(withoutLinks(root, new Map()), (real) => ({ root, roots: [...new Set([root, real])] }))
  }
  const managed = yield* rootOf(ManagedRoot.of(settings, yield* DataDirectory))
  const patched = yield* rootOf(settings.tools.apply_patch.workspace_root)
  const aboutPaths = Object.values(settings.policy.rules).some(({ paths }) => paths.length > 0)
  const places: Places = {
    formsOf: Effect.fnUntraced(function* (known, tool, written, from) {
      const { root, roots } = tool === "apply_patch" ? patched : managed
      const absolute = path.resolve(root, from ?? "", written)
      const named = allForms(roots, absolute)
      // Where it leads costs a look at the disk: only rules about paths want to know.
      return aboutPaths ? [...new Set([...named, ...allForms(roots, yield* withoutLinks(absolute, known))])] : named
    })
  }
  return places
})

const allForms = (roots: ReadonlyArray<string>, written: string): ReadonlyArray<string> => {
  const absolute = written.normalize("NFC")
  const below = roots.flatMap((one) => {
    const relative = path.relative(one, absolute)
    return relative === ".." || relative.startsWith("../") ? [] : [relative]
  })
  return [...new Set([absolute, ...below])]
}

/** The action with every form of its paths, those where links lead among them. */
export const placed = (
  { formsOf }: Places,
  known: Known,
  tool: string,
  action: Action.Action,
  from?: string
): Effect.Effect<Action.Action> => {
  switch (action._tag) {
    case "File":
      return action.path === null
        ? Effect.succeed(action)
        : Effect.map(formsOf(known, tool, action.path, from), (forms) => ({ ...action, forms }))
    case "Run":
      return Effect.map(
        Effect.forEach(
          action.words.flatMap((word) => (word === null ? [] : pathsIn(word))),
          (one) => formsOf(known, tool, one, from)
        ),
        (forms) => ({ ...action, forms: [...new Set(forms.flat())] })
      )
    default:
      return Effect.succeed(action)
  }
}

/** The word, and what stands behind the sign of an option such as `--file=x`. */
const pathsIn = (word: string): ReadonlyArray<string> => {
  if (word === "" || word.length > 4_096) return []
  const behind = word.slice(word.indexOf("=") + 1)
  return behind === "" || behind === word ? [word] : [word, behind]
}
