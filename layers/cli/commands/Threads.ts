import * as Effect from "effect/Effect"
import { Output } from "../../../src/cli/Output.ts"
import * as Plain from "../../../src/cli/Plain.ts"
import type { Style } from "../../../src/cli/Style.ts"
import * as Transcript from "../../../src/cli/Transcript.ts"
import { TroupeClient } from "../../../src/client/TroupeClient.ts"
import * as Client from "./Client.ts"

/** `troupe threads`: the threads, most recently active first; with `json` one object a line. */
export const run = (common: Client.Common, flags: { readonly json: boolean; readonly limit: number }) =>
  Effect.gen(function* () {
    const output = yield* Output
    const { next, threads } = yield* (yield* TroupeClient).Threads({ limit: flags.limit })
    yield* output.out(
      flags.json
        ? threads.map((thread) => Plain.json(thread)).join("")
        : Transcript.threads(threads, output.outStyle) + (next === null ? "" : more(output.outStyle))
    )
  }).pipe(Client.reachable, Effect.provide(Client.layer(common)))

const more = ({ dim }: Style): string => `${dim("── there are more; --limit shows up to 1000 ──")}\n`
