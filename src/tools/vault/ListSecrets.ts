import * as Schema from "effect/Schema"
import * as Tool from "../../tool/Tool.ts"

export const ListSecrets = Tool.make("list_secrets", {
  description: "Lists the names of the secrets in the vault. Nobody is told a value.",
  parameters: Schema.Struct({}),
  success: Schema.Struct({ secrets: Schema.Array(Schema.String) }),
  failure: Tool.NoFailure,
  limits: { timeout: "5 seconds", output: { maxChars: 16_000 } },
  cancellation: "interruptible",
  replay: "safe",
  capabilities: [],
  content: "own"
})
