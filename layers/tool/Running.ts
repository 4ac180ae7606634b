/**
 * The calls that are under way, so that one of them can be cancelled.
 *
 * What may be interrupted runs in a fiber of its own. That tells apart who interrupted it (its caller, a cancel, nobody but
 * itself), and it lets a caller that is not interruptible, because it must record every result, still cancel a call.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as Ids from "../../src/Ids.ts"
import type * as Tool from "../../src/tool/Tool.ts"
import * as ToolError from "../../src/tool/ToolError.ts"
import type { Invocation } from "./Invocation.ts"

interface Entry {
  readonly atomic: boolean
  cancelled: boolean
  fiber: Fiber.Fiber<unknown, unknown> | undefined
}

const wasCancelled = (entry: Entry | undefined): boolean => entry?.cancelled === true

export interface Running {
  /** Makes the call known for as long as `effect` runs. */
  readonly track: <A, E>(invocation: Invocation, effect: Effect.Effect<A, E>) => Effect.Effect<A, E>
  /** Runs a part of a call so that its caller and `cancel` can interrupt it. */
  readonly interruptibly: <A>(
    invocation: Invocation,
    effect: Effect.Effect<A, Tool.Failure>
  ) => Effect.Effect<A, Tool.Failure>
  readonly cancel: (callId: Ids.CallId) => Effect.Effect<boolean>
}

export const make = (): Running => {
  const entries = new Map<Ids.CallId, Entry>()

  const track: Running["track"] = (invocation, effect) =>
    Effect.acquireUseRelease(
      Effect.sync(() =>
        entries.set(invocation.call.callId, {
          atomic: invocation.registration.tool.cancellation === "atomic",
          cancelled: false,
          fiber: undefined
        })
      ),
      () => effect,
      () => Effect.sync(() => entries.delete(invocation.call.callId))
    )

  const interruptibly: Running["interruptibly"] = Effect.fnUntraced(function* (invocation, effect) {
    const { name } = invocation.registration.tool
    const entry = entries.get(invocation.call.callId)
    if (wasCancelled(entry)) return yield* new ToolError.ToolCancelled({ tool: name })
    const fiber = yield* Effect.forkChild(effect)
    if (entry !== undefined) entry.fiber = fiber
    const exit = yield* Effect.onInterrupt(Fiber.await(fiber), () => Fiber.interrupt(fiber))
    if (entry !== undefined) entry.fiber = undefined
    return yield* wasCancelled(entry) && wasInterrupted(exit)
      ? new ToolError.ToolCancelled({ tool: name })
      : settle(invocation, exit)
  })

  const cancel = Effect.fn("ToolCalls.cancel")(function* (callId: Ids.CallId) {
    const entry = entries.get(callId)
    // Of an atomic tool only the question before it can be cancelled.
    if (entry === undefined || (entry.atomic && entry.fiber === undefined)) return false
    entry.cancelled = true
    const { fiber } = entry
    if (fiber === undefined) return true
    yield* Fiber.interrupt(fiber)
    return wasInterrupted(yield* Fiber.await(fiber))
  })

  return { track, interruptibly, cancel }
}

export const wasInterrupted = (exit: Exit.Exit<unknown, unknown>): boolean =>
  Exit.isFailure(exit) && Cause.hasInterrupts(exit.cause)

/** The outcome of a fiber that nobody interrupted: anything but a value or a declared failure is a defect of the tool. */
export const settle = <A>(invocation: Invocation, exit: Exit.Exit<A, Tool.Failure>): Effect.Effect<A, Tool.Failure> => {
  if (Exit.isSuccess(exit)) return Effect.succeed(exit.value)
  const failure = Cause.findErrorOption(exit.cause)
  if (failure._tag === "Some" && !Cause.hasDies(exit.cause)) return Effect.fail(failure.value)
  return crashed(invocation, exit.cause)
}

/** The cause goes to the log, and nothing of it into the result. */
const crashed = (invocation: Invocation, cause: Cause.Cause<unknown>): Effect.Effect<never, Tool.Failure> => {
  const { name } = invocation.registration.tool
  return Effect.logError("A tool crashed", cause).pipe(
    Effect.annotateLogs({
      tool: name,
      callId: invocation.call.callId,
      argumentKeys: Object.keys(invocation.parameters).slice(0, 20).join(" ")
    }),
    Effect.andThen(Effect.fail(new ToolError.ToolCrashed({ tool: name })))
  )
}
