import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { usage } from "../../../src/cli/CommandFailed.ts"
import { Output } from "../../../src/cli/Output.ts"
import * as Plain from "../../../src/cli/Plain.ts"
import * as Undone from "../../../src/cli/Undone.ts"
import { TroupeClient } from "../../../src/client/TroupeClient.ts"
import * as Ids from "../../../src/Ids.ts"
import * as Client from "./Client.ts"

/** `troupe undo`: puts the files of a turn back, and tells what could not be. */
export const run = (
  common: Client.Common,
  flags: {
    readonly thread: string
    readonly turn: string | undefined
    readonly dryRun: boolean
    readonly json: boolean
  }
) =>
  Effect.gen(function* () {
    const output = yield* Output
    const thread = yield* Client.threadKey(flags.thread)
    const turnId = flags.turn === undefined ? undefined : yield* turnOf(flags.turn)
    const { dryRun } = flags
    const report = yield* (yield* TroupeClient).Undo({ thread, dryRun, ...(turnId === undefined ? {} : { turnId }) })
    yield* output.out(flags.json ? Plain.json(report) : Undone.words(report))
  }).pipe(Client.reachable, Effect.provide(Client.layer(common)))

const turnOf = (text: string) =>
  Effect.mapError(Schema.decodeEffect(Ids.TurnId)(text), () =>
    usage(`${JSON.stringify(text)} is no id of a turn. One is like trn_…; \`troupe history --json\` shows them.`)
  )
