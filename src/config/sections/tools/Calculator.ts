import * as Key from "../../Key.ts"
import * as Values from "../../Values.ts"

export const section = Key.key(
  Key.table({
    enabled: Key.key(Values.Bool, true, "Offer calculate_expression."),
    default_scale: Key.key(Values.PositiveInt, 28, "Significant digits of a result unless the call asks otherwise."),
    max_expression_length: Key.key(Values.PositiveInt, 200, "Longest expression taken, in characters."),
    max_exponent_abs: Key.key(Values.PositiveInt, 1000, "Largest exponent allowed, above or below zero.")
  }),
  {},
  "Exact decimal arithmetic."
)
