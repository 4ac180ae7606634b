/** The in-process event bus. Publishing never waits: a subscriber that is too slow loses its oldest events. */
import type * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
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
    /** The same, of one thread only. Costs the other threads' publishers nothing. */
    readonly subscribeThread: (id: Ids.ThreadId) => Effect.Effect<Stream.Stream<Event.Event>, never, Scope.Scope>
  }
>()("troupe/event/EventBus") {
  static readonly layer: Layer.Layer<EventBus> = Layer.sync(EventBus, () => {
    const everywhere: Subscribers = new Set()
    const byThread = new Map<Ids.ThreadId, Subscribers>()
    return EventBus.of({
      publish: (event) =>
        Effect.sync(() => {
          for (const queue of everywhere) Queue.offerUnsafe(queue, event)
          for (const queue of byThread.get(Event.threadIdOf(event)) ?? nobody) Queue.offerUnsafe(queue, event)
        }),
      subscribe: subscribeTo(
        (queue) => everywhere.add(queue),
        (queue) => everywhere.delete(queue)
      ),
      subscribeThread: (id) =>
        subscribeTo(
          (queue) => byThread.set(id, (byThread.get(id) ?? new Set()).add(queue)),
          (queue) => {
            const subscribers = byThread.get(id)
            subscribers?.delete(queue)
            if (subscribers?.size === 0) byThread.delete(id)
          }
        )
    })
  })
}

type Subscriber = Queue.Queue<Event.Event, Cause.Done>
type Subscribers = Set<Subscriber>

const nobody: Subscribers = new Set()

const subscribeTo = (enter: (queue: Subscriber) => void, leave: (queue: Subscriber) => void) =>
  Effect.acquireRelease(
    Effect.tap(Queue.sliding<Event.Event, Cause.Done>(lag), (queue) => Effect.sync(() => enter(queue))),
    (queue) =>
      Effect.andThen(
        Effect.sync(() => leave(queue)),
        Queue.shutdown(queue)
      )
  ).pipe(Effect.map(Stream.fromQueue))
