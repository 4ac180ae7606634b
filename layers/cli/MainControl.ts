/** What a command may decide about the end of the process it runs in. */
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"

export class MainControl extends Context.Service<
  MainControl,
  {
    /** Go on when the reader of standard output has gone. A command that only prints ends then. */
    readonly outlive: Effect.Effect<void>
    /** A clean end is asked for by a signal and counts as success. After this long and a second it is cut off. */
    readonly stopWithin: (grace: Duration.Duration) => Effect.Effect<void>
    /**
     * While `effect` runs, Ctrl+C is for another program on the same terminal and does nothing here. Being asked to end otherwise
     * ends it as ever.
     */
    readonly yieldTerminal: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  }
>()("troupe/cli/MainControl") {}
