/**
 * The edge to `node:sqlite`: one open database as typed effects.
 *
 * Everything that is peculiar to the Node module stays in this file: its exceptions, its error codes, its integer rules and
 * its warning. Nothing else imports `node:sqlite`.
 *
 * - Every statement is stepped to its end inside one call, so no read transaction outlives it and the write-ahead log can
 *   always be reset.
 * - Integers are read as bigints and given back as numbers when they fit, so a 64-bit id anywhere in a result (or as the
 *   connection's last row id) never breaks a statement.
 * - Whole numbers are bound as integers. The module binds every number as a float, which shows as `5.0` in text and JSON.
 */
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import { classifySqliteError, SqlError, UnknownError } from "effect/sql/SqlError"

/** How a statement's rows are wanted: as objects keyed by column, or as arrays. */
export type RowShape = "objects" | "values"

/** What a statement did. A statement that gives rows reports no changes: they are not its result. */
export interface Outcome {
  readonly rows: ReadonlyArray<object>
  readonly changes: { readonly changes: unknown; readonly lastInsertRowid: unknown } | undefined
}

/** What to open and how. `statementCacheSize` bounds the prepared statements kept. */
export interface OpenOptions {
  readonly filename: string
  readonly readonly: boolean
  readonly statementCacheSize: number
}

/** One open database. */
export interface Handle {
  /** Runs a statement at once: it blocks the event loop for as long as SQLite works. */
  readonly query: (
    sql: string,
    params: ReadonlyArray<unknown>,
    options: { readonly shape: RowShape; readonly safeIntegers: boolean; readonly cache: boolean }
  ) => Exit.Exit<Outcome, SqlError>
  readonly isTransaction: () => boolean
  readonly backup: (destination: string) => Effect.Effect<void, SqlError>
  readonly close: Effect.Effect<void, SqlError>
  /** From now on the end of the scope leaves the database open: closing it would fold its log into the file. */
  readonly leaveOpen: () => void
}

/** What a statement is made to fail with: one of SQLite's result codes, and whether SQLite ends the transaction with it. */
export interface Fault {
  readonly code: number
  readonly endsTransaction: boolean
}

/**
 * Asked before each statement of the databases that are opened under it, and what it gives is what SQLite would have said.
 * It is here for tests, which cannot make a disk fail at the third write. Read once at opening: without one nothing is asked.
 */
export const Faults = Context.Reference<((sql: string) => Fault | undefined) | undefined>("troupe/storage/Faults", {
  defaultValue: () => undefined
})

/** Opens a database; the scope closes it. Fails with the path in the message when the file cannot be opened. */
export const open = (options: OpenOptions): Effect.Effect<Handle, SqlError, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.flatMap(Faults, (faults) =>
      Effect.map(
        Effect.try({
          try: () => new sqlite.DatabaseSync(options.filename, { readOnly: options.readonly }),
          catch: (cause) => toSqlError(cause, "open", `Cannot open the database file ${options.filename}`)
        }),
        (database) => makeHandle(database, options, faults)
      )
    ),
    (handle) => Effect.ignore(handle.close)
  )

/** True when the failure says another connection holds the lock: waiting and trying again can help. */
export const isBusy = (error: SqlError): boolean => error.reason._tag === "LockTimeoutError"

/** The SQLite result code behind an error, extended bits included, or undefined when it did not come from SQLite. */
export const resultCode = (error: SqlError): number | undefined => {
  const cause = error.reason.cause
  return Predicate.hasProperty(cause, "errcode") && typeof cause.errcode === "number" ? cause.errcode : undefined
}

/** The kind of that code, without the extended bits: the numbers of https://sqlite.org/rescode.html. */
export const primaryCode = (error: SqlError): number | undefined => {
  const code = resultCode(error)
  return code === undefined ? undefined : code & 0xff
}

// Nodes before 24 announce node:sqlite as experimental on the first load, on stderr, where it would be the first line a
// person sees. The module is loaded by hand so that this one announcement, and no other warning, can be left out.
const loadSqlite = () => {
  const emitWarning = process.emitWarning
  process.emitWarning = () => {}
  const loaded = process.getBuiltinModule("node:sqlite")
  process.emitWarning = emitWarning
  return loaded
}
const sqlite = loadSqlite()

interface Prepared {
  readonly statement: StatementSync
  readonly columns: ReadonlyArray<string>
}

