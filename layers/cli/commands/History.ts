import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { Output } from "../../../src/cli/Output.ts"
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
    yield* Stream.runForEach(flags.json ? pages : Transcript.stretches(pages), (entries) =>
      output.out(
        flags.json
          ? entries.map((entry) => `${JSON.stringify(entry)}\n`).join("")
          : Transcript.render(entries, output.outStyle)
      )
    )
  }).pipe(Client.reachable, Effect.provide(Client.layer(common)))
