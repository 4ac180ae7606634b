/** Gives turns the files that patches are applied to. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import { Settings } from "../../src/config/Settings.ts"
import { Workspace } from "../../src/file/Workspace.ts"
import { FsPatch } from "../../src/patch/PatchFiles.ts"
import { Grants } from "../../src/tool/Capability.ts"

export const grants: Layer.Layer<never, never, Workspace | Grants | Settings | Path.Path> = Layer.effectDiscard(
  Effect.gen(function* () {
    const { apply_patch } = (yield* Settings).tools
    const { reading, writing } = (yield* Workspace).at({
      root: (yield* Path.Path).resolve(apply_patch.workspace_root),
      allowOutside: !apply_patch.restrict_to_workspace || apply_patch.allow_outside_workspace,
      // A folder of people's projects, not of the runtime's own.
      ownerOnly: false
    })
    yield* (yield* Grants).register(FsPatch, () => Effect.succeed({ reading, writing }))
  })
)
