/** The in-process event bus. Publishing never waits: a subscriber that is too slow loses its oldest events. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as PubSub from "effect/PubSub"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type * as Ids from "../Ids.ts"
import * as Event from "./Event.ts"

/** How many events a subscriber may lag behind before it loses the oldest. */
export const lag = 1024

export class EventBus extends Context.Service<
  EventBus,
  {
    readonly publish: (event: Event.Event) => Effect.Effect<void>
    /** Events from the moment the effect has run, so that nothing falls between looking and listening. */
    readonly subscribe: Effect.Effect<Stream.Stream<Event.Event>, never, Scope.Scope>
    /** The same, of one thread only. */
    readonly subscribeThread: (id: Ids.ThreadId) => Effect.Effect<Stream.Stream<Event.Event>, never, Scope.Scope>
  }
>()("troupe/event/EventBus") {
  static readonly layer: Layer.Layer<EventBus> = Layer.effect(
    EventBus,
    Effect.gen(function* () {
      const events = yield* PubSub.sliding<Event.Event>(lag)
      yield* Effect.addFinalizer(() => PubSub.shutdown(events))
      const subscribe = Effect.map(PubSub.subscribe(events), Stream.fromSubscription)
      return EventBus.of({
        publish: (event) => Effect.asVoid(PubSub.publish(events, event)),
        subscribe,
        subscribeThread: (id) =>
          Effect.map(
            subscribe,
            Stream.filter((event) => Event.threadIdOf(event) === id)
          )
      })
    })
  )
}
