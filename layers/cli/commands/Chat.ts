/** `troupe chat`: with a person at a terminal, or for one message. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as References from "effect/References"
import { usage } from "../../../src/cli/CommandFailed.ts"
import { Output } from "../../../src/cli/Output.ts"
import * as Inbound from "../../../src/thread/Inbound.ts"
import * as EnvironmentLive from "../../config/Environment.ts"
import * as Attaching from "../Attaching.ts"
import * as Session from "../chat/Session.ts"
import * as OutputLive from "../Output.ts"
import * as StandardInput from "../StandardInput.ts"
import * as Client from "./Client.ts"

export interface Flags {
  readonly thread: string
  readonly once: string | undefined
  readonly attach: ReadonlyArray<string>
  readonly json: boolean
  readonly timeoutSeconds: number | undefined
}

export const run = (common: Client.Common, flags: Flags) =>
  Effect.gen(function* () {
    const output = yield* Output
    const thread = yield* Client.threadKey(flags.thread)
    if (flags.once === undefined) {
      if (flags.attach.length > 0)
        return yield* usage("--attach needs --once: an interactive chat has no way to send files.")
      if (flags.json) return yield* usage("--json needs --once: an interactive chat is for people.")
      if (flags.timeoutSeconds !== undefined) {
        return yield* usage("--timeout needs --once: an interactive chat lasts until you leave it.")
      }
      if (!output.inIsTerminal || !output.outIsTerminal) {
        return yield* usage(
          "This is no terminal to chat on. Send one message with --once TEXT, or --once - to read it."
        )
      }
      const { chat } = yield* Effect.promise(() => import("../chat/Interactive.ts"))
      return yield* chat(thread, Session.layer(common))
    }
    const text = flags.once === "-" ? yield* StandardInput.text : flags.once
    if (Inbound.isBlank(text)) return yield* usage("The message is blank.")
    if (text.length > Inbound.longestText)
      return yield* usage(`The message is longer than ${Inbound.longestText} characters.`)
    const attachments = yield* Attaching.read(flags.attach)
    const { once } = yield* Effect.promise(() => import("../chat/Once.ts"))
    return yield* once(thread, text.trimEnd(), { ...flags, attachments }, Session.layer(common))
  }).pipe(
    Client.reachable,
    Effect.provide(
      OutputLive.layer(common).pipe(Layer.provideMerge(Layer.merge(EnvironmentLive.layer, NodeServices.layer)))
    ),
    Effect.provideService(References.LogToStderr, true),
    Effect.provideService(References.MinimumLogLevel, "Error")
  )
