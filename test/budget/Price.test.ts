import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Price from "../../src/budget/Price.ts"

const price = { input: 1_250_000, cachedInput: 125_000, output: 10_000_000, reasoning: 12_000_000 }

describe("prices", () => {
  it("amounts are read exactly, and what cannot be kept exactly is not read", () => {
    for (const [text, micros] of [
      ["0", 0],
      ["1.25", 1_250_000],
      ["0.000001", 1],
      ["0.1", 100_000],
      ["999999999.999999", 999_999_999_999_999]
    ] as const) {
      assert.strictEqual(Price.micros(text), micros)
    }
    for (const text of ["", ".5", "1.", "-1", "1e3", "0.0000001", "1,5", "1000000000", "NaN"]) {
      assert.isUndefined(Price.micros(text), text)
    }
  })

  it("amounts are written with two digits behind the point, or as many as they have", () => {
    assert.deepStrictEqual([0, 1, 10, 1_200_000, 1_234_500, 12_000_000].map(Price.text), [
      "0.00",
      "0.000001",
      "0.00001",
      "1.20",
      "1.2345",
      "12.00"
    ])
  })

  it("cached input and reasoning have their own prices, and the sum alone is rounded, up", () => {
    const usage = { inputTokens: 1000, cachedInputTokens: 400, outputTokens: 100, reasoningTokens: 30 }
    // 600 × 1.25 + 400 × 0.125 + 70 × 10 + 30 × 12
    assert.strictEqual(Price.cost(price, usage), 750 + 50 + 700 + 360)
    assert.strictEqual(Price.cost(price, { inputTokens: 1, outputTokens: 0 }), 2)
    assert.strictEqual(Price.cost(price, { inputTokens: 0, outputTokens: 0 }), 0)
  })

  it("a provider that counts more cached tokens than input is not paid twice", () => {
    const usage = { inputTokens: 8, cachedInputTokens: 16, outputTokens: 0 }
    assert.strictEqual(Price.cost(price, usage), 1)
  })

  it.effect.prop(
    "no response costs more than its worst case, and floating point plays no part",
    { input: tokens(), cached: tokens(), output: tokens(), reasoning: tokens() },
    ({ cached, input, output, reasoning }) =>
      Effect.sync(() => {
        const usage = {
          inputTokens: input,
          cachedInputTokens: cached,
          outputTokens: output,
          reasoningTokens: reasoning
        }
        const cost = Price.cost(price, usage)
        assert.isAtMost(cost, Price.worst(price, input, output))
        assert.isTrue(Number.isSafeInteger(cost))
      })
  )
})

function tokens() {
  return Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 10_000_000 }))
}
