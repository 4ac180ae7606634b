/**
 * The crash campaign: `npm run test:crash`. Kills, stops and suspends a real process at every crash point it has and at random
 * moments, while people write, and compares everything in the end.
 *
 * `-- --seed 7` repeats the choices of an earlier run, `-- --moments 20` makes the random part shorter.
 */
import { parseArgs } from "node:util"
import * as Campaign from "./Campaign.ts"
import * as FirstStart from "./FirstStart.ts"
import * as Points from "./Points.ts"
import * as Random from "./Random.ts"
import * as Installed from "../bench/Installed.ts"
import * as Recovery from "./Recovery.ts"

const { values } = parseArgs({
  options: { seed: { type: "string", default: "1" }, moments: { type: "string", default: "100" } }
})
const random = Random.seeded(Number(values.seed))
const moments = Number(values.moments)
const perCampaign = 12

const total = {
  ends: 0,
  failed: 0,
  messages: 0,
  turns: 0,
  calls: 0,
  resumed: 0,
  folds: 0,
  inDoubt: 0,
  stops: 0,
  decisions: 0
}
const passed = new Set<string>()
const ready: Array<number> = []

const say = (text: string) => process.stdout.write(`${text}\n`)

/** One campaign with some ends; those that were missed are given back. */
const campaign = async (ends: ReadonlyArray<Campaign.End>): Promise<ReadonlyArray<Campaign.End>> => {
  const result = await Campaign.run({ ends, messages: 200, random, patience: 60_000 })
  const { counts, missed, problems } = result
  for (const point of result.passed) passed.add(point)
  ready.push(...result.ready)
  total.ends += ends.length - missed.length
  total.failed += problems.length
  total.stops += result.stops
  total.decisions += result.decisions
  for (const key of ["messages", "turns", "calls", "resumed", "folds", "inDoubt"] as const) total[key] += counts[key]
  say(
    `  ${ends.length - missed.length} ends, ${counts.messages} messages, ${counts.turns} turns, ${counts.folds} folds, ${result.stops} stops, ` +
      `${result.decisions} decisions, ${counts.calls} calls, ${counts.resumed} resumed, ${counts.inDoubt} in doubt: ` +
      (problems.length === 0 ? "all as it must be" : `${problems.length} problems`)
  )
  if (problems.length > 0) {
    say(`  after: ${ends.map(Campaign.describe).join("; ")}`)
    for (const problem of problems.slice(0, 20)) say(`    ${problem}`)
  }
  return missed
}

const inCampaigns = async (ends: ReadonlyArray<Campaign.End>): Promise<ReadonlyArray<Campaign.End>> => {
  const missed: Array<Campaign.End> = []
  for (let from = 0; from < ends.length; from += perCampaign)
    missed.push(...(await campaign(ends.slice(from, from + perCampaign))))
  return missed
}

const pointEnd =
  (how: Points.How, pass: number) =>
  (point: string): Campaign.End => ({ _tag: "Point", armed: { point, pass, how } })

/** Ends at every point that is known; points that are seen meanwhile join. */
const everyPoint = async (how: Points.How): Promise<void> => {
  const done = new Set<string>()
  for (;;) {
    const fresh = [...passed].filter((point) => !done.has(point))
    if (fresh.length === 0) return
    for (const point of fresh) done.add(point)
    const ends = fresh.map((point) => pointEnd(how, 1 + Math.floor(random() * 3))(point))
    const missed = await inCampaigns(ends)
    const again = missed.flatMap((end) => (end._tag === "Point" ? [pointEnd(how, 1)(end.armed.point)] : []))
    // Some points are only passed when there is something to go on with.
    const before: Campaign.End = { _tag: "Moment", millis: 3_000, how: "SIGKILL" }
    for (const end of again.length === 0 ? [] : await inCampaigns([before, ...again])) {
      total.failed += 1
      say(`  not reached: ${Campaign.describe(end)}`)
    }
  }
}

const started = performance.now()
say(`Crash campaign, seed ${values.seed}.`)

say("SIGKILL while the model answers, and at some moments, to learn the points there are")
const ways: ReadonlyArray<Campaign.End> = [
  { _tag: "Moment", millis: 4_000, how: "SIGKILL" },
  { _tag: "Model", point: "model asked" },
  { _tag: "Model", point: "model half way" },
  { _tag: "Model", point: "model answered" },
  { _tag: "Moment", millis: 3_000, how: "SIGTERM" },
  { _tag: "Moment", millis: 3_000, how: "SIGSTOP" }
]
for (const end of await campaign(ways)) {
  total.failed += 1
  say(`  not reached: ${Campaign.describe(end)}`)
}

say(`SIGKILL at every point, ${passed.size} so far`)
await everyPoint("SIGKILL")
const missing = Points.required.filter((point) => !passed.has(point))
total.failed += missing.length
for (const point of missing) say(`  no longer passed by anything: ${point}`)

say(`SIGKILL at ${moments} random moments`)
const moment = (): Campaign.End => ({ _tag: "Moment", millis: random() * 1_500, how: "SIGKILL" })
await inCampaigns(Array.from({ length: moments }, moment))

say(`SIGTERM at every point, ${passed.size}`)
await everyPoint("SIGTERM")

const some = Points.required.filter((_, index) => index % 2 === 0)
say(`SIGSTOP, then SIGCONT, at ${some.length} points`)
await inCampaigns(some.map(pointEnd("SIGSTOP", 2)))

say("SIGKILL at every transaction of the first start")
for (const point of ["sql begin", "sql commit"] as const) {
  const { kills, problems } = await FirstStart.run(point)
  total.ends += kills
  total.failed += problems.length
  say(`  ${kills} times at ${point}: ${problems.length === 0 ? "it always starts again" : problems.join("; ")}`)
}

await Installed.using(async (program) => {
  for (const turns of [64, 1_000]) {
    const recovery = await Recovery.run(program, { threads: 1_000, turns })
    say(
      `Recovery with ${recovery.threads} threads owed, ${turns} turns under way: serves after ${Math.round(recovery.ready)} ms, ` +
        `the last turn is taken up after ${Math.round(recovery.resumed)} ms`
    )
  }
})
const middle = ready.toSorted((one, other) => one - other)[Math.floor(ready.length / 2)] ?? 0
say(
  `${passed.size} points; ${total.messages} messages, ${total.turns} turns, ${total.folds} folds, ${total.stops} stops, ${total.decisions} decisions, ` +
    `${total.calls} calls, ${total.resumed} resumed, ${total.inDoubt} replies in doubt; ready again after ${Math.round(middle)} ms (median); ` +
    `${Math.round((performance.now() - started) / 1_000)} s`
)
say(`${total.ends} passed, ${total.failed} failed`)
process.exitCode = total.failed === 0 ? 0 : 1