const makeHandle = (database: DatabaseSync, options: OpenOptions, faults: typeof Faults.Service): Handle => {
  const statements = makeStatements(database, options.statementCacheSize)

  /** The failure that a test wants here, after what SQLite does with it. */
  const injected = (sql: string): SqlError | undefined => {
    const fault = faults?.(sql)
    if (fault === undefined) return undefined
    if (fault.endsTransaction && database.isTransaction) database.exec("ROLLBACK")
    return toSqlError(Object.assign(new Error("injected failure"), { errcode: fault.code }), "execute")
  }

  const run = (
    sql: string,
    values: ReadonlyArray<SQLInputValue>,
    shape: RowShape,
    safe: boolean,
    cache: boolean
  ): Outcome | undefined => {
    const prepared = statements.prepare(sql, cache)
    if (prepared === undefined) return undefined
    if (prepared.columns.length === 0) {
      const { changes, lastInsertRowid } = prepared.statement.run(...values)
      statements.ran(sql)
      return { rows: [], changes: { changes: toJs(changes, safe), lastInsertRowid: toJs(lastInsertRowid, safe) } }
    }
    const rows: ReadonlyArray<unknown> = prepared.statement.all(...values)
    statements.ran(sql)
    return {
      rows: shape === "values" ? rows.map((row) => toValues(row, safe)) : toObjects(rows, prepared.columns, safe),
      changes: undefined
    }
  }

  return {
    query: (sql, params, { cache, safeIntegers, shape }) => {
      const failure = faults === undefined ? undefined : injected(sql)
      if (failure !== undefined) return Exit.fail(failure)
      const values: Array<SQLInputValue> = []
      for (let index = 0; index < params.length; index++) {
        const value = toSqlite(params[index])
        if (value === undefined) return Exit.fail(unsupportedParameter(index, params[index]))
        values.push(value)
      }
      const done = Result.try({
        try: () => run(sql, values, shape, safeIntegers, cache),
        catch: (cause) => toSqlError(cause, "execute")
      })
      if (Result.isFailure(done)) return Exit.fail(done.failure)
      return done.success === undefined ? Exit.fail(severalStatements) : Exit.succeed(done.success)
    },
    isTransaction: () => database.isOpen && database.isTransaction,
    backup: (destination) =>
      Effect.asVoid(
        Effect.tryPromise({
          // One step copies the whole file from one snapshot; smaller steps start over at every write of another connection.
          try: () => sqlite.backup(database, destination, { rate: 0x7fff_ffff }),
          catch: (cause) => toSqlError(cause, "backup", `Cannot back up the database to ${destination}`)
        })
      ),
    close: Effect.try({
      try: () => {
        statements.clear()
        if (database.isOpen && !leftOpen.has(database)) database.close()
      },
      catch: (cause) => toSqlError(cause, "close")
    }),
    leaveOpen: () => void leftOpen.add(database)
  }
}

// Held for the life of the process: one that is collected is closed.
const leftOpen = new Set<DatabaseSync>()

/** Prepared statements, least recently used first to go. A change of the schema empties it: column names are kept with them. */
const makeStatements = (database: DatabaseSync, capacity: number) => {
  const cached = new Map<string, Prepared>()
  let schemaChanged = false

  const prepare = (sql: string): Prepared | undefined => {
    const statement = database.prepare(sql)
    if (holdsMore(sql, statement.sourceSQL)) return undefined
    statement.setReadBigInts(true)
    statement.setReturnArrays(true)
    return { statement, columns: statement.columns().map((column) => column.name) }
  }

  return {
    /** Undefined when the text holds more than one statement. */
    prepare: (sql: string, cache: boolean): Prepared | undefined => {
      const found = cached.get(sql)
      if (found !== undefined) {
        // While there is room, nothing goes, and the order says nothing.
        if (cached.size < capacity) return found
        cached.delete(sql)
        cached.set(sql, found)
        return found
      }
      const prepared = prepare(sql)
      if (prepared !== undefined && cache && !schemaStatement.test(sql)) {
        cached.set(sql, prepared)
        const [oldest] = cached.keys()
        if (cached.size > capacity && oldest !== undefined) cached.delete(oldest)
      }
      return prepared
    },
    /** Told of every statement that ran, so that a schema change and its rollback both drop the kept column names. */
    ran: (sql: string) => {
      if (schemaStatement.test(sql)) schemaChanged = true
      else if (!schemaChanged) return
      cached.clear()
      if (!database.isTransaction) schemaChanged = false
    },
    clear: () => cached.clear()
  }
}

