import * as Schema from "effect/Schema"
import * as Tool from "../../tool/Tool.ts"

export const Wait = Tool.make("wait", {
  description:
    "Waits for a number of milliseconds. A longer wait than is allowed is cut to what is; the result says how long it was.",
  parameters: Schema.Struct({
    milliseconds: Schema.Int.check(Schema.isGreaterThanOrEqualTo(1)).annotate({
      description: "How long to wait, at least 1."
    })
  }),
  success: Schema.Struct({ slept_ms: Schema.Int, requested_ms: Schema.Int }),
  failure: Tool.NoFailure,
  limits: { timeout: "10 minutes", output: { maxChars: 200 } },
  cancellation: "interruptible",
  replay: "safe",
  capabilities: [],
  content: "own",
  identifiedBy: ["milliseconds"],
  polling: true
})
