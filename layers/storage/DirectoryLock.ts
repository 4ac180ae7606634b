/**
 * One daemon per data directory.
 *
 * The lock is SQLite's reserved lock on an empty file of its own. The kernel holds it for the process and takes it away when
 * the process ends in whatever way, so there is no stale lock to recognise, and of any number of processes that start at once
 * exactly one gets it. What `lock.json` says is only for the message to the others.
 *
 * A lock is as good as the file that it is on: when `lock.db` is deleted or replaced, another process can lock the new one.
 * So the holder looks at it from time to time, takes what is there as well, and learns whether another one was faster.
 *
 * Nothing else in this process may open `lock.db`: POSIX drops a process's locks on a file when any of its descriptors of that
 * file is closed.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import type { SqlError } from "effect/sql/SqlError"
import { lockName } from "../../src/storage/DataDirectory.ts"
import type { DataDirectory } from "../../src/storage/DataDirectory.ts"
import { HeldLock } from "../../src/storage/HeldLock.ts"
import { DataDirectoryInUse, DataDirectoryUnusable, diskUnusable } from "../../src/storage/StorageError.ts"
import * as NodeProcess from "./NodeProcess.ts"
import * as NodeSqlite from "./NodeSqlite.ts"
import * as PrivateFile from "./PrivateFile.ts"
import * as DiskOfSql from "./DiskOfSql.ts"
import * as Unusable from "./Unusable.ts"

/** Takes the lock for the current scope, or fails at once with the holder's process id. */
export const acquire = Effect.fn("DirectoryLock.acquire")(function* (
  directory: DataDirectory["Service"]
): Effect.fn.Return<
  HeldLock["Service"],
  DataDirectoryInUse | DataDirectoryUnusable,
  FileSystem.FileSystem | Scope.Scope
> {
  const files = yield* FileSystem.FileSystem
  const scope = yield* Effect.scope
  yield* take(directory)
  yield* sweep(directory)
  yield* Effect.acquireRelease(announce(directory), () => withdraw(directory))
  const current = Effect.map(
    Effect.option(files.stat(directory.file(lockName))),
    Option.map(({ dev, ino }) => `${dev}:${Option.getOrElse(ino, () => 0n)}`)
  )
  const own = new Set(Option.toArray(yield* current))

  const takeAnew = Effect.gen(function* () {
    const attempt = yield* Scope.fork(scope)
    yield* take(directory).pipe(
      Scope.provide(attempt),
      Effect.onError(() => Scope.close(attempt, Exit.void))
    )
    for (const file of Option.toArray(yield* current)) own.add(file)
    yield* announce(directory)
    yield* Effect.logWarning("The lock of the data directory was deleted or replaced; this daemon has taken it anew", {
      path: directory.path
    })
    return true
  }).pipe(
    Effect.catchTags({
      DataDirectoryInUse: () => Effect.succeed(false),
      // Where this process can lock nothing, no other one can.
      DataDirectoryUnusable: () => Effect.succeed(true)
    }),
    Effect.provideService(FileSystem.FileSystem, files)
  )
  return HeldLock.of({
    look: Effect.flatMap(current, (now) =>
      Option.exists(now, (file) => own.has(file)) ? Effect.succeed(true) : takeAnew
    )
  })
})

const take = Effect.fnUntraced(function* (directory: DataDirectory["Service"]) {
  const unusable = (error: SqlError) => unusableLock(directory.path, error)
  yield* PrivateFile.refuseOtherKinds(directory, lockName)
  yield* PrivateFile.prepare(directory.file(lockName))
  const handle = yield* NodeSqlite.open({
    filename: directory.file(lockName),
    readonly: false,
    statementCacheSize: 1
  }).pipe(Effect.mapError(unusable))
  yield* handle.query("BEGIN IMMEDIATE", [], { shape: "objects", safeIntegers: false, cache: false }).pipe(
    Effect.catchIf(
      NodeSqlite.isBusy,
      () => inUse(directory),
      (error) => Effect.fail(unusable(error))
    )
  )
})

