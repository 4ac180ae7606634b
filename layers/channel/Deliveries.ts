/**
 * The loop that empties the outbox into the push channels.
 *
 * It looks when it is woken, when a delivery ends, and every second. Per channel it holds a bounded number of deliveries at
 * once, of different threads, since the outbox hands out one per thread. Nothing that a channel does ends the loop: a refusal
 * is tried again or given up, a defect gives up that one reply. Replies of a channel that is not registered wait.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberSet from "effect/FiberSet"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Random from "effect/Random"
import * as Schedule from "effect/Schedule"
import * as AwakeTime from "../../src/AwakeTime.ts"
import * as Channels from "../../src/channel/Channels.ts"
import { Deliveries } from "../../src/channel/Deliveries.ts"
import * as DeliveryMetrics from "../../src/channel/DeliveryMetrics.ts"
import * as FormatRepair from "../../src/channel/FormatRepair.ts"
import * as Outbox from "../../src/channel/Outbox.ts"

/** Bounds of the loop. Durations are those of Effect. */
export interface Options {
  /** Deliveries of one channel at the same time. */
  readonly concurrency: number
  /** The longest time between two looks into the outbox. */
  readonly pollInterval: Duration.Input
  /** How long one delivery may take; after that nobody knows whether it arrived. */
  readonly timeout: Duration.Input
  /** How long deliveries that are under way may go on when the process ends. */
  readonly grace: Duration.Input
  /** The wait after the first refusal; it doubles with each attempt up to `maxDelay`. */
  readonly firstDelay: Duration.Input
  readonly maxDelay: Duration.Input
  /** A reply is given up after this many attempts, */
  readonly maxAttempts: number
  /** or at this age, if it was tried at least `minAttempts` times: a channel that was down for a day still gets it. */
  readonly maxAge: Duration.Input
  readonly minAttempts: number
}

/** With these delays a channel that is unreachable is tried about 200 times in a day. */
const defaults: Options = {
  concurrency: 8,
  pollInterval: "1 second",
  timeout: "2 minutes",
  grace: "5 seconds",
  firstDelay: "1 second",
  maxDelay: "10 minutes",
  maxAttempts: 250,
  maxAge: "24 hours",
  minAttempts: 5
}

const make = Effect.fnUntraced(function* (options: Options) {
  const repair = yield* FormatRepair.FormatRepair
  const channels = yield* Channels.Channels
  const outbox = yield* Outbox.Outbox
  const signal = yield* Queue.sliding<void>(1)
  const wake = Effect.asVoid(Queue.offer(signal, undefined))
  const underWay = new Map<string, number>()
  const count = (channel: string, change: number) => underWay.set(channel, (underWay.get(channel) ?? 0) + change)

  // Finalizers run last to first: the loop stops taking, deliveries under way get their grace, the rest is interrupted.
  const fibers = yield* FiberSet.make<void>()
  yield* Effect.addFinalizer(() => Effect.timeoutOption(FiberSet.awaitEmpty(fibers), options.grace))

  const start = Effect.fnUntraced(function* (channel: Channels.Channel, deliver: Deliver, delivery: Outbox.Delivery) {
    const { name } = channel
    count(name, 1)
    const ended = Effect.andThen(
      Effect.sync(() => count(name, -1)),
      wake
    )
    yield* FiberSet.run(fibers, Effect.ensuring(carry({ outbox, options, repair, channel, deliver }, delivery), ended))
  })

  // What was taken is marked as being sent, so it must be under way before this fiber can be interrupted.
  const serve = (channel: Channels.Channel) => {
    const { deliver, name } = channel
    const free = options.concurrency - (underWay.get(name) ?? 0)
    if (deliver === undefined || free <= 0) return Effect.void
    return outbox.take(name, free).pipe(
      Effect.flatMap(Effect.forEach((delivery) => start(channel, deliver, delivery), { discard: true })),
      Effect.uninterruptible,
      Effect.catchCauseIf(Cause.hasDies, (cause) =>
        Effect.logError(`The replies for the channel ${name} could not be read; trying again`, cause)
      )
    )
  }

  const look = Effect.flatMap(channels.all, Effect.forEach(serve, { discard: true }))
  const pause = Effect.timeoutOption(Queue.take(signal), options.pollInterval)
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(look, pause)))
  return Deliveries.of({ wake })
})

