/** The built-in tools by group, with what their types do not say: when they are offered and which failures they have. */
import type * as Tool from "../tool/Tool.ts"
import { ChatHistoryInfo } from "./history/ChatHistoryInfo.ts"
import { ChatHistoryTrim } from "./history/ChatHistoryTrim.ts"
import { PreResponse } from "./response/PreResponse.ts"
import { GetSettings } from "./runtime/GetSettings.ts"
import { CalculateExpression } from "./utility/CalculateExpression.ts"
import { CurrentDatetime } from "./utility/CurrentDatetime.ts"
import { Wait } from "./utility/Wait.ts"

export interface Item {
  readonly tool: Tool.Any
  /** The section of the settings file with its switch and its settings; absent for a tool that is always offered. */
  readonly section?: ReadonlyArray<string>
  /** Code → meaning of the failures it declares. */
  readonly failures: Readonly<Record<string, string>>
}

export interface Group {
  readonly title: string
  readonly items: ReadonlyArray<Item>
}

export const catalogue: ReadonlyArray<Group> = [
  { title: "Response", items: [{ tool: PreResponse, failures: {} }] },
  {
    title: "Chat history",
    items: [
      { tool: ChatHistoryInfo, failures: {} },
      { tool: ChatHistoryTrim, failures: {} }
    ]
  },
  { title: "Runtime", items: [{ tool: GetSettings, failures: {} }] },
  {
    title: "Utility",
    items: [
      {
        tool: CurrentDatetime,
        section: ["tools", "time"],
        failures: { "time:unknown_directive": "the format holds a directive that does not exist" }
      },
      { tool: Wait, section: ["tools", "wait"], failures: {} },
      {
        tool: CalculateExpression,
        section: ["tools", "calculator"],
        failures: {
          "calculator:empty": "there is no expression",
          "calculator:too_long": "it is longer than allowed",
          "calculator:illegal_character": "a character that no expression has",
          "calculator:bad_number": "a number with two points, or only a point",
          "calculator:unbalanced_parentheses": "a parenthesis without its partner",
          "calculator:unsupported_operator": "an operator such as `//`",
          "calculator:unexpected_token": "something is not where it can be",
          "calculator:too_deep": "more than 64 things inside each other",
          "calculator:division_by_zero": "division or remainder by zero",
          "calculator:non_integer_exponent": "an exponent that is not whole",
          "calculator:exponent_too_large": "an exponent beyond the setting",
          "calculator:undefined_power": "zero to the power of zero",
          "calculator:too_large": "a number beyond 10 to the power of ±10000"
        }
      }
    ]
  }
]
