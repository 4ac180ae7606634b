/** Asks a person before a call that needs it goes on. */
import * as Effect from "effect/Effect"
import type * as Approvals from "../../src/approval/Approvals.ts"
import * as Display from "../../src/tool/Display.ts"
import type * as Tool from "../../src/tool/Tool.ts"
import * as ToolError from "../../src/tool/ToolError.ts"
import type { Invocation, Stage } from "./Invocation.ts"
import type * as Running from "./Running.ts"

export const make =
  (approvals: Approvals.Approvals["Service"], running: Running.Running): Stage =>
  (invocation, inner) =>
    invocation.verdict.decision === "ask"
      ? Effect.flatMap(ask(approvals, running, invocation), (outcome) =>
          outcome === "approved" ? inner : Effect.fail(denied(invocation, outcome))
        )
      : inner

const ask = (approvals: Approvals.Approvals["Service"], running: Running.Running, invocation: Invocation) => {
  const {
    call,
    shown,
    registration: { tool },
    tools
  } = invocation
  const asking = running.interruptibly(
    invocation,
    approvals.ask(tools.scope, { callId: call.callId, tool: tool.name, detail: Display.question(shown) })
  )
  // Nothing of an atomic tool has begun yet, so the question can be withdrawn; but that it was cancelled is not its to say.
  return tool.cancellation === "atomic"
    ? Effect.catchIf(asking, isCancelled, () => Effect.succeed("cancelled" as const))
    : asking
}

const isCancelled = (failure: Tool.Failure): failure is ToolError.ToolCancelled =>
  failure instanceof ToolError.ToolCancelled

const denied = (invocation: Invocation, reason: Exclude<Approvals.Outcome, "approved">): ToolError.ToolDenied =>
  new ToolError.ToolDenied({ tool: invocation.registration.tool.name, reason })
