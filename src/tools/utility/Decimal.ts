/**
 * Decimal numbers of bounded size: `coefficient × 10^exponent`. Each operation is exact and then rounded to a number of
 * significant digits, half to even. Nothing here takes longer than its operands' digits allow, and these are bounded.
 */
import * as Result from "effect/Result"

export interface Decimal {
  readonly coefficient: bigint
  readonly exponent: number
}

export type Trouble =
  | "division_by_zero"
  | "non_integer_exponent"
  | "exponent_too_large"
  | "undefined_power"
  | "too_large"

/** The most significant digits that can be asked for. */
export const maxDigits = 1000
/** Numbers are smaller than 10 to this power, and their inverse too. */
export const maxMagnitude = 10_000

type Outcome = Result.Result<Decimal, Trouble>

/** A number as it is written: digits with at most one point. */
export const fromDigits = (written: string): Decimal => {
  const [whole = "", fraction = ""] = written.split(".")
  return { coefficient: BigInt(`0${whole}${fraction}`), exponent: -fraction.length }
}

export const negate = ({ coefficient, exponent }: Decimal): Decimal => ({ coefficient: -coefficient, exponent })

export const add = (left: Decimal, right: Decimal, digits: number): Outcome => {
  if (left.coefficient === 0n) return round(right, digits)
  if (right.coefficient === 0n) return round(left, digits)
  const [large, small] = magnitude(left) >= magnitude(right) ? [left, right] : [right, left]
  const other = negligible(large, small, digits) ?? small
  const exponent = Math.min(large.exponent, other.exponent)
  return round({ coefficient: scaled(large, exponent) + scaled(other, exponent), exponent }, digits)
}

export const subtract = (left: Decimal, right: Decimal, digits: number): Outcome => add(left, negate(right), digits)

export const multiply = (left: Decimal, right: Decimal, digits: number): Outcome =>
  round({ coefficient: left.coefficient * right.coefficient, exponent: left.exponent + right.exponent }, digits)

export const divide = (left: Decimal, right: Decimal, digits: number): Outcome => {
  if (right.coefficient === 0n) return Result.fail("division_by_zero")
  // Enough digits for rounding, and one more that is not zero when anything is left over.
  const shift = Math.max(0, digits + 2 + length(right.coefficient) - length(left.coefficient))
  const numerator = left.coefficient * power10(shift)
  const quotient = numerator / right.coefficient
  const rest = numerator % right.coefficient === 0n ? 0n : numerator < 0n === right.coefficient < 0n ? 1n : -1n
  return round({ coefficient: quotient * 10n + rest, exponent: left.exponent - right.exponent - shift - 1 }, digits)
}

/** What is left of `left` after taking away `right` as often as possible; it has the sign of `left`. */
export const remainder = (left: Decimal, right: Decimal, digits: number): Outcome => {
  if (right.coefficient === 0n) return Result.fail("division_by_zero")
  const exponent = Math.min(left.exponent, right.exponent)
  return round({ coefficient: scaled(left, exponent) % scaled(right, exponent), exponent }, digits)
}

/** Whole powers, between `-limit` and `limit`. */
export const power = (base: Decimal, by: Decimal, limit: number, digits: number): Outcome => {
  const { coefficient, exponent } = normalized(by)
  if (exponent < 0) return Result.fail("non_integer_exponent")
  if (exponent > 12 || length(coefficient) > 12) return Result.fail("exponent_too_large")
  const times = Number(coefficient * power10(exponent))
  if (Math.abs(times) > limit) return Result.fail("exponent_too_large")
  if (base.coefficient === 0n) {
    if (times === 0) return Result.fail("undefined_power")
    return times < 0 ? Result.fail("division_by_zero") : Result.succeed(zero)
  }
  // Rounding on the way costs less than a digit a step: these more keep the last digits right.
  const working = digits + String(limit).length + 6
  const raised = raise(base, Math.abs(times), working)
  return Result.flatMap(raised, (value) => (times < 0 ? divide(one, value, digits) : round(value, digits)))
}

/** The number without exponent notation and without zeros at the end of its fraction. */
export const format = (value: Decimal): string => {
  const { coefficient, exponent } = normalized(value)
  const sign = coefficient < 0n ? "-" : ""
  const digits = String(coefficient < 0n ? -coefficient : coefficient)
  if (exponent >= 0) return `${sign}${digits}${"0".repeat(exponent)}`
  const whole = digits.slice(0, exponent)
  return `${sign}${whole === "" ? "0" : whole}.${digits.slice(exponent).padStart(-exponent, "0")}`
}

/** Rounded to the number of significant digits; refused beyond the largest and below the smallest number. */
export const round = (value: Decimal, digits: number): Outcome => {
  const dropped = length(value.coefficient) - digits
  const kept =
    dropped <= 0 ? value : { coefficient: halfToEven(value.coefficient, dropped), exponent: value.exponent + dropped }
  return kept.coefficient !== 0n && Math.abs(magnitude(kept)) > maxMagnitude
    ? Result.fail("too_large")
    : Result.succeed(kept.coefficient === 0n ? zero : kept)
}

// ---------------------------------------------------------------------------------------------------------------------
// Helpers

const zero: Decimal = { coefficient: 0n, exponent: 0 }
const one: Decimal = { coefficient: 1n, exponent: 0 }

const power10 = (exponent: number): bigint => 10n ** BigInt(exponent)

const absolute = (value: bigint): bigint => (value < 0n ? -value : value)

/** How many digits. */
const length = (coefficient: bigint): number => String(absolute(coefficient)).length

/** The power of ten of the first digit. */
const magnitude = ({ coefficient, exponent }: Decimal): number => length(coefficient) + exponent

const scaled = ({ coefficient, exponent }: Decimal, to: number): bigint => coefficient * power10(exponent - to)

/** Stands for a number so small beside the other that only its sign can matter to rounding. */
const negligible = (large: Decimal, small: Decimal, digits: number): Decimal | undefined => {
  const lowest = Math.min(large.exponent, magnitude(large) - digits) - 3
  return magnitude(small) < lowest ? { coefficient: small.coefficient < 0n ? -1n : 1n, exponent: lowest } : undefined
}

const halfToEven = (coefficient: bigint, dropped: number): bigint => {
  const unit = power10(dropped)
  const size = absolute(coefficient)
  const down = size / unit
  const rest = (size % unit) * 2n
  const up = rest > unit || (rest === unit && down % 2n === 1n)
  const rounded = up ? down + 1n : down
  return coefficient < 0n ? -rounded : rounded
}

const raise = (base: Decimal, times: number, digits: number): Outcome => {
  let result: Outcome = Result.succeed(one)
  let square: Outcome = round(base, digits)
  for (let left = times; left > 0; left = Math.floor(left / 2)) {
    const factor = square
    if (left % 2 === 1) result = Result.flatMap(result, (a) => Result.flatMap(factor, (b) => multiply(a, b, digits)))
    if (left > 1) square = Result.flatMap(factor, (a) => multiply(a, a, digits))
  }
  return result
}

const normalized = ({ coefficient, exponent }: Decimal): Decimal => {
  if (coefficient === 0n) return zero
  const zeros = /0*$/.exec(String(absolute(coefficient)))?.[0].length ?? 0
  return zeros === 0
    ? { coefficient, exponent }
    : { coefficient: coefficient / power10(zeros), exponent: exponent + zeros }
}
