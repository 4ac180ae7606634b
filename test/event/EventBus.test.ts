import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import type * as Event from "../../src/event/Event.ts"
import * as EventBus from "../../src/event/EventBus.ts"
import * as Ids from "../../src/Ids.ts"

const committed = (threadId: Ids.ThreadId, seq: number): Event.Event => ({ _tag: "EntriesCommitted", threadId, seq })

const seqs = (events: Iterable<Event.Event>) =>
  Array.from(events, (event) => (event._tag === "EntriesCommitted" ? event.seq : -1))

const provided = Effect.provide(EventBus.EventBus.layer)

it.effect("brings the events of a thread to those who watch it, and to those who watch everything", () =>
  Effect.gen(function* () {
    const bus = yield* EventBus.EventBus
    const [one, two] = [yield* Ids.makeThreadId, yield* Ids.makeThreadId]
    const ofOne = yield* bus.subscribeThread(one)
    const ofTwo = yield* bus.subscribeThread(two)
    const all = yield* bus.subscribe
    for (const [id, seq] of [
      [one, 1],
      [two, 2],
      [one, 3]
    ] as const)
      yield* bus.publish(committed(id, seq))
    assert.deepStrictEqual(seqs(yield* Stream.runCollect(Stream.take(ofOne, 2))), [1, 3])
    assert.deepStrictEqual(seqs(yield* Stream.runCollect(Stream.take(ofTwo, 1))), [2])
    assert.deepStrictEqual(seqs(yield* Stream.runCollect(Stream.take(all, 3))), [1, 2, 3])
  }).pipe(provided)
)

it.effect("misses nothing between subscribing and listening, and nothing comes from before", () =>
  Effect.gen(function* () {
    const bus = yield* EventBus.EventBus
    const id = yield* Ids.makeThreadId
    yield* bus.publish(committed(id, 1))
    const events = yield* bus.subscribeThread(id)
    yield* bus.publish(committed(id, 2))
    assert.deepStrictEqual(seqs(yield* Stream.runCollect(Stream.take(events, 1))), [2])
  }).pipe(provided)
)

it.effect("never makes a publisher wait: a subscriber that does not look keeps the newest events", () =>
  Effect.gen(function* () {
    const bus = yield* EventBus.EventBus
    const id = yield* Ids.makeThreadId
    const events = yield* bus.subscribeThread(id)
    const published = EventBus.lag + 10
    for (let seq = 1; seq <= published; seq++) yield* bus.publish(committed(id, seq))
    const kept = seqs(yield* Stream.runCollect(Stream.take(events, EventBus.lag)))
    assert.strictEqual(kept[0], published - EventBus.lag + 1)
    assert.strictEqual(kept.at(-1), published)
  }).pipe(provided)
)

it.effect("ends a stream with the scope of its subscription", () =>
  Effect.gen(function* () {
    const bus = yield* EventBus.EventBus
    const id = yield* Ids.makeThreadId
    const collected = yield* Effect.scoped(
      Effect.gen(function* () {
        const events = yield* bus.subscribeThread(id)
        const fiber = yield* Effect.forkDetach(Effect.exit(Stream.runCollect(events)))
        yield* Effect.yieldNow
        return fiber
      })
    )
    yield* Fiber.join(collected)
    yield* bus.publish(committed(id, 1))
  }).pipe(provided)
)
