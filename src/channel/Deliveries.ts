/**
 * Carries replies from the outbox to the push channels that are registered, for as long as the process lives.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"

export class Deliveries extends Context.Service<
  Deliveries,
  {
    /**
     * A hint that something may be due: a turn was committed with replies, or a channel came up. A hint that is lost
     * costs a second, never a reply.
     */
    readonly wake: Effect.Effect<void>
  }
>()("troupe/channel/Deliveries") {}
