/**
 * The disk rig: a store whose disk fails when a test says so.
 *
 * Failures are injected below everything of ours but the edge to SQLite (`NodeSqlite.Faults`), statement by statement,
 * transaction control included, with what SQLite does at such a failure: a full disk ends the transaction by itself, a lock of
 * another process does not. For what a real disk does there is `SmallDisk`.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { join } from "node:path"
import * as Database from "../../layers/storage/Database.ts"
import * as Migrations from "../../layers/storage/Migrations.ts"
import * as NodeSqlite from "../../layers/storage/NodeSqlite.ts"
import * as SqliteClient from "../../layers/storage/SqliteClient.ts"
import * as Settings from "../../src/config/Settings.ts"
import { DataDirectory } from "../../src/storage/DataDirectory.ts"
import type { StorageTrouble } from "../../src/storage/StorageError.ts"
import type * as Store from "../laws/Store.ts"

/** A way in which the disk fails, and what the store must call it. */
export interface Kind {
  readonly name: string
  readonly reason: StorageTrouble
  readonly fault: NodeSqlite.Fault
}

/** Codes: https://sqlite.org/rescode.html; extended ones where SQLite gives those. */
export const kinds: ReadonlyArray<Kind> = [
  { name: "a full disk", reason: "full", fault: { code: 13, endsTransaction: true } },
  { name: "a full disk that leaves the transaction open", reason: "full", fault: { code: 13, endsTransaction: false } },
  { name: "an error in writing", reason: "io", fault: { code: 10 | (3 << 8), endsTransaction: true } },
  { name: "an error in flushing", reason: "io", fault: { code: 10 | (4 << 8), endsTransaction: true } },
  { name: "a lock of another process", reason: "busy", fault: { code: 5, endsTransaction: false } },
  { name: "a disk that became read-only", reason: "read-only", fault: { code: 8, endsTransaction: false } }
]

export const full: Kind = { name: "a full disk", reason: "full", fault: { code: 13, endsTransaction: true } }

export class DiskRig extends Context.Service<
  DiskRig,
  {
    /** Statements fail from the nth on (counted from now, from 1). Gives a look at whether it came to that. */
    readonly failFrom: (nth: number, kind: Kind) => () => boolean
    /** Every statement that writes fails from now on; reading goes on, as it does on a full disk. */
    readonly failWrites: (kind: Kind) => void
    readonly heal: () => void
  }
>()("troupe/test/DiskRig") {}

type Fail = (sql: string) => NodeSqlite.Fault | undefined

const rig = () => {
  let fail: Fail | undefined
  const service = DiskRig.of({
    failFrom: (nth, { fault }) => {
      let left = nth
      fail = () => (--left <= 0 ? fault : undefined)
      return () => left <= 0
    },
    failWrites: ({ fault }) => {
      fail = (sql) => (reads.test(sql) ? undefined : fault)
    },
    heal: () => {
      fail = undefined
    }
  })
  // Tidying up after a failure is what SQLite can always do.
  const faults: Fail = (sql) => (sql.startsWith("ROLLBACK") ? undefined : fail?.(sql))
  return { service, faults }
}

const reads = /^\s*(select|pragma|begin|savepoint|release)\b/i

/** The rig, and whatever store is opened below it. */
export const over = <A, E, R>(store: Layer.Layer<A, E, R>): Layer.Layer<A | DiskRig, E, R> =>
  Layer.unwrap(
    Effect.sync(() => {
      const { faults, service } = rig()
      return store.pipe(
        Layer.provide(Layer.succeed(NodeSqlite.Faults, faults)),
        Layer.merge(Layer.succeed(DiskRig, service))
      )
    })
  )

/** An empty, migrated database in memory that waits for nobody. */
export const impatient: Store.Backend = Layer.fresh(
  Layer.provideMerge(
    Layer.effectDiscard(Migrations.run("rig.db")),
    SqliteClient.layer({ filename: ":memory:", busyTimeout: "5 millis" })
  ).pipe(Layer.orDie)
)

/** The whole store of an installation in a directory. */
export const store = (path: string, settings: Settings.SettingsInput = {}) =>
  Database.layer.pipe(
    Layer.provide(Layer.succeed(DataDirectory, { path, file: (name) => join(path, name) })),
    Layer.provide(Layer.orDie(Settings.Settings.layer(settings))),
    Layer.provide(NodeServices.layer)
  )
