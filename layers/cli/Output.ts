/** Output to the standard streams of this process. Colours only on a terminal, and never against NO_COLOR. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { Output } from "../../src/cli/Output.ts"
import * as Style from "../../src/cli/Style.ts"
import { Environment } from "../../src/config/Environment.ts"

export const layer = (options: { readonly colour: boolean }): Layer.Layer<Output, never, Environment> =>
  Layer.effect(
    Output,
    Effect.gen(function* () {
      const environment = yield* Environment
      const set = (name: string) =>
        Effect.map(
          environment.get(name),
          Option.getOrElse(() => "")
        )
      const wanted = options.colour && (yield* set("NO_COLOR")) === "" && (yield* set("TERM")) !== "dumb"
      const styleOf = (stream: NodeJS.WriteStream) => (wanted && stream.isTTY === true ? Style.colours : Style.none)
      return Output.of({
        out: (text) => write(process.stdout, text),
        err: (text) => write(process.stderr, text),
        outStyle: styleOf(process.stdout),
        errStyle: styleOf(process.stderr),
        inIsTerminal: process.stdin.isTTY === true,
        outIsTerminal: process.stdout.isTTY === true,
        errIsTerminal: process.stderr.isTTY === true
      })
    })
  )

// A stream whose reader has gone tells main.ts, which ends the command; here it is no failure.
const write = (stream: NodeJS.WriteStream, text: string): Effect.Effect<void> =>
  text === ""
    ? Effect.void
    : Effect.callback((resume) => {
        stream.write(text, () => resume(Effect.void))
      })
