import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Settings } from "../../../src/config/Settings.ts"
import { Process } from "../../../src/process/Process.ts"
import { ToolCallContext } from "../../../src/tool/ToolContext.ts"
import * as ToolRegistry from "../../../src/tool/ToolRegistry.ts"
import { Bash, withSecrets } from "../../../src/tools/execution/Bash.ts"
import * as SecretUse from "../../../src/vault/SecretUse.ts"
import * as Outcome from "./Outcome.ts"

type Section = Settings["Service"]["tools"]["bash"]

type Asked = typeof Bash.parameters.Type & { readonly secrets?: ReadonlyArray<string> }

const options = {
  offeredWhen: Settings.useSync(
    ({ tools }) =>
      () =>
        tools.bash.enabled
  )
}

export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const { tools } = yield* Settings
    const use = yield* SecretUse.current
    const handlers = { bash: handler(tools.bash, use) }
    return use.forPrograms.length === 0
      ? ToolRegistry.layer([Bash], handlers, options)
      : ToolRegistry.layer([withSecrets(use.forPrograms)], handlers, options)
  })
)

const handler = (settings: Section, use: SecretUse.SecretUse) =>
  Effect.fnUntraced(function* ({ command, cwd, env = {}, secrets = [], timeout_seconds }: Asked) {
    const { callId } = yield* ToolCallContext
    const finished = yield* (yield* Process).run({
      callId,
      program: "/bin/bash",
      // A login shell reads the profile of the user, as the environment of the daemon alone does not.
      args: [settings.pass_parent_env ? "-lc" : "-c", "--", command],
      cwd,
      env,
      secrets: use.variables(secrets),
      inherit: settings,
      limits: {
        timeout: Outcome.timeLimit(timeout_seconds, settings),
        maxOutputBytes: settings.max_output_bytes
      },
      sandbox: settings,
      ...(settings.spill_to_managed_file ? { spill: spillOf(settings) } : {})
    })
    const { sandbox, spilled, stderr, stdout } = finished
    return {
      ...Outcome.of(finished),
      stdout: spilled === undefined ? stdout : "",
      stderr,
      cwd: finished.cwd,
      command,
      sandbox_applied: sandbox,
      ...(spilled === undefined
        ? {}
        : {
            stdout_storage: "managed_file" as const,
            stdout_file_path: spilled.path,
            stdout_file_absolute_path: spilled.absolutePath,
            stdout_bytes_written: spilled.bytes,
            stdout_preview: spilled.preview,
            stdout_notice: `Standard output is longer than ${settings.spill_after_chars} characters and is in this file. Read the part of it that you need.`
          })
    }
  })

const spillOf = (settings: Section) => ({
  tool: "bash",
  subdir: settings.spill_subdir,
  afterChars: settings.spill_after_chars,
  previewChars: settings.spill_preview_chars,
  maxBytes: settings.max_spill_bytes
})
