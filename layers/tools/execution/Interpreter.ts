/** The Python of the settings: which file it is, and where what belongs to it lies. Asked of itself, once. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Schema from "effect/Schema"
import type { Settings } from "../../../src/config/Settings.ts"
import { Process } from "../../../src/process/Process.ts"
import { ToolCallContext } from "../../../src/tool/ToolContext.ts"
import { PythonRefused } from "../../../src/tools/execution/PythonRefused.ts"

export interface Interpreter {
  readonly executable: string
  /** Folders with its library and its packages. */
  readonly prefixes: ReadonlyArray<string>
}

/** Without the user's own packages and settings, without writing compiled code, unbuffered, in UTF-8. */
export const flags = ["-I", "-B", "-u", "-X", "utf8"] as const

const Answer = Schema.fromJsonString(
  Schema.Struct({ executable: Schema.NonEmptyString, prefix: Schema.String, base_prefix: Schema.String })
)
const question =
  "import json, sys; print(json.dumps({k: getattr(sys, k) for k in ('executable', 'prefix', 'base_prefix')}))"

/** Looked for in the PATH that programs are given. */
const ofPath = "python3"

const isMissing = (error: { readonly _tag: string; readonly reason?: unknown }): boolean =>
  error._tag === "StartFailed" && error.reason === "not_found"

export const make = Effect.fnUntraced(function* (settings: Settings["Service"]["tools"]["python_exec"]) {
  const files = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  let known: Interpreter | undefined

  const isThere = (path: string) => Effect.orElseSucceed(files.exists(path), () => false)

  const candidates = (): ReadonlyArray<string> => {
    if (settings.python_path !== undefined) return [settings.python_path]
    if (settings.venv_path === undefined) return [ofPath]
    return [paths.join(settings.venv_path, "bin", "python"), paths.join(settings.venv_path, "Scripts", "python.exe")]
  }

  const ask = Effect.fnUntraced(function* (program: string) {
    const { callId } = yield* ToolCallContext
    const { stdout } = yield* (yield* Process).run({
      callId,
      program,
      args: [...flags, "-c", question],
      inherit: settings,
      env: {},
      limits: { timeout: "10 seconds", maxOutputBytes: 16_384 },
      sandbox: { ...settings, sandbox_mode: "basic" }
    })
    const answer = yield* Schema.decodeUnknownEffect(Answer)(stdout)
    return { executable: answer.executable, prefixes: [...new Set([answer.prefix, answer.base_prefix])] }
  })

  /** The interpreter, or why there is none. A failure is not remembered: it may be installed meanwhile. */
  const find = Effect.gen(function* () {
    if (known !== undefined && (yield* isThere(known.executable))) return known
    for (const program of candidates()) {
      if (program !== ofPath && !(yield* isThere(program))) continue
      known = yield* Effect.mapError(
        ask(program),
        (error) => new PythonRefused({ reason: isMissing(error) ? "no_interpreter" : "no_answer" })
      )
      return known
    }
    return yield* new PythonRefused({ reason: "no_interpreter" })
  })
  return { find }
})