/** The loop with its own bounds: for tests. */
export const layerWith = (
  options: Partial<Options>
): Layer.Layer<Deliveries, never, Channels.Channels | Outbox.Outbox> =>
  Layer.effect(Deliveries, make({ ...defaults, ...options }))

/** Runs the loop for the life of the layer. */
export const layer: Layer.Layer<Deliveries, never, Channels.Channels | Outbox.Outbox> = layerWith({})

type Deliver = NonNullable<Channels.Channel["deliver"]>

interface Way {
  readonly outbox: Outbox.Outbox["Service"]
  readonly options: Options
  readonly repair: typeof FormatRepair.FormatRepair.Service
  readonly channel: Channels.Channel
  readonly deliver: Deliver
}

/** One attempt; whatever happens, its end is written down. */
const carry = ({ channel, deliver, options, outbox, repair }: Way, delivery: Outbox.Delivery) =>
  Effect.suspend(() => {
    let refused = false
    return Effect.suspend(() => deliver(delivery)).pipe(
      AwakeTime.timeoutOption(options.timeout),
      Effect.map(Option.match({ onNone: () => unanswered, onSome: () => delivered })),
      Effect.catch((refusal) => {
        if (refusal.unreadable !== true || !FormatRepair.isFormatted(delivery)) return Effect.fail(refusal)
        refused = true
        return Effect.map(rewritingOf(repair, channel, delivery, refusal.reason), rewritten)
      }),
      Effect.withSpan("Deliveries.deliver", { attributes: { channel: delivery.channel, attempt: delivery.attempts } }),
      Effect.onExit((exit) =>
        Effect.andThen(note(delivery, exit), persistently(record(outbox, options, delivery, exit, refused)))
      ),
      Effect.ignoreCause
    )
  })

/** Counts how an attempt ended, and tells of a channel that broke: once, however often its end must be written. */
const note = Effect.fnUntraced(function* ({ channel, id }: Outbox.Delivery, exit: Attempted) {
  yield* DeliveryMetrics.attempted(channel, attemptOf(exit))
  // The cause is for the log alone: it may hold an address with a token in it.
  if (Exit.isFailure(exit) && broke(exit.cause)) {
    yield* Effect.logError(`The channel ${channel} failed on the delivery ${id}`, exit.cause)
  }
})

const record = Effect.fnUntraced(function* (
  outbox: Outbox.Outbox["Service"],
  options: Options,
  delivery: Outbox.Delivery,
  exit: Attempted,
  refused: boolean
) {
  const { id } = delivery
  if (Exit.isSuccess(exit)) {
    switch (exit.value._tag) {
      case "Delivered":
        return yield* outbox.delivered(id)
      case "Rewritten":
        return yield* outbox.rewrite(id, exit.value.rewriting)
      case "Unanswered":
        return yield* again(outbox, options, delivery, "The channel did not answer in time", "unanswered")
    }
  }
  if (broke(exit.cause)) return yield* outbox.failed(id, "The channel failed on this reply; the log has the cause")
  const refusal = Cause.findErrorOption(exit.cause)
  if (Option.isNone(refusal)) {
    const outcome = refused ? "refused" : "unanswered"
    return yield* again(outbox, options, delivery, "The delivery was interrupted", outcome)
  }
  const { reason, retryable, retryAfterMillis } = refusal.value
  return retryable
    ? yield* again(outbox, options, delivery, reason, "refused", retryAfterMillis)
    : yield* outbox.failed(id, reason)
})

/** What came of an attempt that was not refused for good. */
type Went =
  | { readonly _tag: "Delivered" }
  | { readonly _tag: "Unanswered" }
  /** The channel could not read it, and gets it in another form. */
  | { readonly _tag: "Rewritten"; readonly rewriting: Outbox.Rewriting }
const delivered: Went = { _tag: "Delivered" }
const unanswered: Went = { _tag: "Unanswered" }
const rewritten = (rewriting: Outbox.Rewriting): Went => ({ _tag: "Rewritten", rewriting })

