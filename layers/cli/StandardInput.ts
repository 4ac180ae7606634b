import * as Effect from "effect/Effect"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import { CommandFailed, exitCodes } from "../../src/cli/CommandFailed.ts"

/** All of standard input, as UTF-8. */
export const text = Effect.flatMap(Stdio.Stdio, ({ stdin }) =>
  stdin.pipe(
    Stream.decodeText(),
    Stream.mkString,
    Effect.mapError(
      (error) => new CommandFailed({ code: exitCodes.failed, text: `Standard input cannot be read: ${error.message}` })
    )
  )
)
