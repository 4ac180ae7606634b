/** Notes that a call has read what others wrote, whatever came of it: words of errors are content too. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as EventBus from "../../src/event/EventBus.ts"
import * as PolicyMetrics from "../../src/policy/PolicyMetrics.ts"
import * as Display from "../../src/tool/Display.ts"
import type { Invocation, Stage } from "./Invocation.ts"

export const make =
  (bus: EventBus.EventBus["Service"]): Stage =>
  (invocation, inner) =>
    invocation.registration.tool.content === "own"
      ? inner
      : Effect.onExit(inner, (exit) => (isCut(exit) ? Effect.void : note(bus, invocation)))

/** A call that its caller has left tells nobody anything. */
const isCut = (exit: Exit.Exit<unknown, unknown>): boolean =>
  Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause)

const note = (bus: EventBus.EventBus["Service"], { call, registration, shown, tools }: Invocation) =>
  Effect.suspend(() => {
    const { channel, chat, threadId, turnId } = tools.scope
    const tool = Display.name(registration.tool.name)
    const what = Display.line(registration.tool, shown)
    const first = tools.reading.all().length === 0
    tools.reading.add(call.parentCallId === undefined ? [call.callId] : [call.callId, call.parentCallId], {
      tool,
      what
    })
    return Effect.andThen(
      PolicyMetrics.tainted(tool),
      first
        ? bus.publish({ _tag: "TurnTainted", threadId, turnId, channel, chat, callId: call.callId, tool, what })
        : Effect.void
    )
  })
