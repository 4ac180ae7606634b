import * as Effect from "effect/Effect"
import { Output } from "../../../src/cli/Output.ts"
import * as Plain from "../../../src/cli/Plain.ts"
import * as Transcript from "../../../src/cli/Transcript.ts"
import { TroupeClient } from "../../../src/client/TroupeClient.ts"
import * as Client from "./Client.ts"

/**
 * `troupe tools`: every tool of the running daemon; with `json` one object a line. With `all` everything that is known of each:
 * schemas, failures, limits, and the setting that turns it on.
 */
export const run = (common: Client.Common, flags: { readonly all: boolean; readonly json: boolean }) =>
  Effect.gen(function* () {
    const output = yield* Output
    const client = yield* TroupeClient
    yield* output.out(
      flags.all
        ? shown(yield* client.ToolDefinitions(), flags.json, (tools) => Transcript.definitions(tools, output.outStyle))
        : shown(yield* client.Tools(), flags.json, (tools) => Transcript.tools(tools, output.outStyle))
    )
  }).pipe(Client.reachable, Effect.provide(Client.layer(common)))

const shown = <A>(tools: ReadonlyArray<A>, json: boolean, render: (tools: ReadonlyArray<A>) => string): string =>
  json ? tools.map((tool) => Plain.json(tool)).join("") : render(tools)
