/**
 * The ledger of side effects: what each turn changed outside of its thread, written down before it is done and completed after.
 * It is what people look at to see what an agent did, and what undoing reads.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import type * as Ids from "../Ids.ts"
import type { StorageUnavailable } from "../storage/StorageError.ts"
import type { CallMade, SideEffect } from "./SideEffect.ts"

/** A call that is about to act outside. `line` says what it does, without secrets. */
export interface Call {
  readonly threadId: Ids.ThreadId
  readonly turnId: Ids.TurnId
  readonly callId: Ids.CallId
  readonly tool: string
  readonly line: string
}

export class Ledger extends Context.Service<
  Ledger,
  {
    /**
     * Runs a call between two writes: that it begins, and how it ended. It does not run when the first cannot be written.
     * Interrupted or failed, it is told to have failed: what it did until then is not known.
     */
    readonly around: <A, E, R>(
      call: Call,
      effect: Effect.Effect<A, E, R>
    ) => Effect.Effect<A, E | StorageUnavailable, R>
    /** What a turn did, in order. At most `most`, the newest. */
    readonly ofTurn: (
      threadId: Ids.ThreadId,
      turnId: Ids.TurnId,
      most: number
    ) => Effect.Effect<ReadonlyArray<SideEffect>>
    /** The newest turn of a thread with a change of files that was not taken back; null when there is none. */
    readonly undoable: (threadId: Ids.ThreadId) => Effect.Effect<Ids.TurnId | null>
  }
>()("troupe/ledger/Ledger") {
  /** Calls in memory, for tests of what makes calls. Changes of files are not among them. */
  static readonly layerMemory: Layer.Layer<Ledger> = Layer.sync(Ledger, () => {
    const calls: Array<CallMade> = []
    return Ledger.of({
      around: ({ callId, line, threadId, tool, turnId }, effect) =>
        Effect.flatMap(Clock.currentTimeMillis, (at) => {
          const ord = calls.length + 1
          const told = (state: CallMade["state"]): CallMade => ({
            _tag: "CallMade",
            ord,
            threadId,
            turnId,
            callId,
            tool,
            line,
            at,
            state
          })
          calls.push(told("begun"))
          return Effect.onExit(effect, (exit) =>
            Effect.sync(() => {
              calls[ord - 1] = told(Exit.isSuccess(exit) ? "made" : "failed")
            })
          )
        }),
      ofTurn: (threadId, turnId, most) =>
        Effect.sync(() => calls.filter((call) => call.threadId === threadId && call.turnId === turnId).slice(-most)),
      undoable: () => Effect.succeed(null)
    })
  })
}
