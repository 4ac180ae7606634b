/** Time, concurrency and count: what a tool may use up. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Semaphore from "effect/Semaphore"
import * as AwakeTime from "../../src/AwakeTime.ts"
import type * as Registration from "../../src/tool/Registration.ts"
import type * as Tool from "../../src/tool/Tool.ts"
import * as ToolError from "../../src/tool/ToolError.ts"
import type { Invocation, Stage } from "./Invocation.ts"
import * as Running from "./Running.ts"

export const make = (running: Running.Running): Stage => {
  const semaphores = new WeakMap<Tool.Any, Semaphore.Semaphore>()

  /** One for the whole process and each tool that has a limit. */
  const semaphoreOf = (tool: Tool.Any): Semaphore.Semaphore | undefined => {
    const { concurrency } = tool.limits
    if (concurrency === undefined) return undefined
    const known = semaphores.get(tool) ?? Semaphore.makeUnsafe(concurrency)
    semaphores.set(tool, known)
    return known
  }

  return (invocation, inner) =>
    Effect.suspend(() => {
      const { tool } = invocation.registration
      const counted = count(invocation)
      if (counted !== undefined) return Effect.fail(counted)
      const semaphore = semaphoreOf(tool)
      const inTurn = (effect: Effect.Effect<Registration.Output, Tool.Failure>) =>
        semaphore === undefined ? effect : semaphore.withPermit(effect)
      return tool.cancellation === "atomic"
        ? inTurn(untilDeadline(invocation, inner))
        : running.interruptibly(invocation, inTurn(timed(tool, inner)))
    })
}

/** Counts the call, or says that the turn has made all it may. */
const count = ({ registration: { tool }, tools }: Invocation): ToolError.ToolLimitReached | undefined => {
  const { perTurn } = tool.limits
  const made = tools.counts.get(tool.name) ?? 0
  if (perTurn !== undefined && made >= perTurn) return new ToolError.ToolLimitReached({ tool: tool.name, perTurn })
  tools.counts.set(tool.name, made + 1)
  return undefined
}

const timed = <A>(tool: Tool.Any, effect: Effect.Effect<A, Tool.Failure>): Effect.Effect<A, Tool.Failure> =>
  AwakeTime.timeoutOrElse({
    duration: tool.limits.timeout,
    orElse: () =>
      Effect.fail(new ToolError.ToolTimeout({ tool: tool.name, timeoutMillis: Duration.toMillis(tool.limits.timeout) }))
  })(effect)

/**
 * Neither the caller nor a cancel interrupts an atomic tool: it is waited for. Its own deadline does, from within, and it
 * then fails with the failure it declared for that, unless it was past the point of no return and finished after all.
 */
const untilDeadline = (
  invocation: Invocation,
  effect: Effect.Effect<Registration.Output, Tool.Failure>
): Effect.Effect<Registration.Output, Tool.Failure> =>
  Effect.uninterruptible(
    Effect.gen(function* () {
      const {
        prepared: { onDeadline },
        registration: { tool }
      } = invocation
      let expired = false
      const fiber = yield* Effect.forkChild(effect)
      const deadline = yield* Effect.forkChild(
        AwakeTime.sleep(tool.limits.timeout).pipe(
          Effect.andThen(
            Effect.sync(() => {
              expired = true
            })
          ),
          Effect.andThen(Fiber.interrupt(fiber))
        )
      )
      const exit = yield* Fiber.await(fiber)
      yield* Fiber.interrupt(deadline)
      return yield* expired && onDeadline !== undefined && Running.wasInterrupted(exit)
        ? Effect.fail(onDeadline())
        : Running.settle(invocation, exit)
    })
  )
