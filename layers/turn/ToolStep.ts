/** Tool calls of a turn: run one, or record that it was not run. Each ends with its one result in the journal. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type { Approvals } from "../../src/approval/Approvals.ts"
import { Leaving } from "../../src/approval/Leaving.ts"
import { PersonWait } from "../../src/approval/PersonWait.ts"
import type * as Journal from "../../src/conversation/Journal.ts"
import * as Monotonic from "../../src/Monotonic.ts"
import type * as Entry from "../../src/thread/Entry.ts"
import type * as ToolCalls from "../../src/tool/ToolCalls.ts"
import * as TurnEntries from "../../src/turn/TurnEntries.ts"
import * as TurnState from "../../src/turn/TurnState.ts"
import type * as Session from "./Session.ts"
import type * as TurnCapabilities from "./TurnCapabilities.ts"

/** What a call is run with. */
export interface Tools {
  readonly tools: ToolCalls.TurnTools
  readonly effects: TurnCapabilities.TurnCapabilities
}

export interface Services {
  readonly toolCalls: ToolCalls.ToolCalls["Service"]
  readonly approvals: Approvals["Service"]
}

/**
 * What may have become of a call in an earlier life of the process: nothing, if its question was never answered with a yes that was
 * used.
 */
export const doubtOf = (
  approvals: Approvals["Service"],
  call: Entry.ToolCallRequest,
  doubt: TurnState.Doubt
): Effect.Effect<TurnState.Doubt> =>
  doubt === "none"
    ? Effect.succeed(doubt)
    : Effect.map(approvals.callState(call.callId), (state) => (state === "held" ? "none" : doubt))

/** Runs a call. One that may have been running when the process died is run again only where its tool allows that. */
export const run = Effect.fnUntraced(function* (
  { approvals, toolCalls }: Services,
  session: Session.Session,
  { effects, tools }: Tools,
  call: Entry.ToolCallRequest,
  doubt: TurnState.Doubt
): Effect.fn.Return<void, Journal.ClaimLost> {
  const { turnId } = session.run
  const replay = yield* toolCalls.replay(call)
  if (doubt === "crashed" && replay === "unknown") return yield* refuse(session, [call], TurnEntries.unknownOutcome)
  // What it does outside must not be there without the call in the log: nobody would know of it, and it would be done again.
  if (replay !== "safe") yield* session.settled
  yield* Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      session.unsettled.set(call.callId, undefined)
      let leaving = false
      // The call has a fiber of its own, so that an interruption of the turn becomes a result of the call. It starts at
      // once, so that there is never a call that cannot be cancelled yet.
      const asked = Effect.provideService(
        timed(toolCalls.run(tools, call)),
        Leaving,
        Effect.sync(() => leaving)
      )
      const fiber = yield* Effect.forkChild(asked, { startImmediately: true })
      const interrupted = Exit.isFailure(yield* Effect.exit(restore(Fiber.await(fiber))))
      if (interrupted) {
        leaving = !(yield* session.run.stopRequested)
        yield* toolCalls.cancel(call.callId)
      }
      const [took, result] = yield* Fiber.join(fiber)
      const entry =
        replay !== "safe" && TurnState.mayHaveRun(doubt, replay) && notRun.has(result.outcome)
          ? TurnEntries.refused(turnId, call, TurnEntries.notRunAgain(result))
          : TurnEntries.resulted(turnId, call, result, took)
      const held = leaving && (yield* approvals.callState(call.callId)) === "held"
      if (held || (interrupted && result.outcome === "cancelled" && replay !== "unknown")) {
        // It may run (again): if the turn is left for another life of the process, it will, and has no result yet.
        session.unsettled.set(call.callId, entry)
        return
      }
      const more = effects.take()
      yield* session.append([entry, ...more.entries], more.replies)
      session.unsettled.delete(call.callId)
    })
  )
})

/** Outcomes of a call that its tool never got. They say nothing of what it did in another life of the process. */
const notRun: ReadonlySet<Entry.CallOutcome> = new Set(["denied", "forbidden", "invalid", "skipped"])

/** How long it ran, the time a person took to allow it not counted, and what it gave. */
const timed = <A, E, R>(run: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const person = yield* PersonWait
    let waited = 0
    const [took, result] = yield* run.pipe(
      Effect.provideService(PersonWait, {
        during: (wait) =>
          Effect.acquireUseRelease(
            Monotonic.millis,
            () => person.during(wait),
            (began) => Effect.map(Monotonic.millis, (now) => void (waited += now - began))
          )
      }),
      Effect.timed
    )
    return [Duration.millis(Math.max(0, Duration.toMillis(took) - waited)), result] as const
  })

/** Records that calls were not run, or that nobody knows. */
export const refuse = (
  session: Session.Session,
  calls: ReadonlyArray<Entry.ToolCallRequest>,
  why: TurnEntries.Refusal
): Effect.Effect<void, Journal.ClaimLost> =>
  session.append(calls.map((call) => TurnEntries.refused(session.run.turnId, call, why)))