const unusableLock = (path: string, error: SqlError): DataDirectoryUnusable => {
  const trouble = DiskOfSql.diskOf(error)
  if (trouble !== undefined) return diskUnusable(path, trouble)
  const code = NodeSqlite.primaryCode(error)
  return code === 26 || code === 11
    ? new DataDirectoryUnusable({ path, reason: `${lockName} in it is no lock of Troupe`, remedy: moveAway })
    : new DataDirectoryUnusable({
        path,
        reason: `${lockName} in it cannot be locked (SQLite says ${code ?? "nothing"})`,
        remedy: `Make ${lockName} readable and writable for this user.`
      })
}

const moveAway = `Move ${lockName} away: a new one is made.`

const Holder = Schema.fromJsonString(
  Schema.Struct({
    pid: Schema.Int,
    hostname: Schema.String,
    since: Schema.Int
  })
)

const holderFile = (directory: DataDirectory["Service"]) => directory.file("lock.json")

const announce = Effect.fnUntraced(function* (directory: DataDirectory["Service"]) {
  const process = yield* NodeProcess.self
  const since = yield* Clock.currentTimeMillis
  const text = yield* Schema.encodeEffect(Holder)({ ...process, since }).pipe(Effect.orDie)
  yield* Effect.mapError(PrivateFile.write(holderFile(directory), text), Unusable.directory(directory.path))
})

/** What was being written here when its process ended: only who holds the lock writes it. */
const sweep = Effect.fnUntraced(function* (directory: DataDirectory["Service"]) {
  const files = yield* FileSystem.FileSystem
  const names = yield* Effect.orElseSucceed(files.readDirectory(directory.path), () => [])
  for (const name of names) if (halfWritten.test(name)) yield* Effect.ignore(files.remove(directory.file(name)))
})

// Earlier releases had no `.new` behind the process.
const halfWritten = /^(?:lock\.json\.\d+|(?:lock\.json|endpoint\.json|token)\.\d+\.new)$/

// Only its own name: another process may have taken the directory since.
const withdraw = Effect.fnUntraced(function* (directory: DataDirectory["Service"]) {
  const files = yield* FileSystem.FileSystem
  const { pid } = yield* NodeProcess.self
  yield* files.readFileString(holderFile(directory)).pipe(
    Effect.flatMap(Schema.decodeUnknownEffect(Holder)),
    Effect.flatMap((holder) =>
      holder.pid === pid ? files.remove(holderFile(directory), { force: true }) : Effect.void
    ),
    Effect.ignore
  )
})

const inUse = Effect.fnUntraced(function* (directory: DataDirectory["Service"]) {
  const holder = yield* readHolder(directory)
  return yield* new DataDirectoryInUse({
    path: directory.path,
    pid: Option.getOrUndefined(Option.map(holder, (found) => found.pid)),
    since: Option.getOrUndefined(Option.map(holder, (found) => found.since))
  })
})

// The holder may have taken the lock a moment ago and not have written its name yet; what is there then is of a dead process.
const readHolder = Effect.fnUntraced(function* (directory: DataDirectory["Service"]) {
  const files = yield* FileSystem.FileSystem
  const living = files.readFileString(holderFile(directory)).pipe(
    Effect.flatMap(Schema.decodeUnknownEffect(Holder)),
    Effect.filterOrFail((holder) => holder.pid > 0),
    Effect.tap((holder) => Effect.filterOrFail(NodeProcess.isAlive(holder.pid), (alive) => alive))
  )
  return yield* living.pipe(
    Effect.retry(Schedule.spaced("20 millis").pipe(Schedule.upTo({ times: 25 }))),
    Effect.provideService(Clock.Clock, Clock.Clock.defaultValue()),
    Effect.option
  )
})
