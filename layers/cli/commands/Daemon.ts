/** `troupe`: a daemon in the foreground, until it is asked to stop. */
import * as Effect from "effect/Effect"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import { Output } from "../../../src/cli/Output.ts"
import * as Plain from "../../../src/cli/Plain.ts"
import * as Transcript from "../../../src/cli/Transcript.ts"
import { Settings } from "../../../src/config/Settings.ts"
import { Models } from "../../../src/model/Models.ts"
import { Overview } from "../../../src/rpc/Overview.ts"
import { DataDirectory } from "../../../src/storage/DataDirectory.ts"
import * as EnvironmentLive from "../../config/Environment.ts"
import * as Daemon from "../../daemon/Daemon.ts"
import * as Address from "../../rpc/Address.ts"
import * as AskingPassword from "../AskingPassword.ts"
import * as MainControl from "../MainControl.ts"
import * as OutputLive from "../Output.ts"
import { version } from "../Version.ts"
import type { Common } from "./Client.ts"

export const run = (common: Common) =>
  Effect.gen(function* () {
    const control = yield* MainControl.MainControl
    // It serves others; whether anybody still reads its greeting does not matter.
    yield* control.outlive
    const { runtime } = yield* Settings
    yield* control.stopWithin(runtime.shutdown_grace_seconds)
    yield* greet(common)
    yield* Effect.logInfo("Ready")
    return yield* Effect.onInterrupt(Effect.never, () => sayGoodbye)
  }).pipe(
    Effect.provide(Daemon.layer({ ...common, terminalLog: true })),
    Effect.onInterrupt(() => say("Stopped.")),
    Effect.provide(
      AskingPassword.layer.pipe(Layer.provideMerge(OutputLive.layer(common)), Layer.provide(EnvironmentLive.layer))
    )
  )

const say = (line: string) => Effect.flatMap(Output, (output) => output.out(`${line}\n`))

const sayGoodbye = Effect.gen(function* () {
  // A store that cannot be read must not keep the process from ending.
  const running = yield* Effect.matchCause((yield* Overview).read, {
    onSuccess: ({ runningTurns }) => runningTurns,
    onFailure: () => 0
  })
  yield* say(
    running === 0
      ? "Stopping."
      : `Stopping: waiting for ${running} running ${running === 1 ? "turn" : "turns"}, Ctrl+C again to stop at once.`
  )
})

const greet = Effect.fnUntraced(function* (common: Common) {
  const output = yield* Output
  const { address } = yield* HttpServer.HttpServer
  const { path } = yield* DataDirectory
  const { llm } = yield* Settings
  const model = yield* Effect.match((yield* Models).default, {
    onSuccess: Transcript.modelName,
    onFailure: (error) => `none: ${error.message}`
  })
  const { dim, bold } = output.outStyle
  const rows: ReadonlyArray<readonly [string, string]> = [
    ["address", Address.urlOf(address)],
    ["data", path],
    ["model", model]
  ]
  yield* output.out(
    [
      bold(`Troupe ${version}`),
      ...rows.map(([name, value]) => `  ${dim(name.padEnd(8))} ${Plain.line(value)}`),
      "",
      `Talk to it:  ${bold(["npx troupe chat", ...placeFlags(common)].join(" "))}`,
      ...(llm.provider === "offline" ? [dim("Set [llm] in config.toml to talk to a language model.")] : []),
      dim("Ctrl+C stops it."),
      ""
    ].join("\n")
  )
})

/** What a client must be told to look in the same place, as a shell takes it. */
const placeFlags = ({ config, dataDir }: Common): ReadonlyArray<string> => [
  ...(config === undefined ? [] : ["--config", quoted(config)]),
  ...(dataDir === undefined ? [] : ["--data-dir", quoted(dataDir)])
]

const quoted = (word: string): string =>
  /^[\w./:@%+=,~-]+$/.test(word) ? word : `'${Plain.line(word).replaceAll("'", `'\\''`)}'`
