import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import * as Schema from "effect/Schema"
import { Settings } from "../../../src/config/Settings.ts"
import { Process } from "../../../src/process/Process.ts"
import { ToolCallContext } from "../../../src/tool/ToolContext.ts"
import * as ToolRegistry from "../../../src/tool/ToolRegistry.ts"
import { PythonEnvironmentInfo } from "../../../src/tools/execution/PythonEnvironmentInfo.ts"
import { PythonExecute, withSecrets } from "../../../src/tools/execution/PythonExecute.ts"
import { PythonRefused } from "../../../src/tools/execution/PythonRefused.ts"
import * as SecretUse from "../../../src/vault/SecretUse.ts"
import * as Artifacts from "./Artifacts.ts"
import * as Interpreter from "./Interpreter.ts"
import * as Outcome from "./Outcome.ts"

type Asked = typeof PythonExecute.parameters.Type & { readonly secrets?: ReadonlyArray<string> }

const handlers = Effect.gen(function* () {
  const { tools } = yield* Settings
  const use = yield* SecretUse.current
  const settings = tools.python_exec
  const files = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  const { find: interpreter } = yield* Interpreter.make(settings)

  /** A new folder with the program in it, and beside it an empty one to run it in. */
  const workshop = Effect.fnUntraced(
    function* (code: string, keeps: boolean) {
      const shared = keeps && settings.sandbox_mode === "jail" ? settings.artifacts_jail_shared_dir : undefined
      const place = shared === undefined ? {} : { directory: shared }
      const folder = yield* files.makeTempDirectoryScoped({ prefix: "troupe-python-", ...place })
      const [program, cwd] = [paths.join(folder, "main.py"), paths.join(folder, "work")]
      yield* files.writeFileString(program, code.toWellFormed(), { mode: 0o600 })
      yield* files.makeDirectory(cwd, { mode: 0o700 })
      return { folder, program, cwd }
    },
    Effect.catchTag("PlatformError", () => new PythonRefused({ reason: "artifact_export_unreachable" }))
  )

  const execute = Effect.fnUntraced(function* ({ secrets = [], ...parameters }: Asked) {
    const { callId } = yield* ToolCallContext
    const process = yield* Process
    const bytes = new TextEncoder()
    if (bytes.encode(parameters.code).length > settings.max_code_bytes) {
      return yield* new PythonRefused({ reason: "code_too_long" })
    }
    const wanted = yield* Artifacts.wanted(tools, parameters)
    const { executable, prefixes } = yield* interpreter
    const { cwd, folder, program } = yield* workshop(parameters.code, wanted !== undefined)
    const finished = yield* process.run({
      callId,
      program: executable,
      args: [...Interpreter.flags, program],
      cwd,
      inherit: settings,
      env: { PYTHONUNBUFFERED: "1" },
      secrets: use.variables(secrets),
      stdin: parameters.stdin === undefined ? undefined : bytes.encode(parameters.stdin),
      limits: {
        timeout: Outcome.timeLimit(parameters.timeout_seconds, settings),
        maxOutputBytes: settings.max_output_bytes
      },
      sandbox: settings,
      show: prefixes,
      writable: [folder]
    })
    const artifacts = wanted === undefined ? Artifacts.none : yield* Artifacts.save(settings, cwd, wanted)
    return {
      ...Outcome.of(finished),
      stdout: finished.stdout,
      stderr: finished.stderr,
      sandbox_mode: finished.sandbox,
      ...artifacts,
      python_executable: executable
    }
  }, Effect.scoped)

  const info = Effect.fnUntraced(function* ({
    include_packages = true,
    limit = 100,
    name_prefix
  }: typeof PythonEnvironmentInfo.parameters.Type) {
    const { callId } = yield* ToolCallContext
    const { executable, prefixes } = yield* interpreter
    const finished = yield* (yield* Process).run({
      callId,
      program: executable,
      args: [...Interpreter.flags, "-c", question],
      inherit: settings,
      env: {},
      limits: { timeout: "30 seconds", maxOutputBytes: 4_000_000 },
      sandbox: settings,
      show: prefixes
    })
    const answer = yield* Effect.mapError(
      Schema.decodeUnknownEffect(Answer)(finished.stdout),
      () => new PythonRefused({ reason: "no_answer" })
    )
    const prefix = name_prefix?.trim().toLowerCase() ?? ""
    const packages = include_packages ? answer.packages.filter((name) => name.toLowerCase().startsWith(prefix)) : []
    return {
      ok: true,
      runtime_executable: answer.executable,
      python_version: answer.version,
      implementation: answer.implementation,
      include_packages,
      name_prefix: prefix === "" ? null : prefix,
      limit,
      package_count: packages.length,
      truncated_packages: packages.length > limit,
      packages: packages.slice(0, limit),
      duration_ms: finished.ended.durationMillis,
      sandbox_mode: finished.sandbox,
      python_executable: executable
    }
  })

  const provide = <A, E, R>(effect: Effect.Effect<A, E, R | FileSystem.FileSystem | Path.Path>) =>
    effect.pipe(Effect.provideService(FileSystem.FileSystem, files), Effect.provideService(Path.Path, paths))
  return {
    python_execute: (parameters: Asked) => provide(execute(parameters)),
    python_environment_info: info
  }
})

const options = {
  offeredWhen: Settings.useSync(
    ({ tools }) =>
      () =>
        tools.python_exec.enabled
  )
}

export const layer = Layer.unwrap(
  Effect.map(SecretUse.current, ({ forPrograms }) =>
    forPrograms.length === 0
      ? ToolRegistry.layer([PythonExecute, PythonEnvironmentInfo], handlers, options)
      : ToolRegistry.layer([withSecrets(forPrograms), PythonEnvironmentInfo], handlers, options)
  )
)

const question = `
import importlib.metadata, json, platform, sys
packages = {f"{d.name}=={d.version}" for d in importlib.metadata.distributions() if d.name}
print(json.dumps({
    "executable": sys.executable,
    "version": platform.python_version(),
    "implementation": platform.python_implementation(),
    "packages": sorted(packages, key=str.lower),
}))
`

const Answer = Schema.fromJsonString(
  Schema.Struct({
    executable: Schema.String,
    version: Schema.String,
    implementation: Schema.String,
    packages: Schema.Array(Schema.String)
  })
)
