import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Decimal from "../../../src/tools/utility/Decimal.ts"
import * as Expression from "../../../src/tools/utility/Expression.ts"

const bounds: Expression.Bounds = { digits: 28, maxLength: 200, maxExponent: 1000 }

const calculate = (expression: string, some: Partial<Expression.Bounds> = {}): string =>
  Result.match(Expression.evaluate(expression, { ...bounds, ...some }), {
    onSuccess: Decimal.format,
    onFailure: ({ at, reason }) => (at === undefined ? reason : `${reason}@${at}`)
  })

const cases = (expected: Readonly<Record<string, string>>, some?: Partial<Expression.Bounds>) => {
  for (const [expression, result] of Object.entries(expected)) {
    assert.strictEqual(calculate(expression, some), result, JSON.stringify(expression))
  }
}

describe("an expression", () => {
  it("follows the rules of arithmetic", () =>
    cases({
      "1 + 2 * 3": "7",
      "(1 + 2) * 3": "9",
      "10 - 4 - 3": "3",
      "100 / 10 / 2": "5",
      "2 ** 3 ** 2": "512",
      "-2 ** 2": "-4",
      "(-2) ** 2": "4",
      "2 ** -2": "0.25",
      "-2 ** -2": "-0.25",
      "--3": "3",
      "-+-3": "3",
      "2 * -3": "-6",
      "1 - -1": "2",
      "7 % 3": "1",
      "-7 % 3": "-1",
      "7 % -3": "1",
      "-7 % -3": "-1",
      "5.5 % 2": "1.5",
      "10 ** 20 % 7": "2",
      " 1\t+\n1 ": "2",
      ".5 + 5.": "5.5"
    }))

  it("is exact where binary fractions are not, and plain where others use exponents", () =>
    cases({
      "0.1 + 0.2": "0.3",
      "1.10 + 2.20": "3.3",
      "100": "100",
      "1.500": "1.5",
      "0.000": "0",
      "-0": "0",
      "0 * -5": "0",
      "10 ** 30": `1${"0".repeat(30)}`,
      "10 ** -30": `0.${"0".repeat(29)}1`,
      "2 ** 90": "1237940039285380274899124224",
      "1 / 3": `0.${"3".repeat(28)}`,
      "2 / 3": `0.${"6".repeat(27)}7`
    }))

  it("rounds each step to its digits, half to even", () => {
    cases(
      {
        "1 / 3": "0.33333",
        "2 / 3": "0.66667",
        "123456 + 0": "123460",
        "123455 + 0": "123460",
        "123445 + 0": "123440"
      },
      { digits: 5 }
    )
    cases(
      { "10 + 0.04": "10", "10 + 0.06": "10.1", "10.05 * 1": "10", "10.15 * 1": "10.2", "99.96 * 1": "100" },
      { digits: 3 }
    )
    // So small beside the other number that only the way of rounding can tell.
    cases(
      { "10.05 + 10 ** -90": "10.1", "10.05 - 10 ** -90": "10", "10 ** 90 + 1": `1${"0".repeat(90)}` },
      { digits: 3 }
    )
    cases({ "1.0000000001 ** 1000": "1.000000100000005" }, { digits: 16 })
  })

  it("says where it is wrong, and how", () =>
    cases({
      "": "empty",
      "  ": "empty",
      ["1+".repeat(101)]: "too_long",
      "1 + x": "illegal_character@4",
      "2 ^ 3": "illegal_character@2",
      "1e5": "illegal_character@1",
      "1,5": "illegal_character@1",
      "١": "illegal_character@0",
      "1.2.3": "bad_number@0",
      "1 + .": "bad_number@4",
      "7 // 2": "unsupported_operator@2",
      "2 *** 3": "unsupported_operator@2",
      "(1 + 2": "unbalanced_parentheses@0",
      "1 + 2)": "unbalanced_parentheses@5",
      ")(": "unbalanced_parentheses@0",
      "()": "unexpected_token@1",
      "1 2": "unexpected_token@2",
      "1 +": "unexpected_token@3",
      "* 2": "unexpected_token@0",
      "(1 2)": "unexpected_token@3",
      "1 / 0": "division_by_zero@2",
      "1 / (2 - 2)": "division_by_zero@2",
      "5 % 0": "division_by_zero@2",
      "0 ** -1": "division_by_zero@2",
      "0 ** 0": "undefined_power@2",
      "2 ** 0.5": "non_integer_exponent@2",
      "2 ** 1001": "exponent_too_large@2",
      "2 ** -1001": "exponent_too_large@2",
      "9**9**9": "exponent_too_large@1",
      "2 ** 10 ** 100": "exponent_too_large@2",
      "(10 ** 1000) ** 1000": "too_large@13",
      "(10 ** -1000) ** 1000": "too_large@14"
    }))

  it("is bounded, whatever it asks for", () => {
    const wide = { maxLength: 2000, maxExponent: 1_000_000_000, digits: Decimal.maxDigits }
    assert.strictEqual(calculate(`${"(".repeat(900)}1${")".repeat(900)}`, wide), `too_deep@${Expression.maxDepth + 1}`)
    assert.match(calculate("-".repeat(1999) + "1", wide), /^too_deep/)
    assert.match(calculate(`2${"**2".repeat(600)}`, wide), /^too_deep/)
    assert.match(calculate("9**999999999", wide), /^too_large/)
    assert.match(calculate("1.000000001**999999999", wide), /^2\.71828/)
  })

  const whole = Schema.Int.check(Schema.isBetween({ minimum: -1_000_000_000, maximum: 1_000_000_000 }))

  it.prop("agrees with whole numbers", { a: whole, b: whole, c: whole }, ({ a, b, c }) => {
    const [x, y, z] = [BigInt(a), BigInt(b), BigInt(c)]
    assert.strictEqual(calculate(`(${a}) + (${b}) * (${c})`), String(x + y * z))
    assert.strictEqual(calculate(`(${a}) - (${b}) - (${c})`), String(x - y - z))
    if (y !== 0n) assert.strictEqual(calculate(`(${a}) % (${b})`), String(x % y))
    assert.strictEqual(calculate(`(${a}) ** 3`), String(x ** 3n))
  })

  it.prop(
    "divides to the nearest number of its digits",
    { a: whole, b: whole, digits: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 40 })) },
    ({ a, b, digits }) => {
      if (b === 0) return
      const quotient = Result.getOrThrow(Expression.evaluate(`(${a}) / (${b})`, { ...bounds, digits }))
      // |a - q·b| · 2 ≤ one unit of the last digit of q, times |b|
      const scale = 10n ** BigInt(Math.max(0, -quotient.exponent))
      const times = 10n ** BigInt(Math.max(0, quotient.exponent))
      const error = BigInt(a) * scale - quotient.coefficient * times * BigInt(b)
      const unit = times * BigInt(b)
      const size = (value: bigint) => (value < 0n ? -value : value)
      const slack = quotient.coefficient === 0n ? 0n : size(unit)
      assert.isTrue(size(error) * 2n <= slack)
    }
  )

  it.prop(
    "never hangs or dies on its own characters",
    { text: Schema.Array(Schema.Literals(["1", "9", ".", "(", ")", "+", "-", "*", "**", "/", "%", " "])) },
    ({ text }) => {
      assert.isString(calculate(text.join("")))
    }
  )
})
