/** The files that patches are applied to: those below `[tools.apply_patch].workspace_root`, which may be other than the managed ones. */
import type { Reading, Writing } from "../file/Workspace.ts"
import * as Capability from "../tool/Capability.ts"
import type { ToolCallContext } from "../tool/ToolContext.ts"

/** `R`: what tells who changes them. */
export interface PatchedFiles<R> {
  readonly reading: Reading
  readonly writing: Writing<R>
}

/**
 * The capability to read and change the files below the root of patches. One of its own, since `FsWrite` stands for the managed files:
 * an agent that has one of them does not have the other.
 */
export class FsPatch extends Capability.Service<FsPatch, PatchedFiles<ToolCallContext>>()("FsPatch") {}