type Attempted = Exit.Exit<Went, Channels.DeliveryRefused>

/** A reply that its channel could not read, in its next form. */
const rewritingOf = Effect.fnUntraced(function* (
  { mend }: Way["repair"],
  { formatRepair }: Channels.Channel,
  delivery: Outbox.Delivery,
  problem: string
) {
  const { format, repair, text, threadId } = delivery
  if (formatRepair === undefined || (repair?.attempts ?? 0) >= formatRepair.attempts) {
    return FormatRepair.plain(delivery, problem)
  }
  const { instructions } = formatRepair
  const by = yield* mend({ threadId, kind: FormatRepair.kindOf(format), text, problem, instructions })
  return by === undefined ? FormatRepair.plain(delivery, problem) : FormatRepair.mended(delivery, by)
})

/** Neither taken nor refused nor interrupted. */
const broke = (cause: Cause.Cause<Channels.DeliveryRefused>): boolean =>
  Option.isNone(Cause.findErrorOption(cause)) && !Cause.hasInterruptsOnly(cause)

const attemptOf = (exit: Attempted): DeliveryMetrics.Attempt => {
  if (Exit.isSuccess(exit)) return attempts[exit.value._tag]
  const refusal = Cause.findErrorOption(exit.cause)
  if (Option.isSome(refusal)) return refusal.value.retryable ? "retry" : "failed"
  return broke(exit.cause) ? "failed" : "unanswered"
}

const attempts: Record<Went["_tag"], DeliveryMetrics.Attempt> = {
  Delivered: "delivered",
  Unanswered: "unanswered",
  Rewritten: "retry"
}

const again = Effect.fnUntraced(function* (
  outbox: Outbox.Outbox["Service"],
  options: Options,
  delivery: Outbox.Delivery,
  reason: string,
  outcome: Outbox.Outcome,
  retryAfterMillis?: number
) {
  const now = yield* Clock.currentTimeMillis
  const old = now - delivery.createdAt >= Duration.toMillis(options.maxAge)
  if (delivery.attempts >= options.maxAttempts || (old && delivery.attempts >= options.minAttempts)) {
    return yield* outbox.failed(delivery.id, `Given up after ${delivery.attempts} attempts: ${reason}`, outcome)
  }
  const delay = yield* delayAfter(options, delivery.attempts, retryAfterMillis)
  yield* outbox.retry(delivery.id, now + delay, reason, outcome)
})

/**
 * Doubles up to the cap, and half of it is random, so that replies refused together do not come back together. A wait that
 * the channel asked for is kept to, up to the age at which a reply is given up.
 */
const delayAfter = Effect.fnUntraced(function* (options: Options, attempts: number, retryAfterMillis?: number) {
  const jitter = yield* Random.next
  const cap = Duration.toMillis(options.maxDelay)
  const backOff = Math.min(cap, Duration.toMillis(options.firstDelay) * 2 ** (attempts - 1))
  if (retryAfterMillis === undefined) return backOff * (0.5 + jitter / 2)
  const asked = Math.min(Math.max(0, retryAfterMillis), Duration.toMillis(options.maxAge))
  return asked + Math.min(1000, backOff) * jitter
})

// The end of a delivery must not be lost to a store that is busy for a moment, nor to a disk that is full for a day: a row that
// stays `sending` holds up its thread. If it is lost all the same, because the process ends, the row comes again, in doubt, in
// the next life of the process.
const persistently = (write: Effect.Effect<void>) =>
  Effect.exit(write).pipe(
    Effect.repeat({
      until: Exit.isSuccess,
      schedule: Schedule.max([Schedule.exponential("250 millis"), Schedule.recurs(4)])
    }),
    Effect.flatMap((exit) =>
      Exit.isSuccess(exit)
        ? Effect.void
        : Effect.andThen(Effect.logError("The end of a delivery could not be stored yet", exit.cause), later(write))
    )
  )

const later = (write: Effect.Effect<void>) =>
  Effect.exit(Effect.andThen(Effect.interruptible(Effect.sleep("15 seconds")), write)).pipe(
    Effect.repeat({ until: (exit) => Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause) }),
    Effect.asVoid
  )
