/** Tells the event bus when a call begins and how it ends. */
import * as Effect from "effect/Effect"
import type * as EventBus from "../../src/event/EventBus.ts"
import type * as Ids from "../../src/Ids.ts"
import * as Display from "../../src/tool/Display.ts"
import type * as Tool from "../../src/tool/Tool.ts"
import type * as ToolContext from "../../src/tool/ToolContext.ts"

export interface Announced {
  readonly scope: ToolContext.TurnScope
  readonly callId: Ids.CallId
  readonly parentCallId: Ids.CallId | undefined
  readonly tool: string
  /** Safe to show. */
  readonly detail: string
  /** Masks what must not be shown of a failure's words. */
  readonly redact: (message: string) => string
}

/** `started` before, and exactly one of `completed` and `failed` after, also when the call is interrupted. */
export const around = <A>(
  bus: EventBus.EventBus["Service"],
  announced: Announced,
  effect: Effect.Effect<A, Tool.Failure>
): Effect.Effect<A, Tool.Failure> => {
  const publish = (phase: "started" | "completed" | "failed", detail: string, error?: string) =>
    bus.publish({
      _tag: "ToolCall",
      threadId: announced.scope.threadId,
      turnId: announced.scope.turnId,
      channel: announced.scope.channel,
      chat: announced.scope.chat,
      phase,
      callId: announced.callId,
      ...(announced.parentCallId === undefined ? {} : { parentCallId: announced.parentCallId }),
      tool: Display.name(announced.tool),
      detail,
      ...(error === undefined ? {} : { error })
    })
  const failed = (message: string) => {
    const error = Display.error(announced.redact(message))
    return publish("failed", Display.failedLine(announced.detail, error), error)
  }
  return publish("started", announced.detail).pipe(
    Effect.andThen(effect),
    Effect.tap(() => publish("completed", announced.detail)),
    Effect.tapError((failure) => failed(failure.message)),
    Effect.onInterrupt(() => failed("stopped"))
  )
}
