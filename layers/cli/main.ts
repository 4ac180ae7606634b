/** The program: one command, `troupe`, with a subcommand for each thing a person does with it. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import { version } from "./Version.ts"

const troupe = Command.make("troupe").pipe(
  Command.withDescription("A self-hosted agent runtime: conversations and tasks as supervised actors.")
)

troupe.pipe(Command.run({ version }), Effect.provide(NodeServices.layer), NodeRuntime.runMain)
