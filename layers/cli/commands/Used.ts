import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Terminal from "effect/Terminal"
import { usage } from "../../../src/cli/CommandFailed.ts"
import { Output } from "../../../src/cli/Output.ts"
import * as Plain from "../../../src/cli/Plain.ts"
import * as UsageText from "../../../src/cli/UsageText.ts"
import { Environment } from "../../../src/config/Environment.ts"
import * as Usage from "../../../src/usage/Usage.ts"
import * as Client from "./Client.ts"
import * as Recorded from "./Recorded.ts"

interface Flags {
  readonly since: string
  readonly by: Usage.Grouping
  /** An IANA name or an offset; `undefined`: where this machine is. */
  readonly timeZone: string | undefined
  readonly json: boolean
}

/** `troupe usage`: the tokens of the recorded responses. Asks the daemon for the record and adds up here. */
export const run = (common: Client.Common, flags: Flags) =>
  Effect.gen(function* () {
    const output = yield* Output
    const timeZone = yield* zoneOf(flags.timeZone)
    const dayOf = (at: number) => DateTime.formatIsoDate(DateTime.setZone(DateTime.makeUnsafe(at), timeZone))
    const since = (yield* Clock.currentTimeMillis) - (yield* Recorded.millisOf(flags.since))
    const gathered = Usage.gather(flags.by, since, dayOf)
    yield* Recorded.each(since, ({ agent, key }) => {
      const take = gathered.thread(key, agent)
      return (stored) => Effect.sync(() => take(stored))
    })
    const report = gathered.report()
    yield* output.out(flags.json ? Plain.json(report) : UsageText.report(report, yield* room))
  }).pipe(Client.reachable, Effect.provide(Client.layer(common)))

const zoneOf = (name: string | undefined) => {
  if (name === undefined) return Effect.sync(DateTime.zoneMakeLocal)
  return Option.match(DateTime.zoneFromString(name), {
    onNone: () =>
      Effect.fail(
        usage(`--time-zone: ${JSON.stringify(name)} is no time zone. Such is Europe/Vienna, UTC or +02:00.\n`)
      ),
    onSome: Effect.succeed
  })
}

/** What is no terminal takes 80 columns of ASCII; so, in its width, does a terminal whose locale has no UTF-8. */
const room = Effect.gen(function* () {
  const { outIsTerminal, outStyle } = yield* Output
  if (!outIsTerminal) return { columns: 80, ascii: true, style: outStyle }
  const columns = yield* (yield* Terminal.Terminal).columns
  const environment = yield* Environment
  const locales = yield* Effect.forEach(["LC_ALL", "LC_CTYPE", "LANG"], environment.get)
  // The first that is set and not empty counts.
  const locale = locales.map(Option.getOrElse(() => "")).find((value) => value !== "") ?? ""
  return { columns: columns === 0 ? 80 : columns, ascii: !/utf-?8/i.test(locale), style: outStyle }
})
