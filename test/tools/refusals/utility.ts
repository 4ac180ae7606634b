import * as Refusals from "./Refusals.ts"

const expressions = {
  empty: " ",
  too_long: "1+".repeat(200),
  illegal_character: "2 & 3",
  bad_number: "1.2.3",
  unbalanced_parentheses: "(1",
  unsupported_operator: "7 // 2",
  unexpected_token: "1 +",
  too_deep: "-".repeat(100) + "1",
  division_by_zero: "1 % 0",
  non_integer_exponent: "2 ** 0.5",
  exponent_too_large: "2 ** 5000",
  undefined_power: "0 ** 0",
  too_large: "(10 ** 900) ** 900"
}

export const group: Refusals.Group = {
  layer: Refusals.tools({}),
  refusals: [
    { tool: "current_datetime", code: "time:unknown_directive", arguments: { format: "%Q" } },
    ...Object.entries(expressions).map(([reason, expression]) => ({
      tool: "calculate_expression",
      code: `calculator:${reason}`,
      arguments: { expression }
    }))
  ]
}
