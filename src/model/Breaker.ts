/**
 * Whether a model that failed is left alone for a while, as a state machine. Pure; times are milliseconds since 1970.
 *
 * Closed: it is asked. Open: it failed, and is not asked before `until`. Then one request is let through as a trial, while
 * all others still go elsewhere; how the trial ends decides.
 */
export type Breaker =
  | { readonly _tag: "Closed" }
  | { readonly _tag: "Open"; readonly until: number; readonly cooldown: number }
  | { readonly _tag: "HalfOpen"; readonly cooldown: number }

export const closed: Breaker = { _tag: "Closed" }

/** The cool-down grows to this many times its length. */
const mostDoublings = 16

/** The longest wait that a provider may ask for; a mistake of its must not put it away for good. */
const longestWait = 3_600_000

/** The state once a request is let through, or none when it must go elsewhere. */
export const admit = (breaker: Breaker, now: number): Breaker | undefined => {
  switch (breaker._tag) {
    case "Closed":
      return breaker
    case "Open":
      return now >= breaker.until ? { _tag: "HalfOpen", cooldown: breaker.cooldown } : undefined
    case "HalfOpen":
      return undefined
  }
}

/** The same when there is nobody else to ask: it is let through whatever happened. */
export const force = (breaker: Breaker): Breaker =>
  breaker._tag === "Open" ? { _tag: "HalfOpen", cooldown: breaker.cooldown } : breaker

/** A request failed in a way that another may fail, too. `wait`: how long the provider asks to be left alone. */
export const failed = (
  breaker: Breaker,
  now: number,
  options: { readonly cooldown: number; readonly wait: number }
): Breaker => {
  // It was asked before it opened, and tells nothing new.
  if (breaker._tag === "Open") return breaker
  const cooldown =
    breaker._tag === "Closed" ? options.cooldown : Math.min(breaker.cooldown * 2, options.cooldown * mostDoublings)
  return { _tag: "Open", cooldown, until: now + Math.max(cooldown, Math.min(options.wait, longestWait)) }
}

/** A request ended in a way that tells nothing of the next: it was stopped, or was itself at fault. */
export const released = (breaker: Breaker, now: number): Breaker =>
  breaker._tag === "HalfOpen" ? { _tag: "Open", cooldown: breaker.cooldown, until: now } : breaker

/** When it may be asked again; now or earlier when it is not open. */
export const until = (breaker: Breaker): number => (breaker._tag === "Open" ? breaker.until : 0)
