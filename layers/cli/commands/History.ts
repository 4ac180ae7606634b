import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Beginning from "../../../src/cli/Beginning.ts"
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
    const style = output.outStyle
    // What is left out above must not look like the beginning.
    let begun = false
    yield* Stream.runForEach(Transcript.stretches(pages), (entries) => {
      const above = begun ? "" : Beginning.above(entries, style, "--limit")
      begun ||= entries.length > 0
      return output.out(above + Transcript.render(entries, style))
    })
  }).pipe(Client.reachable, Effect.provide(Client.layer(common)))
