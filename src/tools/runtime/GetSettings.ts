import * as Schema from "effect/Schema"
import * as Tool from "../../tool/Tool.ts"

const names = Schema.Array(Schema.String)

/**
 * What the tool may say: these fields and no others. A new setting stays unsaid until somebody adds it here, which nobody
 * does for a secret, an address or a header. What is off is absent.
 */
const Report = Schema.Struct({
  version: Schema.String,
  /** Null when everything is a default. */
  config_path: Schema.NullOr(Schema.String),
  cwd: Schema.String,
  data_dir: Schema.String,
  channels: names,
  llm: Schema.Struct({ provider: Schema.String, model: Schema.String, prompts_dir: Schema.String }),
  memory: Schema.Struct({
    max_history_messages: Schema.NullOr(Schema.Int),
    max_history_tokens: Schema.NullOr(Schema.Int)
  }),
  agents: Schema.Struct({ main: Schema.String, tools_allow: names, tools_deny: names }),
  /** Where one is unlocked. */
  vault: Schema.optionalKey(Schema.Struct({ secrets: Schema.Int })),
  tools: Schema.Struct({
    offered: names,
    time: Schema.optionalKey(Schema.Struct({ default_format: Schema.String })),
    wait: Schema.optionalKey(Schema.Struct({ max_milliseconds: Schema.Int })),
    calculator: Schema.optionalKey(
      Schema.Struct({ default_scale: Schema.Int, max_expression_length: Schema.Int, max_exponent_abs: Schema.Int })
    ),
    file_storage: Schema.optionalKey(
      Schema.Struct({
        root_dir: Schema.String,
        max_write_bytes: Schema.Int,
        allow_outside_root: Schema.Boolean,
        save_incoming_uploads: Schema.Boolean,
        uploads_subdir: Schema.String,
        incoming_temp_subdir: Schema.String
      })
    ),
    kv_memory: Schema.optionalKey(
      Schema.Struct({ default_limit: Schema.Int, max_limit: Schema.Int, max_notes: Schema.Int, categories: names })
    ),
    skills: Schema.optionalKey(Schema.Struct({ native: Schema.Boolean, native_disabled: names })),
    approval: Schema.optionalKey(Schema.Struct({ require_approval: names, timeout_seconds: Schema.Finite })),
    tool_output_spill: Schema.optionalKey(
      Schema.Struct({
        spill_after_chars: Schema.Int,
        preview_chars: Schema.Int,
        subdir: Schema.String,
        exclude_tools: names
      })
    )
  })
})
export type Report = typeof Report.Type

export const GetSettings = Tool.make("get_settings", {
  description:
    "What this installation is running: version, settings file, channels, model, tools with their settings, agents. " +
    "What is off is absent. Never tells a secret or an address.",
  parameters: Schema.Struct({}),
  success: Report,
  failure: Tool.NoFailure,
  limits: { timeout: "5 seconds", output: { maxChars: 16_000 } },
  cancellation: "interruptible",
  replay: "safe",
  capabilities: [],
  content: "own"
})
