import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { Output } from "../../../src/cli/Output.ts"
import * as Plain from "../../../src/cli/Plain.ts"
import * as Transcript from "../../../src/cli/Transcript.ts"
import { TroupeClient } from "../../../src/client/TroupeClient.ts"
import * as Client from "./Client.ts"

/** `troupe history THREAD`: the last entries of a thread as a transcript; with `json` one entry a line. */
export const run = (
  common: Client.Common,
  flags: { readonly thread: string; readonly json: boolean; readonly limit: number }
) =>
  Effect.gen(function* () {
    const output = yield* Output
    const thread = yield* Client.threadKey(flags.thread)
    const pages = (yield* TroupeClient).history({ thread, limit: flags.limit })
    if (flags.json) {
      return yield* Stream.runForEach(pages, (entries) =>
        output.out(entries.map((entry) => Plain.json(entry)).join(""))
      )
    }
    const shown = { limit: flags.limit, more: "--limit", style: output.outStyle }
    yield* Stream.runForEach(Transcript.history(pages, shown), output.out)
  }).pipe(Client.reachable, Effect.provide(Client.layer(common)))
