/** Why a command was not started, in the contract's words. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { StartFailed } from "../../src/process/ProcessRunner.ts"
import type * as Contract from "../../src/process/ProcessRunner.ts"
import type * as NodeChild from "./NodeChild.ts"

/** Fails for what the system would refuse without saying why. */
export const before = Effect.fnUntraced(function* ({ args, cwd, env, program }: Contract.Command) {
  const files = yield* FileSystem.FileSystem
  const hasNul = [program, cwd, ...args, ...Object.entries(env).flat()].some((text) => text.includes("\0"))
  if (hasNul) return yield* new StartFailed({ program: program.replaceAll("\0", ""), reason: "nul_character" })
  if (Object.keys(env).some((name) => name === "" || name.includes("="))) {
    return yield* new StartFailed({ program, reason: "bad_variable" })
  }
  const info = yield* files
    .stat(cwd)
    .pipe(
      Effect.mapError(
        ({ reason }) =>
          new StartFailed({ program, reason: reason._tag === "NotFound" ? "cwd_missing" : "permission_denied" })
      )
    )
  if (info.type !== "Directory") return yield* new StartFailed({ program, reason: "cwd_not_directory" })
})

export const after =
  (program: string) =>
  ({ code }: NodeChild.Refused): StartFailed =>
    new StartFailed({ program, reason: reasons.get(code) ?? "unknown", detail: code })

const reasons: ReadonlyMap<string, Contract.StartReason> = new Map([
  ["ENOENT", "not_found"],
  ["ENOTDIR", "not_found"],
  ["ENOEXEC", "not_executable"],
  ["EACCES", "permission_denied"],
  ["EPERM", "permission_denied"],
  ["E2BIG", "too_large"],
  ["EAGAIN", "out_of_resources"],
  ["ENOMEM", "out_of_resources"],
  ["EMFILE", "out_of_resources"],
  ["ENFILE", "out_of_resources"]
])
