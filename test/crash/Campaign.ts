/** One campaign: a data directory, people who write, and lives that end one after the other; then everything is compared. */
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { setTimeout as pause } from "node:timers/promises"
import * as Driver from "./Driver.ts"
import * as Lives from "./Lives.ts"
import type * as Points from "./Points.ts"
import * as Verify from "./Verify.ts"
import * as World from "./World.ts"

/** How a life ends: at a point of the process, at a point of the model's answer, or at some moment after it is ready. */
export type End =
  | { readonly _tag: "Point"; readonly armed: Points.Armed }
  | { readonly _tag: "Model"; readonly point: string }
  | { readonly _tag: "Moment"; readonly millis: number; readonly how: Points.How }

export interface Result {
  readonly problems: ReadonlyArray<string>
  readonly counts: Verify.Counts
  /** Points that any life passed. */
  readonly passed: ReadonlySet<string>
  /** Ends that did not come about, since their point was not passed in time. */
  readonly missed: ReadonlyArray<End>
  readonly stops: number
  readonly decisions: number
  /** Milliseconds until a process was ready again. */
  readonly ready: ReadonlyArray<number>
}

export interface Options {
  readonly ends: ReadonlyArray<End>
  /** People go on writing until there are so many messages. */
  readonly messages: number
  readonly random: () => number
  readonly threads?: number
  readonly pace?: number
  /** How long a life waits for its point, in milliseconds. */
  readonly patience?: number
  /** Called with what is compared in the end. */
  readonly onEvidence?: (evidence: Verify.Evidence) => void
}

export const describe = (end: End): string => {
  switch (end._tag) {
    case "Point":
      return `${end.armed.how} ${end.armed.point}, pass ${end.armed.pass}`
    case "Model":
      return `SIGKILL ${end.point}`
    case "Moment":
      return `${end.how} after ${Math.round(end.millis)} ms`
  }
}

export const run = async (options: Options): Promise<Result> => {
  const { ends, messages, patience = 20_000, random } = options
  const world = await World.open(random)
  const at = await Lives.place(world.url)
  const driver = Driver.start(at, world, random, { threads: options.threads ?? 20, pace: options.pace ?? 1_500 })
  const problems: Array<string> = []
  const passed = new Set<string>()
  const missed: Array<End> = []
  const ready: Array<number> = []
  const lived = async (life: Lives.Life) => {
    const took = await life.ready
    if (Number.isFinite(took)) ready.push(took)
  }
  const look = (life: Lives.Life) => {
    for (const point of life.passed()) passed.add(point)
  }
  try {
    for (const end of ends) {
      const life = Lives.begin(at, world.url, end._tag === "Point" ? end.armed : undefined)
      const inTime = await Promise.race([endLife(life, end, world), pause(patience, false)])
      await lived(life)
      await finish(life)
      look(life)
      // Some points are only passed on the way to an orderly end.
      const came = inTime || life.hasArrived()
      if (!came) missed.push(end)
      const { code, signal } = await life.ended
      const expected = came && how(end) === "SIGKILL" && signal === "SIGKILL"
      if (!expected && code !== 0 && code !== 130 && code !== 143) {
        problems.push(`after ${describe(end)} it ended with ${code ?? signal}: ${life.output().slice(-2_000)}`)
      }
    }
    const last = Lives.begin(at, world.url)
    await lived(last)
    while (driver.sent.length < messages) await pause(50)
    await driver.finish()
    const open = await settled(join(at.data, "troupe.db"), driver.sent.length)
    if (open !== undefined) problems.push(`${open}\n${stuck(at.data)}`)
    await watchersCaughtUp(join(at.data, "troupe.db"), driver.seen)
    await driver.close()
    await finish(last)
    look(last)
    const { effects, deliveries, refused } = world
    const evidence = { database: join(at.data, "troupe.db"), sent: driver.sent, effects, deliveries, seen: driver.seen }
    options.onEvidence?.(evidence)
    const found = Verify.verify(evidence)
    return {
      problems: [...problems, ...new Set(refused), ...found.problems],
      counts: found.counts,
      passed,
      missed,
      stops: driver.stops(),
      decisions: driver.decisions(),
      ready
    }
  } finally {
    await driver.close()
    await world.close()
    at.remove()
  }
}

const how = (end: End): Points.How =>
  end._tag === "Point" ? end.armed.how : end._tag === "Moment" ? end.how : "SIGKILL"

