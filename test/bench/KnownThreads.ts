/** What threads cost that a daemon knows and does not serve: rows of its database. And what it does while nobody asks anything. */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { setTimeout as pause } from "node:timers/promises"
import * as TroupeClient from "../../src/client/TroupeClient.ts"
import { ThreadKey } from "../../src/thread/Threads.ts"
import * as Daemons from "./Daemons.ts"
import * as Processes from "./Processes.ts"
import type { Measurement } from "./Report.ts"

/** What a start leaves behind has been done and collected after this. */
const settleMillis = 4_000
const idleMillis = 20_000

export const measure = (): Promise<ReadonlyArray<Measurement>> =>
  Daemons.inPlace("", async (place) => {
    await Daemons.serving(place, (daemon) => run(daemon, oneThread))
    const empty = await look(place, 1)
    const some = await look(place, 10_000)
    const many = await look(place, 100_000)
    return [
      {
        name: "10 000 known threads, above none",
        value: some.mebibytes - empty.mebibytes,
        unit: "MiB RSS",
        target: 40
      },
      {
        name: "100 000 known threads, above none",
        value: many.mebibytes - empty.mebibytes,
        unit: "MiB RSS",
        target: 60
      },
      { name: "idle processor", value: empty.percent, unit: "%", target: 0.5, note: `over ${idleMillis / 1000} s` },
      { name: "idle processor, 100 000 threads", value: many.percent, unit: "%", target: 0.5 }
    ]
  })

const run = <A, E>({ token, url }: Daemons.Daemon, program: Effect.Effect<A, E, TroupeClient.TroupeClient>) =>
  Effect.runPromise(
    Effect.provide(program, TroupeClient.layerHttp({ url, token: Redacted.make(token), name: "bench" }))
  )

/** A thread with one answered message, of which the others are copies. */
const oneThread = Effect.gen(function* () {
  const client = yield* TroupeClient.TroupeClient
  const { messageId } = yield* client.Send({ thread: ThreadKey.make("rpc:known"), text: "what is 12*(3+4)?" })
  yield* Effect.repeat(client.MessageState({ messageId }), {
    schedule: Schedule.spaced("50 millis"),
    until: ({ state }) => state === "answered"
  })
})

const look = async (place: Daemons.Place, threads: number) => {
  copyThreads(join(place.data, "troupe.db"), threads)
  return Daemons.serving(place, async (daemon) => {
    // As it is after somebody has looked at it.
    const status = await run(
      daemon,
      Effect.gen(function* () {
        const client = yield* TroupeClient.TroupeClient
        yield* client.Threads({ limit: 100 })
        return yield* client.Status()
      })
    )
    if (status.threads !== threads) throw new Error(`it knows ${status.threads} threads instead of ${threads}`)
    await pause(settleMillis)
    const pid = daemon.child.pid ?? 0
    const before = processorMillis(pid)
    await pause(idleMillis)
    return {
      percent: ((processorMillis(pid) - before) / idleMillis) * 100,
      mebibytes: Processes.residentMiB(pid) ?? Number.NaN
    }
  })
}

/** Makes copies of the first thread, with everything of it, until there are so many. */
const copyThreads = (file: string, wanted: number): void => {
  const database = new DatabaseSync(file)
  const [first] = database.prepare("SELECT min(id) AS id, count(*) AS count FROM threads").all()
  const from = Number(first?.["count"])
  if (from < wanted) {
    database.exec("BEGIN")
    for (const table of ["threads", "turns", "thread_entries", "inbox"]) {
      const columns = database
        .prepare("SELECT name FROM pragma_table_info(?)")
        .all(table)
        .map(({ name }) => String(name))
      const values = columns.map(copied)
      const own = table === "threads" ? "id" : "thread_id"
      database
        .prepare(
          `WITH RECURSIVE copies(n) AS (SELECT ${from} UNION ALL SELECT n + 1 FROM copies WHERE n + 1 < ${wanted})
           INSERT INTO ${table} (${columns.join(", ")}) SELECT ${values.join(", ")} FROM copies, ${table} WHERE ${own} = ?`
        )
        .run(String(first?.["id"]))
    }
    database.exec("COMMIT")
  }
  database.close()
}

const copied = (column: string): string => {
  if (/^(id|thread_id|turn_id)$/.test(column)) {
    return `substr(${column}, 1, length(${column}) - 6) || printf('%06d', n)`
  }
  return /^(key|external_id)$/.test(column) ? `${column} || '-' || n` : column
}

/** User and system time of a process so far, as Linux counts it. */
const processorMillis = (pid: number): number => {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  const ticksPerSecond = 100
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / ticksPerSecond
}
