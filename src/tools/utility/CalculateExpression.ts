import * as Schema from "effect/Schema"
import * as Tool from "../../tool/Tool.ts"
import * as Decimal from "./Decimal.ts"

/** No setting makes a longer expression acceptable. */
export const longestExpression = 2000

/** The expression has no value. `at` is the offset of the place, from 0, where there is one. */
export class CalculationFailed extends Schema.TaggedError<CalculationFailed>()("CalculationFailed", {
  reason: Schema.Literals([
    "empty",
    "too_long",
    "illegal_character",
    "bad_number",
    "unbalanced_parentheses",
    "unsupported_operator",
    "unexpected_token",
    "too_deep",
    "division_by_zero",
    "non_integer_exponent",
    "exponent_too_large",
    "undefined_power",
    "too_large"
  ]),
  at: Schema.optionalKey(Schema.Int)
}) {
  get code() {
    return `calculator:${this.reason}`
  }
  override get message() {
    const where = this.at === undefined ? "" : ` at character ${this.at + 1}`
    return `The expression cannot be calculated: ${explanations[this.reason]}${where}.`
  }
}

const explanations: Readonly<Record<CalculationFailed["reason"], string>> = {
  empty: "it is empty",
  too_long: "it is longer than allowed; calculate it in parts",
  illegal_character:
    "only digits, . ( ) + - * / % and white space are taken (a power is **), and there is another character",
  bad_number: "a number has more than one point, or nothing but a point",
  unbalanced_parentheses: "a parenthesis has no partner",
  unsupported_operator: "there is an operator other than + - * / % **",
  unexpected_token: "a number, an operator or a parenthesis is not where it can be",
  too_deep: "too many parentheses, signs or powers are inside each other",
  division_by_zero: "it divides by zero",
  non_integer_exponent: "an exponent is not a whole number",
  exponent_too_large: "an exponent is too large",
  undefined_power: "zero to the power of zero is not defined",
  too_large: `a number is beyond 10 to the power of ±${Decimal.maxMagnitude}`
}

export const CalculateExpression = Tool.make("calculate_expression", {
  description:
    "Calculates an arithmetic expression in exact decimal arithmetic. Takes numbers, + - * / % ** and parentheses; " +
    "% is the remainder, with the sign of what is divided; ** takes whole exponents.",
  parameters: Schema.Struct({
    expression: Schema.String.annotate({ description: "For example (1.1 + 2.2) * 3 ** 2." }),
    scale: Schema.optionalKey(
      Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: Decimal.maxDigits })).annotate({
        description: "Significant digits of the result and of every step; the configured number when left out."
      })
    )
  }),
  success: Schema.Struct({ expression: Schema.String, result: Schema.String, scale: Schema.Int }),
  failure: CalculationFailed,
  limits: { timeout: "2 seconds", output: { maxChars: 16_000, spill: "result" } },
  cancellation: "interruptible",
  replay: "safe",
  capabilities: [],
  content: "own",
  identifiedBy: ["expression"]
})
