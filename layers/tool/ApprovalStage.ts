/** Asks a person before a call that needs it goes on. */
import * as Effect from "effect/Effect"
import type * as Approvals from "../../src/approval/Approvals.ts"
import * as Taint from "../../src/policy/Taint.ts"
import { isStorageUnavailable } from "../../src/storage/StorageError.ts"
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
          outcome === "approved" ? allowed(invocation, inner) : Effect.fail(denied(invocation, outcome))
        )
      : inner

const allowed = ({ call, tools }: Invocation, inner: ReturnType<Stage>) =>
  Effect.andThen(
    Effect.sync(() => tools.approved.add(call.callId)),
    inner
  )

const ask = (approvals: Approvals.Approvals["Service"], running: Running.Running, invocation: Invocation) => {
  const { call, parameters, registration, tools } = invocation
  const { tool } = registration
  const asking = running.interruptibly(
    invocation,
    // What could not be written down was not asked, and is not allowed.
    recorded(
      tool,
      Effect.flatMap(Effect.orDie(registration.normal(parameters)), (normal) =>
        approvals.ask(tools.scope, {
          callId: call.callId,
          tool: tool.name,
          parameters: normal,
          detail: detailOf(invocation)
        })
      )
    )
  )
  // Nothing of an atomic tool has begun yet, so the question can be withdrawn; but that it was cancelled is not its to say.
  return tool.cancellation === "atomic"
    ? Effect.catchIf(asking, isCancelled, () => Effect.succeed("cancelled" as const))
    : asking
}

/** Why comes first: a long argument cannot push it out of sight, and no argument can look like it. */
const detailOf = ({ shown, tools, verdict }: Invocation): string =>
  verdict.tainted === true
    ? `${Taint.reason(tools.reading.all())}\n${Display.question(shown)}`
    : Display.question(shown)

const recorded = <A>(tool: Tool.Any, asking: Effect.Effect<A>): Effect.Effect<A, ToolError.ToolRefused> =>
  Effect.catchDefect(asking, (defect) =>
    isStorageUnavailable(defect)
      ? Effect.fail(
          new ToolError.ToolRefused({
            tool: tool.name,
            code: "tool_approval:not_recorded",
            reason: `it needs a person's yes, which could not be written down (the store: ${defect.reason}), so it did not run`
          })
        )
      : Effect.die(defect)
  )

const isCancelled = (failure: Tool.Failure): failure is ToolError.ToolCancelled =>
  failure instanceof ToolError.ToolCancelled

const denied = (invocation: Invocation, reason: Exclude<Approvals.Outcome, "approved">): ToolError.ToolDenied =>
  new ToolError.ToolDenied({ tool: invocation.registration.tool.name, reason })
