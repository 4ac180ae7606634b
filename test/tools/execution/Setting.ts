/** The tools of host execution in the whole pipeline, with real programs. */
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Workspace from "../../../layers/file/Workspace.ts"
import * as HostProcess from "../../../layers/process/HostProcess.ts"
import * as ProcessRunnerLive from "../../../layers/process/ProcessRunner.ts"
import * as Bash from "../../../layers/tools/execution/Bash.ts"
import * as Python from "../../../layers/tools/execution/Python.ts"
import { Environment } from "../../../src/config/Environment.ts"
import type { SettingsInput } from "../../../src/config/Settings.ts"
import { KnownSecrets } from "../../../src/secret/KnownSecrets.ts"
import * as ProcessSetting from "../../process/Setting.ts"
import * as Fixtures from "../../tool/Fixtures.ts"

/** A secret that the daemon knows. */
export const secret = "sk-of-the-daemon-1234567890"

export const parentEnvironment = {
  PATH: process.env["PATH"] ?? "/usr/bin:/bin",
  HOME: process.env["HOME"] ?? "/",
  LANG: "C.UTF-8",
  OPENAI_API_KEY: secret,
  EDITOR: "ed"
}

const files = Layer.provideMerge(Workspace.grants, Workspace.layer)

export const layer = (settings: SettingsInput) =>
  Layer.mergeAll(Bash.layer, Python.layer, HostProcess.layer).pipe(
    Layer.provideMerge(Layer.merge(ProcessRunnerLive.layer, files)),
    Layer.provideMerge(
      Layer.mergeAll(
        ProcessSetting.incarnation,
        Environment.layerTable(parentEnvironment),
        KnownSecrets.layer([Redacted.make(secret)])
      )
    ),
    Layer.provideMerge(Fixtures.pipeline(settings))
  )
