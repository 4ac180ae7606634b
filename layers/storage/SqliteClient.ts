/**
 * SQLite as Effect's `SqlClient`, over the SQLite that Node carries.
 *
 * It has the shape of Effect's own driver package (`layer({ filename, … })`), so that moving to it is a change of one import.
 * One connection is shared: a statement borrows it, a transaction holds it, everything else queues. Who had it gets its result
 * when all that was committed by then is on the disk, for a failure or a row that was read may tell of it too (`Durability`
 * tells who need not wait); the connection serves others meanwhile, whose commits share the flush.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Reactivity from "effect/reactivity/Reactivity"
import * as Schedule from "effect/Schedule"
import * as Semaphore from "effect/Semaphore"
import * as SqlClient from "effect/sql/SqlClient"
import type * as SqlConnection from "effect/sql/SqlConnection"
import type { SqlError } from "effect/sql/SqlError"
import * as Statement from "effect/sql/Statement"
import * as Stream from "effect/Stream"
import * as Durability from "./Durability.ts"
import * as GroupFlush from "./GroupFlush.ts"
import * as LogFile from "./LogFile.ts"
import * as NodeSqlite from "./NodeSqlite.ts"

/** How the database is opened. */
export interface Options {
  /** Path of the file, or `:memory:`. */
  readonly filename: string
  /** Opens an existing file without ever writing to it. Default false. */
  readonly readonly?: boolean | undefined
  /**
   * `full` has each commit on the disk before anybody is told of it: it survives a power cut. `normal` survives a crash of the process, and may lose
   * the last commits in a power cut. Default `full`.
   */
  readonly synchronous?: "full" | "normal" | undefined
  /** How long a statement waits for another process's lock; the event loop is free meanwhile. Default 5 seconds. */
  readonly busyTimeout?: Duration.Input | undefined
  /** Prepared statements kept, at most. Default 256. */
  readonly statementCacheSize?: number | undefined
  /**
   * Pages in the write-ahead log after which a commit folds them into the file. Default 2000 (about 8 MB): what is written
   * over and over again, as the rows of running turns are, is then folded in once, and the event loop waits for it.
   */
  readonly walAutocheckpoint?: number | undefined
  /** Bytes of log file kept after it was folded into the file. Default 16 MiB. */
  readonly journalSizeLimit?: number | undefined
  /** Told how writes go. */
  readonly observer?: Observer | undefined
}

/** Told of every statement that failed after all waiting, and of every write that is on disk. */
export type Observer = GroupFlush.Observer

/** What a checkpoint did. `complete` is false when a reader of another process kept part of the log in use. */
export interface CheckpointResult {
  readonly complete: boolean
}

/** What SQLite offers beyond `SqlClient`. */
export class SqliteClient extends Context.Service<
  SqliteClient,
  {
    /** The file's path, or `:memory:`. */
    readonly path: string
    /** Copies the database as it is now into a new file, while work goes on. Overwrites `destination`. */
    readonly backup: (destination: string) => Effect.Effect<void, SqlError>
    /** Folds the write-ahead log into the file and empties it. */
    readonly checkpoint: Effect.Effect<CheckpointResult, SqlError>
    /** While true, writes fail as those of a file that is not where it was opened. */
    readonly refuseWrites: (refuse: boolean) => Effect.Effect<void>
    /** Copies what this connection has open, be there a file of that name or not. Overwrites `destination`. */
    readonly saveOpen: (destination: string) => Effect.Effect<void, SqlError>
  }
>()("troupe/storage/SqliteClient") {}

/** Opens the database for the scope of the layer. Fails with a `SqlError` that names the path when it cannot be opened. */
export const layer = (options: Options): Layer.Layer<SqlClient.SqlClient | SqliteClient, SqlError> =>
  Layer.effectContext(make(options)).pipe(Layer.provide(Reactivity.layer))

