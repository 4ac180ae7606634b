/**
 * Group commit. SQLite writes each transaction to its log and leaves the flush to us: one flush, beside the event loop, for all
 * that was written before it began. Who must not speak before what was written is on the disk waits for it here.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { SqlError } from "effect/sql/SqlError"
import type { LogFile } from "./LogFile.ts"

export interface GroupFlush {
  /** Something was written. */
  readonly wrote: () => void
  /**
   * Waits until all that was written up to now is on the disk; done at once when it is. Fails when a flush has failed: what
   * was written since the last good one may or may not be there. A wait may be interrupted; the flush goes on for the others.
   */
  readonly flushed: Effect.Effect<void, SqlError>
  /** Begins the flush that somebody will wait for later, unless one runs, which is followed by it. */
  readonly begin: () => void
  /** The flush that failed. It is the last one: whether a later one would tell the truth, the system does not say. */
  readonly failure: () => SqlError | undefined
}

interface Waiting {
  readonly upTo: number
  readonly resume: (effect: Effect.Effect<void, SqlError>) => void
}

/** Told how flushes end. */
export interface Observer {
  readonly failed: (error: SqlError) => void
  readonly written: () => void
}

/** For the current scope, whose end waits for the flush that runs. */
export const make = Effect.fnUntraced(function* (
  log: LogFile,
  observer: Observer | undefined
): Effect.fn.Return<GroupFlush, never, Scope.Scope> {
  // What an earlier life has written and not flushed is read by this one, so it counts as written now.
  let written = 1
  let onDisk = 0
  let failure: SqlError | undefined
  let running = false
  let begun = 0
  let waiting: Array<Waiting> = []

  const release = () => {
    const before = waiting
    const outcome = failure === undefined ? Effect.void : Effect.fail(failure)
    waiting = failure === undefined ? before.filter(({ upTo }) => upTo > onDisk) : []
    for (const one of before) if (failure !== undefined || one.upTo <= onDisk) one.resume(outcome)
  }

  const flush = () => {
    running = true
    const upTo = written
    log.flush((failed) => {
      running = false
      failure = failed
      if (failed === undefined) onDisk = upTo
      if (failed === undefined) observer?.written()
      else observer?.failed(failed)
      release()
      // Whoever went on may have written and begun the next one.
      if (!running && failure === undefined && (waiting.length > 0 || begun > onDisk)) flush()
    })
  }

  const wait = Effect.callback<void, SqlError>((resume) => {
    const one: Waiting = { upTo: written, resume }
    waiting.push(one)
    if (!running) flush()
    return Effect.sync(() => {
      waiting = waiting.filter((other) => other !== one)
    })
  })

  const idle = Effect.suspend(() => (running ? Effect.ignore(wait) : Effect.void))
  yield* Effect.addFinalizer(() => idle)

  return {
    wrote: () => {
      written += 1
    },
    begin: () => {
      begun = written
      if (!running && failure === undefined && begun > onDisk) flush()
    },
    flushed: Effect.suspend(() => {
      if (failure !== undefined) return Effect.fail(failure)
      return written === onDisk ? Effect.void : wait
    }),
    failure: () => failure
  }
})

/** Where SQLite flushes by itself, or nothing is to be flushed: what is written counts as on the disk. */
export const none = (observer: Observer | undefined): GroupFlush => ({
  wrote: () => observer?.written(),
  flushed: Effect.void,
  begin: () => {},
  failure: () => undefined
})
