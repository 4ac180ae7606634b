/** What tests of conversations stand on: tools of every kind whose handlers the test writes, and the events as they come. */
import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import type { Journal } from "../../src/conversation/Journal.ts"
import type * as Event from "../../src/event/Event.ts"
import { EventBus } from "../../src/event/EventBus.ts"
import type * as Entry from "../../src/thread/Entry.ts"
import * as Tool from "../../src/tool/Tool.ts"
import { ToolCallContext } from "../../src/tool/ToolContext.ts"
import * as ToolRegistry from "../../src/tool/ToolRegistry.ts"

class Refused extends Schema.TaggedError<Refused>()("Refused", { what: Schema.String }) {
  readonly code = "test:refused"
  override get message() {
    return `It refused: ${this.what}`
  }
}

const parameters = Schema.Struct({ text: Schema.String })
const success = Schema.Struct({ said: Schema.String })
const limits = { timeout: "1 minute", output: { maxChars: 1000 } } as const
const common = { parameters, success, failure: Refused, limits, capabilities: [] } as const

const Look = Tool.make("look", { ...common, description: "Looks.", cancellation: "interruptible", replay: "safe" })
const Order = Tool.make("order", {
  ...common,
  description: "Orders.",
  cancellation: "interruptible",
  replay: "idempotent"
})
const Pay = Tool.make("pay", { ...common, description: "Pays.", cancellation: "interruptible", replay: "unknown" })
const Commit = Tool.make("commit", { ...common, description: "Commits.", cancellation: "atomic", replay: "unknown" })
const Rare = Tool.make("rare", {
  ...common,
  limits: { ...limits, perTurn: 2 },
  description: "May be called twice.",
  cancellation: "interruptible",
  replay: "safe"
})

/** A call as its handler sees it. */
export interface Handled {
  readonly tool: "look" | "order" | "pay" | "commit" | "rare"
  readonly text: string
  readonly callId: string
  readonly idempotencyKey: string
}

/**
 * `look` (safe), `order` (idempotent), `pay` (unknown), `commit` (atomic) and `rare` (twice in a turn). What the handler
 * gives is what the tool says; what it fails with is a refusal.
 */
export const tools = (
  handler: (call: Handled) => Effect.Effect<string, string>
): Layer.Layer<never, never, ToolRegistry.ToolRegistry> => {
  const handle =
    (tool: Handled["tool"]) =>
    ({ text }: { readonly text: string }) =>
      Effect.gen(function* () {
        const { callId, idempotencyKey } = yield* ToolCallContext
        const said = yield* Effect.mapError(
          handler({ tool, text, callId, idempotencyKey }),
          (what) => new Refused({ what })
        )
        return { said }
      })
  return ToolRegistry.layer([Look, Order, Pay, Commit, Rare], {
    look: handle("look"),
    order: handle("order"),
    pay: handle("pay"),
    rare: handle("rare"),
    commit: (given) => Tool.atomic(handle("commit")(given), () => new Refused({ what: "time is up" }))
  }).pipe(Layer.orDie)
}

/** Says what it was told. */
export const echo = tools(({ text }) => Effect.succeed(text))

/** Events from now on; reading the list waits for nothing, `until` waits for an event. */
export const recordEvents = Effect.gen(function* () {
  const seen: Array<Event.Event> = []
  const stream = yield* (yield* EventBus).subscribe
  let waiters: Array<{ readonly when: (event: Event.Event) => boolean; readonly found: Deferred.Deferred<void> }> = []
  const note = (event: Event.Event) =>
    Effect.suspend(() => {
      seen.push(event)
      const found = waiters.filter(({ when }) => when(event))
      waiters = waiters.filter((waiter) => !found.includes(waiter))
      return Effect.forEach(found, (waiter) => Deferred.succeed(waiter.found, undefined), { discard: true })
    })
  yield* Effect.forkScoped(Stream.runForEach(stream, note), { startImmediately: true })
  const until = (when: (event: Event.Event) => boolean) =>
    Effect.gen(function* () {
      if (seen.some(when)) return
      const found = yield* Deferred.make<void>()
      waiters.push({ when, found })
      yield* Deferred.await(found)
    })
  return { seen, until }
})

/** Lets time pass for as long as the effect takes. */
export const whileTimePasses = <A, E, R>(effect: Effect.Effect<A, E, R>, step: Duration.Input = "100 millis") =>
  // What waits for the disk gets a moment as well: it must not take a thousand times as long by one clock as by the other.
  Effect.raceFirst(
    effect,
    Effect.forever(Effect.andThen(TestClock.adjust(step), TestClock.withLive(Effect.sleep("1 millis"))))
  )

/**
 * A journal with something before and after each of its operations on turns, which are the points that a crash or a stop can
 * fall between. Messages are accepted undisturbed.
 */
export const around = (journal: Journal["Service"], at: (point: string) => Effect.Effect<void>): Journal["Service"] => {
  const point =
    <Args extends ReadonlyArray<unknown>, A, E>(name: string, operation: (...args: Args) => Effect.Effect<A, E>) =>
    (...args: Args) =>
      at(`before ${name}`).pipe(
        Effect.andThen(operation(...args)),
        Effect.tap(() => at(`after ${name}`))
      )
  return {
    ...journal,
    claim: point("claim", journal.claim),
    owed: point("owed", journal.owed),
    startTurn: point("startTurn", journal.startTurn),
    resumeTurn: point("resumeTurn", journal.resumeTurn),
    suspendTurn: point("suspendTurn", journal.suspendTurn),
    fold: point("fold", journal.fold),
    append: point("append", journal.append),
    endTurn: point("endTurn", journal.endTurn)
  }
}

/** The results of calls among the entries: name, outcome and code. */
export const results = (entries: ReadonlyArray<Entry.Entry>) =>
  entries.flatMap((entry) =>
    entry._tag === "ToolResult" ? [[entry.name, entry.outcome, entry.errorCode ?? ""] as const] : []
  )

/** The kinds of the entries, for what a turn looks like from afar. */
export const kinds = (entries: ReadonlyArray<Entry.Entry>) => entries.map((entry) => entry._tag)
