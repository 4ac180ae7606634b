/**
 * Care for the store while the process lives: what is old is removed, the write-ahead log is kept small, and when writes fail
 * somebody keeps trying, so that the end of the trouble is noticed. One supervised service; a round that fails is followed by
 * the next.
 */
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Schedule from "effect/Schedule"
import * as SqlClient from "effect/sql/SqlClient"
import * as Settings from "../../src/config/Settings.ts"
import * as Held from "../../src/conversation/Held.ts"
import * as Monotonic from "../../src/Monotonic.ts"
import { DataDirectory } from "../../src/storage/DataDirectory.ts"
import { Incarnation } from "../../src/storage/Incarnation.ts"
import { explain, unavailableIn } from "../../src/storage/StorageError.ts"
import { StorageHealth } from "../../src/storage/StorageHealth.ts"
import * as StorageMetrics from "../../src/storage/StorageMetrics.ts"
import * as Defects from "./Defects.ts"
import * as FileSize from "./FileSize.ts"
import * as Presence from "./Presence.ts"
import * as Retention from "./Retention.ts"
import { SqliteClient } from "./SqliteClient.ts"

/** How soon after the start the first run comes: not in the way of what is owed. */
const firstRun = "1 minute"

/** How often the write-ahead log is looked at. */
const logInterval = "30 seconds"

/** A log that nobody has written to since the last look is emptied from this size on. */
const idleBytes = 1024 * 1024

/** How often writing is tried while it fails. */
const probeInterval = "2 seconds"

/** Room that a disk must have again before it counts as one that is not full: a small row may fit where nothing else does. */
const roomBytes = 1024 * 1024

/** A time of day that went ahead by more than this since the last run may have been set by mistake. */
const aheadMillis = Duration.toMillis("1 day")

const retention = Effect.gen(function* () {
  const { retention } = yield* Settings.Settings
  let lead = yield* Monotonic.lead
  const isPlausible = Effect.map(Monotonic.lead, (now) => {
    const ahead = now - lead
    lead = now
    return ahead <= aheadMillis
  })
  const remove = Effect.flatMap(Retention.run, (removed) =>
    Object.values(removed).some((count) => count > 0)
      ? Effect.logInfo("Removed what has come to the end of its time", { ...removed })
      : Effect.void
  )
  const wait = Effect.logWarning(
    "The time of day went ahead by more than a day. What is old by it is removed at the next round, if it stays so"
  )
  const round = Effect.flatMap(isPlausible, (plausible) => (plausible ? remove : wait))
  yield* Effect.sleep(firstRun)
  yield* Effect.repeat(guarded("Removing old records", round), Schedule.spaced(retention.interval_seconds))
})

const log = Effect.gen(function* () {
  const sqlite = yield* SqliteClient
  const { storage } = yield* Settings.Settings
  if (sqlite.path === ":memory:") return
  const sizeOf = (path: string) => Effect.map(FileSize.of(path), (bytes) => bytes ?? 0)
  let last = 0
  const round = Effect.gen(function* () {
    const size = yield* sizeOf(`${sqlite.path}-wal`)
    if (size > storage.wal_max_bytes || (size >= idleBytes && size === last)) yield* sqlite.checkpoint
    last = yield* sizeOf(`${sqlite.path}-wal`)
    yield* Metric.update(StorageMetrics.logBytes, last)
    yield* Metric.update(StorageMetrics.databaseBytes, yield* sizeOf(sqlite.path))
    if (last > storage.wal_max_bytes) {
      yield* Effect.logWarning(
        "The write-ahead log cannot be emptied: another process reads the database and does not come to an end",
        { bytes: last, limit: storage.wal_max_bytes }
      )
    }
  })
  yield* Effect.repeat(guarded("Emptying the write-ahead log", round), Schedule.spaced(logInterval))
})

/** Nothing else may be written until somebody sends a message, and until then health checks would see a trouble that is over. */
const recovery = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const health = yield* StorageHealth
  const { id } = yield* Incarnation
  const files = yield* FileSystem.FileSystem
  const place = (yield* DataDirectory).file("room.probe")
  const room = files
    .writeFile(place, new Uint8Array(roomBytes), { mode: 0o600 })
    .pipe(Effect.ensuring(Effect.ignore(files.remove(place, { force: true }))))
  const write = sql.withTransaction(sql`UPDATE incarnations SET pid = pid WHERE id = ${id}`)
  const probe = Effect.exit(
    Effect.flatMap(health.failing, (failing) => (failing?.reason === "full" ? Effect.andThen(room, write) : write))
  )
  const untilBack = Effect.gen(function* () {
    const failing = yield* health.failing
    if (failing === null) return
    yield* Effect.logError(`The store cannot be written: ${explain(failing.reason)}`, { reason: failing.reason })
    yield* Effect.andThen(Effect.sleep(probeInterval), probe).pipe(
      Effect.andThen(health.failing),
      Effect.repeat({ until: (now) => now === null })
    )
    yield* Effect.logInfo("The store can be written again")
  })
  return yield* Effect.forever(Effect.andThen(health.awaitFailing, Effect.andThen(untilBack, Effect.yieldNow)))
})

/** A restored copy must not be silent about what it does not do. */
const tellHeld = Effect.gen(function* () {
  const { replies, threads } = yield* (yield* Held.Held).count
  if (threads + replies === 0) return
  yield* Effect.logWarning(
    "This is a restored copy: what was owed in the backup is held. `troupe held` lists it and decides about it",
    { threads, replies }
  )
})

const guarded = <A, E, R>(what: string, round: Effect.Effect<A, E, R>) =>
  Effect.catchCauseIf(
    Effect.asVoid(Defects.orDefect(round)),
    (cause) => !Cause.hasInterrupts(cause),
    (cause) => {
      const unavailable = unavailableIn(cause)
      return unavailable === undefined
        ? Effect.logError(`${what} failed; the next round follows`, cause)
        : Effect.logWarning(`${what} has to wait: ${unavailable.message}`)
    }
  )

/** Runs for the life of the layer. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const { look } = yield* Presence.make
    yield* Effect.forkScoped(
      Effect.repeat(guarded("Looking at the database file", look), Schedule.spaced(Presence.interval))
    )
    yield* Effect.forkScoped(tellHeld)
    yield* Effect.forkScoped(retention)
    yield* Effect.forkScoped(log)
    yield* Effect.forkScoped(recovery)
  })
)
