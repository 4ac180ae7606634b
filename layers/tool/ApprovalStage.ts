/** Asks a person before a call that needs it goes on. */
import * as Effect from "effect/Effect"
import type * as Approvals from "../../src/approval/Approvals.ts"
import * as Display from "../../src/tool/Display.ts"
import * as ToolError from "../../src/tool/ToolError.ts"
import type { Invocation, Stage } from "./Invocation.ts"
import type * as Running from "./Running.ts"

export const make =
  (approvals: Approvals.Approvals["Service"], running: Running.Running): Stage =>
  (invocation, inner) =>
    approvals.required(invocation.registration.tool.name)
      ? Effect.flatMap(ask(approvals, running, invocation), (outcome) =>
          outcome === "approved" ? inner : Effect.fail(denied(invocation, outcome))
        )
      : inner

const ask = (
  approvals: Approvals.Approvals["Service"],
  running: Running.Running,
  invocation: Invocation
) => {
  const { call, parameters, registration: { tool }, tools } = invocation
  const asking = approvals.ask(tools.scope, { callId: call.callId, tool: tool.name, detail: Display.question(parameters) })
  // Nothing of an atomic tool has begun yet, so its caller may still interrupt the wait; only `cancel` is not for it.
  return tool.cancellation === "atomic" ? asking : running.interruptibly(invocation, asking)
}

const denied = (invocation: Invocation, reason: Exclude<Approvals.Outcome, "approved">): ToolError.ToolDenied =>
  new ToolError.ToolDenied({ tool: invocation.registration.tool.name, reason })
