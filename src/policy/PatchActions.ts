/** What a patch would do, as actions. */
import * as Result from "effect/Result"
import type * as Patch from "../patch/Patch.ts"
import * as PatchParser from "../patch/PatchParser.ts"
import * as Action from "./Action.ts"

/** None for a text that is no patch: it will be refused, and nothing is done. */
export const of = (text: string): ReadonlyArray<Action.Action> =>
  Result.match(PatchParser.parse(text), { onFailure: () => [], onSuccess: (sections) => sections.flatMap(ofSection) })

const ofSection = (section: Patch.Section): ReadonlyArray<Action.Action> => {
  switch (section._tag) {
    case "Add":
      return [Action.file("write", section.path)]
    case "Delete":
      return [Action.file("delete", section.path)]
    case "Update":
      return section.moveTo === undefined
        ? [Action.file("write", section.path)]
        : [Action.file("delete", section.path), Action.file("write", section.moveTo)]
  }
}
