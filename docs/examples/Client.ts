/** Asks a running daemon one question and prints what happens: `node Client.ts URL TOKEN_FILE QUESTION` */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Redacted from "effect/Redacted"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import { Threads, TroupeClient } from "troupe/client"

const thread = Threads.ThreadKey.make("rpc:example")

const program = Effect.gen(function* () {
  const { args } = yield* Stdio.Stdio
  const [url = "", tokenFile = "", text = ""] = yield* args
  const token = yield* (yield* FileSystem.FileSystem).readFileString(tokenFile)
  yield* Effect.provide(ask(text), TroupeClient.layer({ url, token: Redacted.make(token.trim()), name: "example" }))
})

const ask = Effect.fnUntraced(function* (text: string) {
  const client = yield* TroupeClient.TroupeClient
  yield* client.sendAndWatch({ thread, text }).pipe(
    Stream.flatMap((item) => (item._tag === "Entry" ? Stream.succeed(item.stored.entry) : Stream.empty)),
    Stream.tap((entry) => (entry._tag === "ToolResult" ? Console.log(`used ${entry.name}`) : Effect.void)),
    Stream.tap((entry) =>
      entry._tag === "AssistantMessage" && entry.calls.length === 0 ? Console.log(entry.text) : Effect.void
    ),
    Stream.takeUntil((entry) => entry._tag === "TurnEnded"),
    Stream.runDrain
  )
})

NodeRuntime.runMain(Effect.provide(program, NodeServices.layer))
