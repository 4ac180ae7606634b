/** The whole daemon, with a tool of one's own. `npx troupe chat` talks to it as to any other. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Layer from "effect/Layer"
import { Daemon } from "troupe/layers"
import * as StockTool from "./StockTool.ts"

NodeRuntime.runMain(Layer.launch(Daemon.layer({ terminalLog: true, tools: StockTool.layer })))
