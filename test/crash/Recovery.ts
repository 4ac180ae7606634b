/** How long a process that was killed with very many turns under way takes until it works on all of them again. */
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { setTimeout as pause } from "node:timers/promises"
import * as Lives from "./Lives.ts"
import * as Protocol from "./Protocol.ts"
import * as World from "./World.ts"

export interface Result {
  readonly threads: number
  /** Milliseconds from the start of the process until it was ready. */
  readonly ready: number
  /** Milliseconds from the start of the process until the last turn was taken up again. */
  readonly resumed: number
}

export const run = async (threads: number): Promise<Result> => {
  const world = await World.open(() => 0)
  const at = await Lives.place(world.url, { turns: threads })
  try {
    world.silent = true
    for (let number = 1; number <= threads; number += 1) {
      const tag = `outside:${number}-1`
      world.feed.push({ number, chat: String(number), tag, text: Protocol.textOf(tag, []), delivery: "now" })
    }
    const first = Lives.begin(at, world.url)
    await until(at, "SELECT count(*) AS n FROM turns WHERE state = 'running'", threads)
    first.child.kill("SIGKILL")
    await first.ended
    const started = performance.now()
    const second = Lives.begin(at, world.url)
    const ready = await second.ready
    await until(at, "SELECT count(*) AS n FROM thread_entries WHERE kind = 'TurnResumed'", threads)
    const resumed = performance.now() - started
    second.child.kill("SIGKILL")
    await second.ended
    return { threads, ready, resumed }
  } finally {
    await world.close()
    at.remove()
  }
}

const until = async (at: Lives.Place, sql: string, wanted: number): Promise<void> => {
  for (let tries = 0; tries < 6_000; tries += 1) {
    if (count(join(at.data, "troupe.db"), sql) >= wanted) return
    await pause(20)
  }
  throw new Error(`it did not come to ${wanted}: ${sql}`)
}

const count = (database: string, sql: string): number => {
  try {
    const opened = new DatabaseSync(database, { readOnly: true })
    const found = Number(opened.prepare(sql).get()?.["n"] ?? 0)
    opened.close()
    return found
  } catch {
    return 0 // not there yet
  }
}