const schemaStatement = /^\s*(create|alter|drop|attach|detach|vacuum)\b/i
const blankOrComment = /^(\s|;|--[^\n]*(\n|$)|\/\*[\s\S]*?\*\/)*$/

// SQLite compiles the first statement of a text and says nothing about the rest, which would then silently not run.
const holdsMore = (sql: string, compiled: string): boolean =>
  compiled.length < sql.length && !blankOrComment.test(sql.slice(compiled.length))

const toSqlite = (value: unknown): SQLInputValue | undefined => {
  switch (typeof value) {
    case "number":
      return Number.isSafeInteger(value) ? BigInt(value) : value
    case "string":
    case "bigint":
      return value
    case "boolean":
      return value ? 1n : 0n
    case "undefined":
      return null
    default:
      if (value === null) return null
      return ArrayBuffer.isView(value) ? toBytes(value) : undefined
  }
}

const toBytes = (view: ArrayBufferView): Uint8Array<ArrayBuffer> => {
  const bytes = new Uint8Array(view.byteLength)
  bytes.set(new Uint8Array(view.buffer, view.byteOffset, view.byteLength))
  return bytes
}

const largest = BigInt(Number.MAX_SAFE_INTEGER)

const toJs = (value: unknown, safeIntegers: boolean): unknown =>
  typeof value === "bigint" && !safeIntegers && value <= largest && value >= -largest ? Number(value) : value

const toValues = (row: unknown, safeIntegers: boolean): ReadonlyArray<unknown> =>
  Array.isArray(row) ? row.map((value) => toJs(value, safeIntegers)) : []

const toObjects = (rows: ReadonlyArray<unknown>, columns: ReadonlyArray<string>, safeIntegers: boolean) =>
  rows.map((row) => {
    const values: ReadonlyArray<unknown> = Array.isArray(row) ? row : []
    const object: Record<string, unknown> = {}
    for (let index = 0; index < columns.length; index++) {
      const name = columns[index]
      if (name !== undefined) object[name] = toJs(values[index], safeIntegers)
    }
    return object
  })

/** A failure that SQLite itself did not report. */
export const misuse = (message: string, operation: string): SqlError =>
  new SqlError({ reason: new UnknownError({ cause: message, message, operation }) })

/** What SQLite says of a file that is not where it was opened: SQLITE_READONLY_DBMOVED. */
export const movedCode = 1032

/** The failure of a write to a file that was deleted, moved or replaced since it was opened. */
export const moved = (): SqlError =>
  toSqlError(
    Object.assign(new Error("the file was deleted, moved or replaced since it was opened"), { errcode: movedCode }),
    "execute"
  )

/** Ours, among SQLite's codes for errors of the disk. */
export const unflushedCode = 10 | (255 << 8)

/** The log could not be flushed. What was committed before may or may not survive a power cut, and nobody can say which. */
export const unflushed = (cause: Error): SqlError =>
  toSqlError(
    Object.assign(new Error(`the write-ahead log cannot be flushed: ${cause.message}`), { errcode: unflushedCode }),
    "flush"
  )

const severalStatements = misuse("The text holds more than one statement; run each one on its own", "prepare")

const unsupportedParameter = (index: number, value: unknown): SqlError => {
  const kind = Array.isArray(value) ? "list" : value instanceof Date ? "Date" : typeof value
  const message = `Parameter ${index + 1} is a ${kind}; SQLite takes text, numbers, booleans, bytes or null: encode it first`
  return misuse(message, "bind")
}

// A clash of a primary key or a row id is a unique violation too; the classifier knows only the code of other unique indexes.
const uniqueCode = 2067
const otherUniqueCodes = new Set([1555, 2579])

const toSqlError = (cause: unknown, operation: string, prefix?: string): SqlError => {
  if (cause instanceof Error && Predicate.hasProperty(cause, "errcode") && typeof cause.errcode === "number") {
    Object.assign(cause, { errno: otherUniqueCodes.has(cause.errcode) ? uniqueCode : cause.errcode })
  }
  const detail = cause instanceof Error ? cause.message : "unknown failure"
  const message = prefix === undefined ? detail : `${prefix}: ${detail}`
  return new SqlError({ reason: classifySqliteError(cause, { message, operation }) })
}
