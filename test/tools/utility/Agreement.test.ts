/** The calculator against a decimal library that nobody here wrote, on random expressions. */
import { assert, it } from "@effect/vitest"
import { Decimal as Reference } from "decimal.js"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Decimal from "../../../src/tools/utility/Decimal.ts"
import * as Expression from "../../../src/tools/utility/Expression.ts"

const count = 10_000
const maxExponent = 1_000

const Digits = Schema.Literals([3, 10, 28, 50])
const Operator = Schema.Literals(["+", "-", "*", "/", "%"])

/** What a stack machine does with what it has: put a number on it, or replace what lies on top. */
const Step = Schema.Union([
  Schema.Struct({ put: Schema.String.check(Schema.isPattern(/^([0-9]{1,12}|[0-9]{0,6}\.[0-9]{1,8})$/)) }),
  Schema.Struct({ put: Schema.Literals(["0", "1", "2", "0.5", "10", "999", "0.001"]) }),
  Schema.Struct({ by: Operator }),
  Schema.Struct({ raise: Schema.Int.check(Schema.isBetween({ minimum: -9, maximum: 20 })) }),
  Schema.Struct({ negate: Schema.Literal(true) })
])

/** As many short expressions as long ones. */
const given = Arbitrary.flatMap(Arbitrary.schema(Schema.Literals([1, 3, 6, 12, 25, 40])), (length) =>
  Arbitrary.all({
    digits: Arbitrary.schema(Digits),
    steps: Arbitrary.array(Arbitrary.schema(Step), { minLength: length, maxLength: length })
  })
)

/** How tightly what was written last binds: a sum, a product, a sign, a power, or a number or parentheses. */
type Level = 1 | 2 | 3 | 4 | 5

interface Written {
  readonly text: string
  readonly level: Level
  /** Undefined where the calculator has to refuse. */
  readonly value: Reference | undefined
}

/** The expression with no more parentheses than it needs, and what the library makes of it step by step. */
const written = (digits: number, steps: ReadonlyArray<typeof Step.Type>): Written => {
  const Library = Reference.clone({
    precision: digits,
    rounding: Reference.ROUND_HALF_EVEN,
    modulo: Reference.ROUND_DOWN,
    maxE: 10_000_000,
    minE: -10_000_000
  })
  const stack: Array<Written> = []
  for (const step of steps) {
    const top = stack.at(-1)
    if ("put" in step) stack.push({ text: step.put, level: 5, value: new Library(step.put) })
    else if (top === undefined) continue
    else if ("negate" in step) {
      stack.splice(-1, 1, { text: `-${inside(top, 3)}`, level: 3, value: top.value?.negated() })
    } else if ("raise" in step) {
      const value = known(top.value, (base) => (base.isZero() && step.raise <= 0 ? undefined : base.pow(step.raise)))
      stack.splice(-1, 1, { text: `${inside(top, 5)} ** ${step.raise}`, level: 4, value })
    } else combine(stack, step.by)
  }
  while (stack.length > 1) combine(stack, "+")
  const whole = stack[0] ?? { text: "7", level: 5, value: new Library(7) }
  return { ...whole, value: known(whole.value, (value) => value.toSignificantDigits(digits)) }
}

const combine = (stack: Array<Written>, by: typeof Operator.Type) => {
  const [left, right] = stack.slice(-2)
  if (left === undefined || right === undefined) return
  const level = by === "+" || by === "-" ? 1 : 2
  const value = known(left.value, (a) => known(right.value, (b) => apply(by, a, b)))
  stack.splice(-2, 2, { text: `${inside(left, level)} ${by} ${inside(right, level === 1 ? 2 : 3)}`, level, value })
}

const inside = ({ level, text }: Written, least: Level): string => (level < least ? `(${text})` : text)

/** Refused from here on when the operand was, or when the outcome is beyond the numbers there are. */
const known = (
  value: Reference | undefined,
  operate: (value: Reference) => Reference | undefined
): Reference | undefined => {
  const outcome = value === undefined ? undefined : operate(value)
  if (outcome === undefined || outcome.isZero()) return outcome
  return outcome.isFinite() && Math.abs(outcome.e + 1) <= Decimal.maxMagnitude ? outcome : undefined
}

const apply = (by: typeof Operator.Type, a: Reference, b: Reference): Reference | undefined => {
  switch (by) {
    case "+":
      return a.plus(b)
    case "-":
      return a.minus(b)
    case "*":
      return a.times(b)
    case "/":
      return b.isZero() ? undefined : a.dividedBy(b)
    case "%":
      return b.isZero() ? undefined : a.modulo(b)
  }
}

it.effect(`agrees with a decimal library on ${count} random expressions`, () =>
  Effect.gen(function* () {
    let refused = 0
    let longest = 0
    for (const { digits, steps } of yield* Arbitrary.sampleEffect(given, { count, seed: 20_261_130 })) {
      const { text, value } = written(digits, steps)
      const ours = Expression.evaluate(text, { digits, maxLength: 10_000, maxExponent })
      const told = Result.match(ours, { onSuccess: Decimal.format, onFailure: () => undefined })
      const expected = value?.isZero() === true ? "0" : value?.toFixed()
      assert.strictEqual(told, expected, `${text} with ${digits} digits`)
      if (value === undefined) refused += 1
      longest = Math.max(longest, text.length)
    }
    // The expressions are not all small ones, and not all of them divide by zero.
    assert.isAbove(longest, 150)
    assert.isBelow(refused, count / 3)
    assert.isAbove(refused, 0)
  })
)
