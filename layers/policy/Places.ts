/**
 * Where the paths of actions lie. A path may be written from the root of the files or from the top, and a rule as well: both
 * forms are looked at.
 */
import * as path from "node:path"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { Settings } from "../../src/config/Settings.ts"
import * as ManagedRoot from "../../src/file/ManagedRoot.ts"
import type * as Action from "../../src/policy/Action.ts"
import { DataDirectory } from "../../src/storage/DataDirectory.ts"

export interface Places {
  /** All forms of a path that a call of the tool gives. `from`: the folder it is written from, the root when undefined. */
  readonly formsOf: (tool: string, written: string, from?: string) => ReadonlyArray<string>
}

export const make = Effect.gen(function* () {
  const settings = yield* Settings
  const files = yield* FileSystem.FileSystem
  /** The root as it is written, and without links. */
  const rootOf = (written: string) => {
    const root = path.resolve(written)
    return Effect.map(
      Effect.orElseSucceed(files.realPath(root), () => root),
      (real) => ({ root, roots: [...new Set([root, real])] })
    )
  }
  const managed = yield* rootOf(ManagedRoot.of(settings, yield* DataDirectory))
  const patched = yield* rootOf(settings.tools.apply_patch.workspace_root)
  const places: Places = {
    formsOf: (tool, written, from) => {
      const { root, roots } = tool === "apply_patch" ? patched : managed
      const absolute = path.resolve(root, from ?? "", written).normalize("NFC")
      const below = roots.flatMap((one) => {
        const relative = path.relative(one, absolute)
        return relative === ".." || relative.startsWith("../") ? [] : [relative]
      })
      return [...new Set([absolute, ...below])]
    }
  }
  return places
})

/** The action with every form of its paths. */
export const placed = ({ formsOf }: Places, tool: string, action: Action.Action, from?: string): Action.Action => {
  switch (action._tag) {
    case "File":
      return action.path === null ? action : { ...action, forms: formsOf(tool, action.path, from) }
    case "Run":
      return {
        ...action,
        forms: action.words
          .flatMap((word) => (word === null ? [] : pathsIn(word)))
          .flatMap((one) => formsOf(tool, one, from))
      }
    default:
      return action
  }
}

/** The word, and what stands behind the sign of an option such as `--file=x`. */
const pathsIn = (word: string): ReadonlyArray<string> => {
  if (word === "" || word.length > 4_096) return []
  const behind = word.slice(word.indexOf("=") + 1)
  return behind === "" || behind === word ? [word] : [word, behind]
}
