/** Runs one turn of a thread from where its journal stands to its end. */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Journal from "../conversation/Journal.ts"
import type * as Ids from "../Ids.ts"
import type * as Entry from "../thread/Entry.ts"
import type * as Threads from "../thread/Threads.ts"
import type { ThreadLog } from "./ThreadLog.ts"

export interface TurnRun {
  readonly thread: Threads.Thread
  readonly claim: Journal.Claim
  /** What earlier turns have read of the thread's log. The turn reads on, and nobody else uses it meanwhile. */
  readonly log: ThreadLog
  readonly turnId: Ids.TurnId
  /** A new turn takes up these messages; a turn that another life began goes on. */
  readonly begin:
    | { readonly _tag: "Start"; readonly messageIds: ReadonlyArray<Ids.MessageId> }
    | {
        readonly _tag: "Resume"
        /** This life had begun it, and left it because the store failed. */
        readonly again: boolean
        /** How long earlier lives worked on it, in milliseconds. */
        readonly activeMillis: number
      }
  /** Whether messages may have come in since the last `takeNews`. Cheap: it looks at no table. */
  readonly peekNews: Effect.Effect<boolean>
  readonly takeNews: Effect.Effect<boolean>
  /** Whether a person asked to stop the turn: then its interruption ends it, otherwise it only leaves it. */
  readonly stopRequested: Effect.Effect<boolean>
  /** Is told how the turn ended, once that is on disk. */
  readonly ended: (how: Entry.TurnEnd) => Effect.Effect<void>
}

export class TurnRunner extends Context.Service<
  TurnRunner,
  {
    /**
     * Waits for a slot, then works until the turn has ended: answered, failed, stopped, or parked because it crashed the
     * process too often. When it is interrupted without a stop, the turn stays in the journal, to be resumed. When it is
     * interrupted with one, the turn ends, and its messages with it, even if it had not begun: so the fiber that runs this
     * must be forked uninterruptible, lest it be gone before its first step.
     */
    readonly run: (run: TurnRun) => Effect.Effect<void, Journal.ClaimLost>
  }
>()("troupe/turn/TurnRunner") {}
