import * as Effect from "effect/Effect"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import { CommandFailed, exitCodes, usage } from "../../src/cli/CommandFailed.ts"
import * as Utf8 from "../Utf8.ts"

/** All of standard input, as UTF-8. What is none is refused: read as something else, it would be another text than was written. */
export const text = Effect.gen(function* () {
  const { stdin } = yield* Stdio.Stdio
  const bytes = yield* Effect.mapError(
    Stream.mkUint8Array(stdin),
    (error) => new CommandFailed({ code: exitCodes.failed, text: `Standard input cannot be read: ${error.message}` })
  )
  return yield* Effect.mapError(Utf8.decode(bytes), ({ column, line }) =>
    usage(`Standard input is not UTF-8 (line ${line}, column ${column}). Convert it first, for example with iconv.`)
  )
})
