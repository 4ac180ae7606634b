import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { CommandFailed, exitCodes, usage } from "../../../src/cli/CommandFailed.ts"
import { Output } from "../../../src/cli/Output.ts"
import * as Plain from "../../../src/cli/Plain.ts"
import * as PolicyText from "../../../src/cli/PolicyText.ts"
import { TroupeClient } from "../../../src/client/TroupeClient.ts"
import type * as Threads from "../../../src/thread/Threads.ts"
import * as CommandLine from "../../config/CommandLine.ts"
import * as DataDirectory from "../../storage/DataDirectory.ts"
import * as PolicyLive from "../../policy/Policy.ts"
import * as Simulate from "../../policy/Simulate.ts"
import * as Client from "./Client.ts"

const units: ReadonlyMap<string, number> = new Map([
  ["s", 1_000],
  ["m", 60_000],
  ["h", 3_600_000],
  ["d", 86_400_000],
  ["w", 604_800_000]
])

const millisOf = (text: string) => {
  const [, count = "", unit = ""] = /^(\d{1,9})\s*([smhdw])[a-z]*$/.exec(text.trim().toLowerCase()) ?? []
  const millis = units.get(unit)
  return count === "" || millis === undefined
    ? Effect.fail(usage(`--since: ${JSON.stringify(text)} is no length of time. Such is 7d, 12h or 30m.\n`))
    : Effect.succeed(Number(count) * millis)
}

/** Threads that are asked for at once. */
const pageSize = 100

/**
 * `troupe policy simulate`: which of the recorded calls the rules would decide in another way. The daemon has the record, the settings
 * file has the rules. Ends with 1 when there are some.
 */
export const run = (common: Client.Common, flags: { readonly since: string; readonly json: boolean }) =>
  Effect.gen(function* () {
    const output = yield* Output
    const client = yield* TroupeClient
    const since = (yield* Clock.currentTimeMillis) - (yield* millisOf(flags.since))
    const simulation = yield* Simulate.make(since)
    let before: Threads.ThreadCursor | undefined
    do {
      const page = yield* client.Threads({ limit: pageSize, ...(before === undefined ? {} : { before }) })
      // Those that were active last come first.
      const recent = page.threads.filter(({ updatedAt }) => updatedAt >= since)
      for (const { agent, entries, key } of recent) {
        const take = simulation.thread(key, agent)
        if (entries === 0) continue
        const pages = client.history({ thread: key, from: 1, limit: entries })
        yield* Stream.runForEach(pages, (stored) => Effect.forEach(stored, take, { discard: true }))
      }
      before = recent.length < page.threads.length ? undefined : (page.next ?? undefined)
    } while (before !== undefined)
    const found = simulation.result()
    yield* output.out(flags.json ? Plain.json(found) : PolicyText.simulation(found, output.outStyle))
    if (found.changed > 0) return yield* new CommandFailed({ code: exitCodes.failed, text: "" })
  }).pipe(Client.reachable, Effect.provide(Layer.provideMerge(policy(common), Client.layer(common))))

const policy = (common: Client.Common) =>
  PolicyLive.layer.pipe(
    Layer.provide(DataDirectory.layerExisting.pipe(Layer.provide(CommandLine.layerClient(common)))),
    Layer.provide(CommandLine.layer(common))
  )
