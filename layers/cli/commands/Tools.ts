import * as Effect from "effect/Effect"
import { Output } from "../../../src/cli/Output.ts"
import * as Plain from "../../../src/cli/Plain.ts"
import * as Transcript from "../../../src/cli/Transcript.ts"
import { TroupeClient } from "../../../src/client/TroupeClient.ts"
import * as Client from "./Client.ts"

/** `troupe tools`: every tool of the running daemon; with `json` one object a line. */
export const run = (common: Client.Common, flags: { readonly json: boolean }) =>
  Effect.gen(function* () {
    const output = yield* Output
    const tools = yield* (yield* TroupeClient).Tools()
    yield* output.out(
      flags.json ? tools.map((tool) => Plain.json(tool)).join("") : Transcript.tools(tools, output.outStyle)
    )
  }).pipe(Client.reachable, Effect.provide(Client.layer(common)))
