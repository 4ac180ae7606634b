import * as Effect from "effect/Effect"
import type { SettingsInput } from "../../../src/config/Settings.ts"
import type { Request } from "../../../src/process/Process.ts"
import { StartFailed, StartReason } from "../../../src/process/ProcessRunner.ts"
import * as Sandbox from "../../../src/process/Sandbox.ts"
import * as TestProcess from "../execution/TestProcess.ts"
import * as Refusals from "./Refusals.ts"

type Tools = NonNullable<SettingsInput["tools"]>

const code = "print(1)"

/** Calls that start a program. */
const starting = [
  ["bash", { command: "true" }],
  ["python_execute", { code }],
  ["python_environment_info", {}]
] as const

const tools = (
  answer: Parameters<typeof TestProcess.layer>[0],
  python: NonNullable<Tools["python_exec"]> = {},
  others: Tools = { file_storage: { enabled: true } }
) =>
  Refusals.tools(
    { tools: { ...others, bash: { enabled: true }, python_exec: { enabled: true, ...python } } },
    TestProcess.layer(answer)
  )

/** The question where Python lies, which comes before what is to be run. */
const isQuestion = ({ args, program }: Request) =>
  program === "python3" && args.some((argument) => argument.includes("base_prefix"))

const python = TestProcess.finished('{"executable": "/bin/sh", "prefix": "/usr", "base_prefix": "/usr"}')

/**
 * Python is there, and nothing else can be started. What really leads to each is in `test/process`: a machine without room and one
 * without a sandbox cannot be had here.
 */
const refusing = (failure: StartFailed | Sandbox.SandboxUnavailable | Sandbox.OutsideSandbox) =>
  [failure.code, tools((request) => (isQuestion(request) ? Effect.succeed(python) : Effect.fail(failure)))] as const

const refusals = [
  ...StartReason.literals.map((reason) => refusing(new StartFailed({ program: "/bin/bash", reason }))),
  refusing(new Sandbox.SandboxUnavailable({ mode: "bwrap", reason: "there is no bwrap" })),
  refusing(new Sandbox.OutsideSandbox())
]

const silent = tools(() => Effect.succeed(TestProcess.finished("what is this")))
const absent = tools(() => Effect.fail(new StartFailed({ program: "python3", reason: "not_found" })))

const artifacts = { code, save_artifacts: true }

/** What Python is refused for, with the settings. Nothing is started for it. */
const refused = (reason: string, given: object, settings?: NonNullable<Tools["python_exec"]>, others?: Tools) => ({
  tool: "python_execute",
  code: `python_exec:${reason}`,
  arguments: given,
  layer: tools(() => Effect.succeed(python), settings, others)
})

export const group: Refusals.Group = {
  layer: silent,
  refusals: [
    ...refusals.flatMap(([failure, layer]) =>
      starting.map(([tool, given]) => ({ tool, code: failure, arguments: given, layer }))
    ),
    ...["python_execute", "python_environment_info"].flatMap((tool) => {
      const given = tool === "python_execute" ? { code } : {}
      return [
        { tool, code: "python_exec:no_interpreter", arguments: given, layer: absent },
        { tool, code: "python_exec:no_answer", arguments: given, layer: silent }
      ]
    }),
    refused("code_too_long", { code }, { max_code_bytes: 3 }),
    refused("invalid_artifact_options", { ...artifacts, artifact_subdir: "../up" }),
    refused("artifacts_disabled", artifacts, { artifacts_enabled: false }),
    refused("file_storage_unavailable", artifacts, {}, {}),
    refused("artifacts_not_supported_in_jail", artifacts, { sandbox_mode: "jail" }),
    refused("artifact_export_unreachable", artifacts, {
      sandbox_mode: "jail",
      artifacts_allow_in_jail: true,
      artifacts_jail_shared_dir: "/nowhere"
    })
  ]
}
