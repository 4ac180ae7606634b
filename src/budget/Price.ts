/** What tokens cost, in whole millionths of a currency unit: never in floating point. */
import type * as Entry from "../thread/Entry.ts"

/** Of a million tokens each, in micros: millionths of the currency that the settings speak of. */
export interface Price {
  readonly input: number
  readonly cachedInput: number
  readonly output: number
  readonly reasoning: number
}

const perMillion = 1_000_000n

/**
 * Reads an amount such as `1.25` as micros: up to nine digits, and up to six behind the point. Undefined for everything else, as an
 * amount that is finer than a micro cannot be kept exactly.
 */
export const micros = (text: string): number | undefined => {
  const [, whole, fraction = ""] = /^(\d{1,9})(?:\.(\d{1,6}))?$/.exec(text) ?? []
  return whole === undefined ? undefined : Number(whole + fraction.padEnd(6, "0"))
}

/** An amount for people: at least two digits behind the point, and no more than it takes. */
export const text = (amount: number): string => {
  const digits = String(amount).padStart(7, "0")
  return `${digits.slice(0, -6)}.${digits.slice(-6).replace(/0{1,4}$/, "")}`
}

/** Cached tokens are among the input, those of reasoning among the output. What is less than a micro counts as one. */
export const cost = (price: Price, usage: Entry.Usage): number => {
  const cached = Math.min(usage.cachedInputTokens ?? 0, usage.inputTokens)
  const reasoning = Math.min(usage.reasoningTokens ?? 0, usage.outputTokens)
  return up(
    product(usage.inputTokens - cached, price.input) +
      product(cached, price.cachedInput) +
      product(usage.outputTokens - reasoning, price.output) +
      product(reasoning, price.reasoning)
  )
}

/** No response of so many tokens costs more, however they are told apart. */
export const worst = (price: Price, inputTokens: number, outputTokens: number): number =>
  up(
    product(inputTokens, Math.max(price.input, price.cachedInput)) +
      product(outputTokens, Math.max(price.output, price.reasoning))
  )

const product = (tokens: number, price: number): bigint => BigInt(tokens) * BigInt(price)

const up = (amount: bigint): number => Number((amount + perMillion - 1n) / perMillion)
