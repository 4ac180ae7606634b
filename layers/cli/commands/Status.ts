import * as Effect from "effect/Effect"
import { Output } from "../../../src/cli/Output.ts"
import * as Plain from "../../../src/cli/Plain.ts"
import * as Transcript from "../../../src/cli/Transcript.ts"
import { TroupeClient } from "../../../src/client/TroupeClient.ts"
import * as Client from "./Client.ts"

/** `troupe status`: how the running daemon is. */
export const run = (common: Client.Common, flags: { readonly json: boolean }) =>
  Effect.gen(function* () {
    const output = yield* Output
    const status = yield* (yield* TroupeClient).Status()
    yield* output.out(flags.json ? Plain.json(status) : Transcript.status(status, output.outStyle))
  }).pipe(Client.reachable, Effect.provide(Client.layer(common)))
