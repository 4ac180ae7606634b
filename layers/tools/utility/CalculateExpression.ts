import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { Settings } from "../../../src/config/Settings.ts"
import * as ToolRegistry from "../../../src/tool/ToolRegistry.ts"
import {
  CalculateExpression,
  CalculationFailed,
  longestExpression
} from "../../../src/tools/utility/CalculateExpression.ts"
import * as Decimal from "../../../src/tools/utility/Decimal.ts"
import * as Expression from "../../../src/tools/utility/Expression.ts"

export const layer = ToolRegistry.layer(
  [CalculateExpression],
  Settings.useSync(({ tools: { calculator } }) => ({
    calculate_expression: ({ expression, scale }: typeof CalculateExpression.parameters.Type) => {
      const digits = Math.min(scale ?? calculator.default_scale, Decimal.maxDigits)
      const value = Expression.evaluate(expression, {
        digits,
        maxLength: Math.min(calculator.max_expression_length, longestExpression),
        maxExponent: calculator.max_exponent_abs
      })
      return Result.match(value, {
        onFailure: (problem) => Effect.fail(new CalculationFailed(problem)),
        onSuccess: (decimal) => Effect.succeed({ expression, result: Decimal.format(decimal), scale: digits })
      })
    }
  })),
  {
    offeredWhen: Settings.useSync(
      ({ tools }) =>
        () =>
          tools.calculator.enabled
    )
  }
)