/** Lets the life end as it should. Resolves to true when that has come about. */
const endLife = async (life: Lives.Life, end: End, world: World.World): Promise<true> => {
  switch (end._tag) {
    case "Point":
      await life.arrived
      break
    case "Model":
      await life.ready
      await new Promise<void>((resolve) => {
        world.onModel = (point) => {
          if (point !== end.point) return
          world.onModel = () => {}
          life.child.kill("SIGKILL")
          resolve()
        }
      })
      break
    case "Moment":
      await life.ready
      await pause(end.millis)
      life.child.kill(end.how)
  }
  if (how(end) === "SIGSTOP") {
    // Longer than some of the process's time limits, which then pass in its sleep.
    await pause(1_500)
    life.child.kill("SIGCONT")
    await pause(500)
  } else {
    await life.ended
  }
  return true
}

/** Ends a life that goes on; in order, as a service manager would. */
const finish = async (life: Lives.Life): Promise<void> => {
  if (life.child.exitCode !== null || life.child.signalCode !== null) return void (await life.ended)
  life.child.kill("SIGTERM")
  const inOrder = await Promise.race([life.ended.then(() => true), pause(10_000, false)])
  if (!inOrder) life.child.kill("SIGKILL")
  await life.ended
}

/** Waits until nothing is owed any more, for as long as something happens; gives what is owed when nothing does. */
const settled = async (database: string, messages: number): Promise<string | undefined> => {
  let last = ""
  for (let quiet = 0; quiet < 300; quiet += 1) {
    const owed = count(database)
    if (owed.open === 0 && owed.replies === 0 && owed.messages === messages) return undefined
    const now = JSON.stringify(owed)
    if (now !== last) quiet = 0
    last = now
    await pause(100)
  }
  const { messages: accepted, open, replies } = count(database)
  return `for half a minute nothing happened: ${open} messages have no outcome, ${replies} replies are owed, and ${accepted} of ${messages} are accepted`
}

const count = (database: string) => {
  const opened = new DatabaseSync(database, { readOnly: true })
  const number = (sql: string) => Number(opened.prepare(sql).get()?.["n"] ?? 0)
  const counts = {
    messages: number("SELECT count(*) AS n FROM inbox"),
    open: number("SELECT count(*) AS n FROM inbox WHERE state IN ('accepted', 'running')"),
    entries: number("SELECT count(*) AS n FROM thread_entries"),
    replies: number("SELECT count(*) AS n FROM outbox WHERE state IN ('pending', 'sending')")
  }
  opened.close()
  return counts
}

/** What there is to see of a process that does not come to an end. */
const stuck = (data: string): string => {
  const opened = new DatabaseSync(join(data, "troupe.db"), { readOnly: true })
  const rows = (sql: string) =>
    opened
      .prepare(sql)
      .all()
      .map((row) => JSON.stringify(row))
  const found = [
    ...rows("SELECT id, started_at, ended_at FROM incarnations ORDER BY id DESC LIMIT 2"),
    ...rows("SELECT * FROM turns WHERE state = 'running'"),
    ...rows(`SELECT t.id, t.key, t.owner, count(*) AS waiting FROM inbox i JOIN threads t ON t.id = i.thread_id
      WHERE i.state IN ('accepted', 'running') GROUP BY t.id`),
    ...rows(`SELECT e.thread_id, e.seq, e.kind, e.created_at, substr(e.payload, 1, 200) AS payload FROM thread_entries e
      WHERE e.thread_id IN (SELECT thread_id FROM inbox WHERE state IN ('accepted', 'running')) ORDER BY e.created_at DESC LIMIT 12`)
  ]
  opened.close()
  return [...found, readLog(data)].join("\n")
}

/** Gives the watchers the time to see the end; what they did not see is found afterwards. */
const watchersCaughtUp = async (database: string, seen: ReadonlyMap<string, ReadonlyArray<number>>): Promise<void> => {
  const opened = new DatabaseSync(database, { readOnly: true })
  const total = Number(opened.prepare("SELECT count(*) AS n FROM thread_entries").get()?.["n"] ?? 0)
  opened.close()
  const sum = () => [...seen.values()].reduce((all, { length }) => all + length, 0)
  for (let tries = 0; tries < 100 && sum() < total; tries += 1) await pause(100)
}

const readLog = (data: string): string => {
  const path = join(data, "logs", "troupe.log")
  return existsSync(path) ? readFileSync(path, "utf8").slice(-6_000) : "It logged nothing."
}
