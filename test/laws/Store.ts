/**
 * The databases that the law suites run on, and what the suites need of one: processes over it, its whole content, and
 * statements that fail on demand.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as SqlClient from "effect/sql/SqlClient"
import * as Statement from "effect/sql/Statement"
import * as JournalLive from "../../layers/conversation/Journal.ts"
import * as OutboxLive from "../../layers/channel/Outbox.ts"
import * as Database from "../../layers/storage/Database.ts"
import * as IncarnationLive from "../../layers/storage/Incarnation.ts"
import * as Migrations from "../../layers/storage/Migrations.ts"
import * as SqliteClient from "../../layers/storage/SqliteClient.ts"
import * as ThreadsLive from "../../layers/thread/Threads.ts"
import { Outbox } from "../../src/channel/Outbox.ts"
import { Journal } from "../../src/conversation/Journal.ts"
import { Incarnation } from "../../src/storage/Incarnation.ts"
import { Threads } from "../../src/thread/Threads.ts"

/** An empty, migrated database; each use is a database of its own. */
export type Backend = Layer.Layer<SqlClient.SqlClient>

const sqliteFile: Backend = Layer.fresh(
  Layer.unwrap(
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const directory = yield* files.makeTempDirectoryScoped()
      const client = SqliteClient.layer({ filename: `${directory}/laws.db`, synchronous: "normal" })
      return Layer.provideMerge(Layer.effectDiscard(Migrations.run("laws.db")), client)
    })
  ).pipe(Layer.orDie, Layer.provide(NodeServices.layer))
)

export const sqliteMemory: Backend = Database.layerMemory

export const backends: ReadonlyArray<{ readonly name: string; readonly layer: Backend }> = [
  { name: "SQLite in memory", layer: sqliteMemory },
  { name: "SQLite in a file", layer: sqliteFile }
]

/** One life of a process over the database: its services, written as its own incarnation. */
export interface Process {
  readonly incarnation: Incarnation["Service"]["id"]
  readonly journal: Journal["Service"]
  readonly threads: Threads["Service"]
  readonly outbox: Outbox["Service"]
}

export const startProcess = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const incarnation = yield* Effect.orDie(IncarnationLive.make)
  const services = Layer.mergeAll(JournalLive.layer, ThreadsLive.layer, OutboxLive.layer).pipe(
    Layer.provide(Layer.succeed(SqlClient.SqlClient, sql)),
    Layer.provide(Layer.succeed(Incarnation, incarnation))
  )
  const context = yield* Layer.build(Layer.fresh(services))
  return {
    incarnation: incarnation.id,
    journal: Context.get(context, Journal),
    threads: Context.get(context, Threads),
    outbox: Context.get(context, Outbox)
  }
})

const tables = [
  "installations",
  "incarnations",
  "threads",
  "turns",
  "thread_entries",
  "inbox",
  "attachments",
  "outbox",
  "channel_cursors"
]

/** Every row of every table, as text. Two that are equal mean that nothing was written between them. */
export const dump = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* Effect.forEach(tables, (table) => Effect.orDie(sql<object>`SELECT * FROM ${sql(table)}`))
  return rows.map((found, index) => [tables[index], ...found.map((row) => JSON.stringify(row)).toSorted()].join("\n"))
})

/** How many statements an effect sends, the control of its transactions not counted. */
export const countStatements = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    let count = 0
    return Effect.map(
      Effect.provideService(effect, Statement.CurrentTransformer, (statement) => {
        count++
        return Effect.succeed(statement)
      }),
      () => count
    )
  })

/** Runs an effect whose `nth` statement (from 1) is refused by the database. */
export const withFailingStatement = (nth: number) =>
  atStatement(nth, (_, sql) => Effect.succeed(sql`SELECT refused FROM nowhere`))

/** Runs an effect that stays for ever before its `nth` statement (from 1), and says when it is there. */
export const withHangingStatement = (nth: number, reached: Deferred.Deferred<void>) =>
  atStatement(nth, () => Effect.andThen(Deferred.succeed(reached, undefined), Effect.never))

const atStatement =
  (nth: number, instead: Statement.Transformer) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.suspend(() => {
      let count = 0
      return Effect.provideService(effect, Statement.CurrentTransformer, (statement, ...context) => {
        count++
        return count === nth ? instead(statement, ...context) : Effect.succeed(statement)
      })
    })
