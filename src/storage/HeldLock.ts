/** The lock that this process holds on its data directory. */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"

export class HeldLock extends Context.Service<
  HeldLock,
  {
    /**
     * Looks whether the lock still keeps others out, and takes it anew where its file was deleted or replaced. False: another
     * process was faster, and the directory is its own now.
     */
    readonly look: Effect.Effect<boolean>
  }
>()("troupe/storage/HeldLock") {}
