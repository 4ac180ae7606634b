/** Only a text field of a tool's success can move to a file. */
import * as Tool from "../../src/tool/Tool.ts"
import { declaration } from "./Given.ts"

export const NotText = Tool.make("not_text", {
  ...declaration,
  replay: "safe",
  // @ts-expect-error `lines` is a number
  limits: { timeout: "30 seconds", output: { maxChars: 100, spill: "lines" } }
  // instead: limits: { timeout: "30 seconds", output: { maxChars: 100, spill: "text" } }
})

export const NotThere = Tool.make("not_there", {
  ...declaration,
  replay: "safe",
  // @ts-expect-error the success has no such field
  limits: { timeout: "30 seconds", output: { maxChars: 100, spill: "matches" } }
  // instead: limits: { timeout: "30 seconds", output: { maxChars: 100 } }
})
