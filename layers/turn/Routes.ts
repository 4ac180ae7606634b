/**
 * Who is asked: the model of the turn, or, when it cannot answer, the next one it may fall back on.
 *
 * Only failures that say nothing about the request lead on to another model: a request that one refuses would burn the
 * whole chain. A model that failed is left alone for a while, by everybody. Once a word of an answer has been shown there is
 * no way back, and the failure stands.
 */
import type * as AiError from "effect/ai/AiError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Breaker from "../../src/model/Breaker.ts"
import * as ModelError from "../../src/model/ModelError.ts"
import type * as Models from "../../src/model/Models.ts"
import * as Origin from "../../src/model/Origin.ts"
import * as Monotonic from "../../src/Monotonic.ts"
import type * as Entry from "../../src/thread/Entry.ts"
import type { EmptyResponse } from "./ModelStep.ts"

export type AskError = AiError.AiError | EmptyResponse

/** Why another model is asked than before. */
export interface Why {
  readonly code: string
  readonly message: string
}

/** Something that a model is to answer, or another one in its place. */
export interface Chained<A, E> {
  readonly model: Models.ModelHandle
  /** The model that was asked last in this turn. */
  readonly last: Entry.ModelName
  readonly ask: (model: Models.ModelHandle) => Effect.Effect<A, AskError>
  /** Whether words of the answer that is being asked for have been shown. */
  readonly shown: () => boolean
  readonly onSwitch: (from: Entry.ModelName, to: Entry.ModelName, why: Why) => Effect.Effect<void, E>
}

export interface Routes {
  readonly ask: <A, E>(chained: Chained<A, E>) => Effect.Effect<A, AskError | E>
}

/** Each use has breakers of its own, one for every provider and model. */
export const make = (cooldown: Duration.Duration): Routes => {
  const breakers = new Map<string, Breaker.Breaker>()
  const breakerOf = (model: Models.ModelHandle) => breakers.get(Origin.keyOf(model)) ?? Breaker.closed
  const set = (model: Models.ModelHandle, breaker: Breaker.Breaker) => {
    if (breaker._tag === "Closed") breakers.delete(Origin.keyOf(model))
    else breakers.set(Origin.keyOf(model), breaker)
  }

  /** Asks one model and notes how that went. */
  const attempt = <A, E>(chained: Chained<A, E>, model: Models.ModelHandle) =>
    Effect.onExit(chained.ask(model), (exit) =>
      Effect.map(Monotonic.millis, (now) => {
        const error = Exit.findErrorOption(exit)
        const breaker = breakerOf(model)
        if (Exit.isSuccess(exit)) set(model, Breaker.closed)
        else if (error._tag === "None" || !countsAgainst(error.value)) set(model, Breaker.released(breaker, now))
        else {
          const wait = error.value._tag === "AiError" ? (error.value.retryAfter ?? Duration.zero) : Duration.zero
          const options = { cooldown: Duration.toMillis(cooldown), wait: Duration.toMillis(wait) }
          set(model, Breaker.failed(breaker, now, options))
        }
      })
    )

  const chain = Effect.fnUntraced(function* <A, E>(
    chained: Chained<A, E>,
    models: ReadonlyArray<Models.ModelHandle>
  ): Effect.fn.Return<A, AskError | E> {
    let last = chained.last
    let why: Why | undefined
    let failure: AskError | undefined
    for (const model of models) {
      const now = yield* Monotonic.millis
      const admitted = Breaker.admit(breakerOf(model), now)
      if (admitted === undefined) {
        why ??= leftAlone(model, Breaker.until(breakerOf(model)) - now)
        continue
      }
      set(model, admitted)
      if (Origin.keyOf(model) !== Origin.keyOf(last)) {
        yield* chained.onSwitch(nameOf(last), nameOf(model), why ?? backAgain)
        last = nameOf(model)
      }
      const exit = yield* Effect.exit(attempt(chained, model))
      if (Exit.isSuccess(exit)) return exit.value
      const error = Exit.findErrorOption(exit)
      if (error._tag === "None" || chained.shown() || !leadsOn(error.value)) return yield* exit
      failure = error.value
      why = whyOf(error.value)
    }
    if (failure !== undefined) return yield* failure
    // All of them failed a moment ago. To ask the one that is due first is better than to ask nobody.
    const [due] = models.toSorted((a, b) => Breaker.until(breakerOf(a)) - Breaker.until(breakerOf(b)))
    const model = due ?? chained.model
    set(model, Breaker.force(breakerOf(model)))
    if (Origin.keyOf(model) !== Origin.keyOf(last))
      yield* chained.onSwitch(nameOf(last), nameOf(model), why ?? backAgain)
    return yield* attempt(chained, model)
  })

  return {
    ask: (chained) => {
      const { fallback = [] } = chained.model
      return fallback.length === 0 ? chained.ask(chained.model) : chain(chained, [chained.model, ...fallback])
    }
  }
}

const nameOf = ({ model, provider }: Entry.ModelName): Entry.ModelName => ({ provider, model })

/** Whether the next request to the same model is likely to fail as well. */
const countsAgainst = (error: AskError): boolean => error._tag === "AiError" && ModelError.isOutage(error)

const leadsOn = (error: AskError): boolean =>
  countsAgainst(error) || (error._tag === "EmptyResponse" && !error.outOfTokens)

const whyOf = (error: AskError): Why => {
  const { code, message } = error._tag === "AiError" ? ModelError.describe(error) : error
  return { code, message }
}

const leftAlone = ({ model, provider }: Models.ModelHandle, millis: number): Why => ({
  code: "model:left-alone",
  message:
    millis > 0
      ? `${provider}/${model} failed a moment ago and is left alone for ${Duration.format(Duration.seconds(Math.ceil(millis / 1000)))}`
      : `${provider}/${model} failed a moment ago and is being tried by another conversation`
})

const backAgain: Why = { code: "model:back", message: "It can be asked again" }
