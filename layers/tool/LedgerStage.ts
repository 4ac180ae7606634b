/** Writes down each call that acts outside and cannot be taken back: before it runs, and how it ended. */
import * as Effect from "effect/Effect"
import { FsRead, FsWrite } from "../../src/file/Workspace.ts"
import type { Ledger } from "../../src/ledger/Ledger.ts"
import { FsPatch } from "../../src/patch/PatchFiles.ts"
import type { StorageUnavailable } from "../../src/storage/StorageError.ts"
import * as Display from "../../src/tool/Display.ts"
import type * as Registration from "../../src/tool/Registration.ts"
import type * as Tool from "../../src/tool/Tool.ts"
import * as ToolError from "../../src/tool/ToolError.ts"
import type { Invocation, Stage } from "./Invocation.ts"

export const make =
  (ledger: Ledger["Service"]): Stage =>
  (invocation, inner) =>
    mayActOutside(invocation.registration.tool) ? recorded(ledger, invocation, inner) : inner

/** What is always safe to do again has no effect outside, and changes of files are written down by the files themselves. */
const mayActOutside = ({ capabilities, replay }: Tool.Any): boolean =>
  replay === "unknown" &&
  (capabilities.length === 0 || !capabilities.every(({ capability }) => ofFiles.has(capability)))

const ofFiles: ReadonlySet<string> = new Set([FsRead, FsWrite, FsPatch].map(({ capability }) => capability))

const recorded = Effect.fnUntraced(function* (
  ledger: Ledger["Service"],
  { call, parameters, registration, shown }: Invocation,
  inner: Effect.Effect<Registration.Output, Tool.Failure>
): Effect.fn.Return<Registration.Output, Tool.Failure> {
  // What may not be done again after a crash has one.
  if ((yield* registration.replay(parameters)) !== "unknown") return yield* inner
  const { tool } = registration
  const { callId, threadId, turnId } = call
  const line = Display.line(tool, shown)
  return yield* Effect.catchTag(
    ledger.around({ callId, threadId, turnId, tool: tool.name, line }, inner),
    "StorageUnavailable",
    (error) => Effect.fail(notRecorded(tool, error))
  )
})

const notRecorded = (tool: Tool.Any, { reason }: StorageUnavailable): ToolError.ToolRefused =>
  new ToolError.ToolRefused({
    tool: tool.name,
    code: "tool:not_recorded",
    reason: `it could not be written down that it is about to act (the store: ${reason}), so it did not`
  })
