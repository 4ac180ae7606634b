/**
 * How long the installed program takes, killed while very many threads were owed an answer, until it serves and works again on
 * all the turns that were under way; the other threads wait in line for these. The model hears every request and answers none,
 * so that this stays as it is.
 */
import { join } from "node:path"
import { createServer } from "node:http"
import { DatabaseSync } from "node:sqlite"
import { setTimeout as pause } from "node:timers/promises"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as TroupeClient from "../../src/client/TroupeClient.ts"
import { ThreadKey } from "../../src/thread/Threads.ts"
import * as Daemons from "../bench/Daemons.ts"
import * as Processes from "../bench/Processes.ts"

export interface Debt {
  /** Threads with a message that is owed an answer. */
  readonly threads: number
  /** How many of their turns run at once. */
  readonly turns: number
}

export interface Result extends Debt {
  /** Milliseconds from the start of the process until it served. */
  readonly ready: number
  /** Milliseconds from the start of the process until the last turn was taken up again. */
  readonly resumed: number
  /** Milliseconds of processor time it had used by then. */
  readonly processor: number
}

export const run = async (program: string, { threads, turns }: Debt): Promise<Result> => {
  const model = await silentModel()
  const settings = `[llm]\nprovider = "silent"\nmodel = "silent"\n[providers.silent]\nbase_url = "${model.url}/v1"
api_key = "none"\n[runtime]\nmax_concurrent_turns = ${turns}\n`
  try {
    return await Daemons.inPlace(settings, async (place) => {
      // As on a machine where it has run before.
      const env = { ...process.env, XDG_CACHE_HOME: join(place.directory, "cache") }
      const first = await Daemons.start(place, program, env)
      await Effect.runPromise(
        Effect.provide(
          sendTo(threads),
          TroupeClient.layer({ url: first.url, token: Redacted.make(first.token), name: "bench" })
        )
      )
      await until(place, "SELECT count(*) AS n FROM turns WHERE state = 'running'", turns)
      // An end in order, for what only such an end writes: the cache of compiled code.
      await Processes.stop(first.child)
      const second = await Daemons.start(place, program, env)
      await until(place, "SELECT count(*) AS n FROM thread_entries WHERE kind = 'TurnResumed'", turns)
      await Processes.stop(second.child, "SIGKILL")

      const started = performance.now()
      const third = await Daemons.start(place, program, env)
      const ready = performance.now() - started
      await until(place, "SELECT count(*) AS n FROM thread_entries WHERE kind = 'TurnResumed'", 2 * turns)
      const resumed = performance.now() - started
      const processor = Processes.processorMillis(third.child.pid ?? 0)
      await Processes.stop(third.child, "SIGKILL")
      return { threads, turns, ready, resumed, processor }
    })
  } finally {
    await model.close()
  }
}

const sendTo = (threads: number) =>
  Effect.flatMap(TroupeClient.TroupeClient, (client) =>
    Effect.forEach(
      Array.from({ length: threads }, (_, index) => ThreadKey.make(`rpc:recovery-${index}`)),
      (thread) => client.Send({ thread, text: "hello" }),
      { concurrency: 64, discard: true }
    )
  )

const silentModel = (): Promise<{ readonly url: string; readonly close: () => Promise<void> }> =>
  new Promise((resolve) => {
    const server = createServer((request) => request.resume())
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      resolve({
        url: `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`,
        close: () =>
          new Promise((closed) => {
            server.close(() => closed())
            server.closeAllConnections()
          })
      })
    })
  })

const until = async (place: Daemons.Place, sql: string, wanted: number): Promise<void> => {
  const database = new DatabaseSync(join(place.data, "troupe.db"), { readOnly: true })
  const counting = database.prepare(sql)
  try {
    for (let tries = 0; tries < 6_000; tries += 1) {
      if (Number(counting.get()?.["n"] ?? 0) >= wanted) return
      await pause(10)
    }
    throw new Error(`it did not come to ${wanted}: ${sql}`)
  } finally {
    database.close()
  }
}
