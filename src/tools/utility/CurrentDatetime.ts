import * as Schema from "effect/Schema"
import * as Tool from "../../tool/Tool.ts"

/** The format holds a directive that does not exist. */
export class UnknownDirective extends Schema.TaggedError<UnknownDirective>()("UnknownDirective", {
  directive: Schema.String
}) {
  readonly code = "time:unknown_directive"
  override get message() {
    return `${JSON.stringify(this.directive)} is no strftime directive. Use for example %Y-%m-%d %H:%M:%S, and %% for a percent sign.`
  }
}

export const CurrentDatetime = Tool.make("current_datetime", {
  description: "The current date and time in UTC. `format` is in strftime notation, for example %A, %d %B %Y.",
  parameters: Schema.Struct({
    format: Schema.optionalKey(
      Schema.String.check(Schema.isMaxLength(200)).annotate({
        description: "strftime format; the configured one when left out."
      })
    )
  }),
  success: Schema.Struct({ timestamp: Schema.String }),
  failure: UnknownDirective,
  limits: { timeout: "1 second", output: { maxChars: 8000 } },
  cancellation: "interruptible",
  replay: "safe",
  capabilities: [],
  content: "own",
  identifiedBy: ["format"]
})
