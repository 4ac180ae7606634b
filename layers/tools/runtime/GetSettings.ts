import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Path from "effect/Path"
import { Channels } from "../../../src/channel/Channels.ts"
import { ConfigSource } from "../../../src/config/ConfigSource.ts"
import { Settings } from "../../../src/config/Settings.ts"
import type { SettingsValue } from "../../../src/config/Settings.ts"
import * as ManagedRoot from "../../../src/file/ManagedRoot.ts"
import { DataDirectory } from "../../../src/storage/DataDirectory.ts"
import { ToolCallContext } from "../../../src/tool/ToolContext.ts"
import * as ToolRegistry from "../../../src/tool/ToolRegistry.ts"
import { GetSettings } from "../../../src/tools/runtime/GetSettings.ts"
import type { Report } from "../../../src/tools/runtime/GetSettings.ts"
import { Vault } from "../../../src/vault/Vault.ts"
import * as Version from "../../cli/Version.ts"

export const layer = ToolRegistry.layer(
  [GetSettings],
  Effect.gen(function* () {
    const settings = yield* Settings
    const source = yield* ConfigSource
    const vault = yield* Vault
    const channels = yield* Channels
    const registry = yield* ToolRegistry.ToolRegistry
    const cwd = (yield* Path.Path).resolve(".")
    const dataDirectory = yield* DataDirectory

    const get_settings = Effect.fnUntraced(function* () {
      const offered = yield* registry.offered(yield* ToolCallContext)
      return {
        version: Version.version,
        config_path: source._tag === "File" ? source.path : null,
        cwd,
        data_dir: dataDirectory.path,
        channels: (yield* channels.all).map((channel) => channel.name),
        llm: {
          provider: settings.llm.provider,
          model: settings.llm.model,
          prompts_dir: settings.llm.prompts_dir
        },
        memory: {
          max_history_messages: settings.memory.max_history_messages ?? null,
          max_history_tokens: settings.memory.max_history_tokens ?? null
        },
        agents: {
          main: settings.orchestration.main_agent.name,
          tools_allow: settings.orchestration.main_agent.tools_allow,
          tools_deny: settings.orchestration.main_agent.tools_deny
        },
        ...(vault.unlocked ? { vault: { secrets: vault.names.length } } : {}),
        tools: {
          offered: Array.from(offered.keys()),
          ...reportTools(settings.tools, ManagedRoot.of(settings, dataDirectory))
        }
      }
    })
    return { get_settings }
  })
)

/** Field by field on purpose: what is not named here is not told. */
const reportTools = (tools: SettingsValue["tools"], managedFiles: string): Omit<Report["tools"], "offered"> => {
  const {
    approval,
    calculator,
    file_storage: files,
    kv_memory: memory,
    skills,
    time,
    tool_output_spill: spill,
    wait
  } = tools
  return {
    ...(time.enabled ? { time: { default_format: time.default_format } } : {}),
    ...(wait.enabled ? { wait: { max_milliseconds: wait.max_milliseconds } } : {}),
    ...(calculator.enabled
      ? {
          calculator: {
            default_scale: calculator.default_scale,
            max_expression_length: calculator.max_expression_length,
            max_exponent_abs: calculator.max_exponent_abs
          }
        }
      : {}),
    ...(files.enabled
      ? {
          file_storage: {
            root_dir: managedFiles,
            max_write_bytes: files.max_write_bytes,
            allow_outside_root: files.allow_outside_root,
            save_incoming_uploads: files.save_incoming_uploads,
            uploads_subdir: files.uploads_subdir,
            incoming_temp_subdir: files.incoming_temp_subdir
          }
        }
      : {}),
    ...(memory.enabled
      ? {
          kv_memory: {
            default_limit: memory.default_limit,
            max_limit: memory.max_limit,
            max_notes: memory.max_notes,
            categories: memory.categories
          }
        }
      : {}),
    ...(skills.native ? { skills: { native: true, native_disabled: skills.native_disabled } } : {}),
    ...(approval.require_approval.length > 0
      ? {
          approval: {
            require_approval: approval.require_approval,
            timeout_seconds: Duration.toSeconds(approval.timeout_seconds)
          }
        }
      : {}),
    ...(spill.enabled
      ? {
          tool_output_spill: {
            spill_after_chars: spill.spill_after_chars,
            preview_chars: spill.preview_chars,
            subdir: spill.subdir,
            exclude_tools: spill.exclude_tools
          }
        }
      : {})
  }
}
