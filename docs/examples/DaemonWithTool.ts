/** The whole daemon, with a tool of one's own. `npx troupe chat` talks to it as to any other. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Daemon } from "troupe/layers"
import * as StockTool from "./StockTool.ts"

const daemon = Layer.launch(Daemon.layer({ terminalLog: true, tools: StockTool.layer }))

/** What keeps it from starting is a sentence for a person: settings that are wrong, a directory or a port in use. */
const explain = (error: Error) =>
  Effect.andThen(
    Console.error(error.message),
    Effect.sync(() => {
      process.exitCode = 1
    })
  )

NodeRuntime.runMain(Effect.catch(daemon, explain))