/** The client and its extras, for the current scope. */
export const make = Effect.fnUntraced(function* (options: Options) {
  const handle = yield* NodeSqlite.open({
    filename: options.filename,
    readonly: options.readonly ?? false,
    statementCacheSize: options.statementCacheSize ?? 256
  })
  let refused = false
  let log = GroupFlush.none(options.observer)
  const connection = makeConnection(handle, {
    busyTimeout: Duration.fromInputUnsafe(options.busyTimeout ?? "5 seconds"),
    observer: options.observer,
    refused: () => refused,
    log: () => log
  })
  const ownFlush = yield* configure(connection, options)
  if (ownFlush) {
    log = yield* GroupFlush.make(yield* LogFile.open(options.filename), {
      written: () => options.observer?.written(),
      failed: (error) => {
        // What the system kept of the log may be other than what was written, and only opening it anew checks that.
        handle.leaveOpen()
        options.observer?.failed(error)
      }
    })
  }

  const semaphore = yield* Semaphore.make(1)
  const acquirers = SqlClient.makeSqliteAcquirers<SqlConnection.Connection>({
    connection: Effect.succeed(connection),
    semaphore,
    isTransaction: handle.isTransaction
  })
  const settled = Effect.withFiber<void, SqlError>((fiber) => {
    if (fiber.getRef(Durability.Awaited)) return log.flushed
    log.begin()
    return Effect.void
  })
  const borrower: SqlConnection.Borrower = (use) => Effect.onExit(acquirers.borrower(use), () => settled)
  const client = yield* SqlClient.make({
    ...acquirers,
    borrower,
    acquirer: Effect.succeed(streaming(connection, borrower)),
    // What was added last is done first, so the connection is free before the flush is waited for.
    transactionAcquirer: Effect.andThen(
      Effect.addFinalizer(() => Effect.orDie(settled)),
      Effect.map(acquirers.transactionAcquirer, (leased) => watched(leased, handle))
    ),
    compiler: Statement.makeCompilerSqlite(),
    driver: "sqlite-node",
    beginTransaction: begin,
    prepareTransactionControls: true,
    releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`,
    spanAttributes: [["db.system.name", "sqlite"]]
  })
  return Context.make(SqlClient.SqlClient, client).pipe(
    Context.add(SqliteClient, {
      path: options.filename,
      backup: (destination) => backup(options.filename, destination, handle, acquirers.borrower),
      checkpoint: borrower(checkpoint),
      refuseWrites: (refuse) =>
        Effect.sync(() => {
          refused = refuse
          if (refuse) options.observer?.failed(NodeSqlite.moved())
        }),
      saveOpen: (destination) => acquirers.borrower(() => handle.backup(destination))
    })
  )
})

interface Surroundings {
  readonly busyTimeout: Duration.Duration
  readonly observer: Observer | undefined
  readonly refused: () => boolean
  readonly log: () => GroupFlush.GroupFlush
}

const makeConnection = (
  handle: NodeSqlite.Handle,
  { busyTimeout, log, observer, refused }: Surroundings
): SqlConnection.Connection => {
  const refusal = (sql: string): SqlError | undefined => {
    if (refused() && (sql === begin || writes.test(sql))) return NodeSqlite.moved()
    return undoes.test(sql) ? undefined : log().failure()
  }
  /** One try. It is one step of the fiber: this is the path of every statement of every message. */
  const attempt = (
    sql: string,
    params: ReadonlyArray<unknown>,
    options: { readonly shape: NodeSqlite.RowShape; readonly safeIntegers: boolean; readonly cache: boolean }
  ): Exit.Exit<NodeSqlite.Outcome, SqlError> => {
    const refuse = refusal(sql)
    const exit = refuse === undefined ? handle.query(sql, params, options) : Exit.fail(refuse)
    // Statements inside a transaction are in the log with its end, so only that counts.
    if (Exit.isSuccess(exit) && !handle.isTransaction() && !leavesAsIs.test(sql)) log().wrote()
    return exit
  }
  const query = <A>(
    sql: string,
    params: ReadonlyArray<unknown>,
    { cache, read, shape }: Reading<A>
  ): Effect.Effect<A, SqlError> =>
    Effect.withFiber((fiber) => {
      const options = { shape, cache, safeIntegers: fiber.getRef(SqlClient.SafeIntegers) }
      // Inside a transaction the write lock is already held, and a failed statement is the transaction's business.
      const patient = sql === "COMMIT" || !handle.isTransaction()
      const first = attempt(sql, params, options)
      if (Exit.isSuccess(first)) return Exit.succeed(read(first.value))
      const again = Effect.suspend(() => attempt(sql, params, options))
      const waited = patient ? Effect.catchIf(first, NodeSqlite.isBusy, () => whenFree(again, busyTimeout)) : first
      const told =
        observer === undefined ? waited : Effect.tapError(waited, (error) => Effect.sync(() => observer.failed(error)))
      return Effect.map(told, read)
    })
  const rows = (
    cache: boolean,
    transform: Parameters<SqlConnection.Connection["execute"]>[2]
  ): Reading<ReadonlyArray<unknown>> => ({
    shape: "objects",
    cache,
    read: transform === undefined ? toRows : (outcome) => transform(outcome.rows)
  })
  return {
    execute: (sql, params, transform) => query(sql, params, rows(true, transform)),
    executeRaw: (sql, params) =>
      query(sql, params, {
        shape: "objects",
        cache: true,
        read: (outcome): unknown => outcome.changes ?? outcome.rows
      }),
    executeValues: (sql, params) => query(sql, params, { shape: "values", cache: true, read: toValues }),
    executeValuesUnprepared: (sql, params) => query(sql, params, { shape: "values", cache: false, read: toValues }),
    executeUnprepared: (sql, params, transform) => query(sql, params, rows(false, transform)),
    // A cursor held open while its reader is slow would pin the log and let it grow without end: the rows are read at once.
    executeStream: (sql, params, transform) => Stream.fromIterableEffect(query(sql, params, rows(true, transform)))
  }
}

/** What a statement's result is wanted as. */
interface Reading<A> {
  readonly shape: NodeSqlite.RowShape
  /** Whether the statement is kept prepared. */
  readonly cache: boolean
  readonly read: (outcome: NodeSqlite.Outcome) => A
}

const writes = /^\s*(insert|update|delete|replace)\b/i
const leavesAsIs = /^\s*(select|explain|pragma|rollback)\b/i
const undoes = /^(rollback|release)\b/i

// Tries again until the lock is free. SQLite's own waiting would block the event loop, so it stays off. The lock belongs to a
// real process, so the wait is in real time even where the program's clock is a test clock.
const whenFree = <A>(attempt: Effect.Effect<A, SqlError>, busyTimeout: Duration.Duration) =>
  attempt.pipe(
    Effect.retry({
      while: NodeSqlite.isBusy,
      schedule: Schedule.min([Schedule.exponential("1 millis", 1.5), Schedule.spaced("25 millis")]).pipe(
        Schedule.upTo({ duration: busyTimeout })
      )
    }),
    Effect.provideService(Clock.Clock, Clock.Clock.defaultValue())
  )

// A stream keeps what it acquired until its reader is done. It gets a connection that borrows for each statement instead of a
// lease, or one slow reader would stop every write.
const streaming = (connection: SqlConnection.Connection, borrow: SqlConnection.Borrower): SqlConnection.Connection => ({
  ...connection,
  executeStream: (sql, params, transform) =>
    Stream.fromIterableEffect(borrow((leased) => leased.execute(sql, params, transform)))
})

// Takes the write lock at once: a transaction that read first and then found the lock taken could only fail.
const begin = "BEGIN IMMEDIATE"
const ends = new Set(["COMMIT", "ROLLBACK"])

// SQLite ends a transaction by itself after some failures (a full disk, for one). A program that caught the failure and went
// on would then write outside of any transaction, so every later statement of that transaction fails.
const watched = (connection: SqlConnection.Connection, handle: NodeSqlite.Handle): SqlConnection.Connection => {
  let open = false
  const watch = <A>(sql: string, run: Effect.Effect<A, SqlError>): Effect.Effect<A, SqlError> =>
    Effect.suspend(() => {
      if (open && !handle.isTransaction()) return Effect.fail(ended)
      if (sql !== begin && !ends.has(sql)) return run
      return Effect.tap(run, () => Effect.sync(() => void (open = sql === begin)))
    })
  return {
    execute: (sql, params, transform) => watch(sql, connection.execute(sql, params, transform)),
    executeRaw: (sql, params) => watch(sql, connection.executeRaw(sql, params)),
    executeValues: (sql, params) => watch(sql, connection.executeValues(sql, params)),
    executeValuesUnprepared: (sql, params) => watch(sql, connection.executeValuesUnprepared(sql, params)),
    executeUnprepared: (sql, params, transform) => watch(sql, connection.executeUnprepared(sql, params, transform)),
    executeStream: (sql, params, transform) =>
      Stream.fromIterableEffect(watch(sql, connection.execute(sql, params, transform)))
  }
}

const ended = NodeSqlite.misuse("SQLite rolled this transaction back after an earlier failure in it", "execute")

/** Sets the connection up, and says whether its log is ours to flush. */
const configure = Effect.fnUntraced(function* (connection: SqlConnection.Connection, options: Options) {
  const pragma = (text: string) => connection.executeUnprepared(`PRAGMA ${text}`, [], undefined)
  yield* pragma("busy_timeout = 0")
  yield* pragma("foreign_keys = ON")
  // Without it a REPLACE deletes rows past the triggers that forbid deleting.
  yield* pragma("recursive_triggers = ON")
  yield* pragma("trusted_schema = OFF")
  yield* pragma("temp_store = MEMORY")
  // The first touch of the file itself: a file that is no database is found here and not in the middle of the work.
  yield* pragma("schema_version")
  if (options.readonly === true) return false
  const [mode] = yield* connection.executeValuesUnprepared("PRAGMA journal_mode = WAL", [])
  // Without a log of its own to flush (in memory, or where the file system cannot share memory) SQLite does it.
  const ownFlush = options.synchronous !== "normal" && mode?.[0] === "wal"
  yield* pragma(`synchronous = ${options.synchronous === "normal" || ownFlush ? "NORMAL" : "FULL"}`)
  yield* pragma(`wal_autocheckpoint = ${options.walAutocheckpoint ?? 2000}`)
  yield* pragma(`journal_size_limit = ${options.journalSizeLimit ?? 16 * 1024 * 1024}`)
  yield* Effect.addFinalizer(() => Effect.ignore(Effect.andThen(pragma("optimize"), checkpoint(connection))))
  // The first look in this mode makes the log's file.
  yield* pragma("schema_version")
  // What an earlier life left in the log goes into the file, flushed by SQLite: if a flush of that life failed, the system may
  // take what it holds of the log in memory for what is on the disk.
  if (ownFlush) yield* checkpoint(connection)
  return ownFlush
})

const checkpoint = (connection: SqlConnection.Connection): Effect.Effect<CheckpointResult, SqlError> =>
  Effect.map(connection.executeValuesUnprepared("PRAGMA wal_checkpoint(TRUNCATE)", []), ([row]) => ({
    complete: row?.[0] === 0
  }))

// A file is copied through a second connection on Node's thread pool, so that the loop and the writers go on. A database in
// memory has no second connection; it is copied between two statements.
const backup = (
  filename: string,
  destination: string,
  handle: NodeSqlite.Handle,
  borrow: SqlConnection.Borrower
): Effect.Effect<void, SqlError> =>
  filename === ":memory:"
    ? borrow(() => handle.backup(destination))
    : Effect.scoped(
        Effect.flatMap(NodeSqlite.open({ filename, readonly: true, statementCacheSize: 1 }), (reader) =>
          reader.backup(destination)
        )
      )

const toRows = (outcome: NodeSqlite.Outcome): ReadonlyArray<object> => outcome.rows

const toValues = (outcome: NodeSqlite.Outcome): ReadonlyArray<ReadonlyArray<unknown>> =>
  outcome.rows.map((row) => (Array.isArray(row) ? row : []))
