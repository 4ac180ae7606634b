/** What a running command writes: kept within its limits, told to who watches, and written to a file when one is wanted. */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Monotonic from "../../src/Monotonic.ts"
import * as OutputBuffer from "../../src/process/OutputBuffer.ts"
import type * as Contract from "../../src/process/ProcessRunner.ts"

/** How often watchers are told, reading goes on after a rest, and idleness is looked at, in milliseconds. */
export const beatMillis = 100

/** What is read between two beats of all that a command writes. Beyond, it waits: others have the processor then. */
const bytesPerBeat = 32 * 1024 * 1024

/** What watchers are told of each output between two beats. */
const watchBytes = 4096

export const make = Effect.fnUntraced(function* ({ limits, mask, stdoutFile, take, watch }: Contract.Command) {
  const buffers = {
    stdout: OutputBuffer.make(limits.maxOutputBytes, limits.maxLineBytes),
    stderr: OutputBuffer.make(limits.maxOutputBytes, limits.maxLineBytes)
  }
  const watchers =
    watch === undefined ? undefined : { stdout: makeWatcher("stdout", watch), stderr: makeWatcher("stderr", watch) }
  const file = stdoutFile === undefined ? undefined : yield* makeFile(stdoutFile)
  const masks = mask === undefined ? undefined : { stdout: mask(), stderr: mask() }
  const enough = Deferred.makeUnsafe<void>()
  let sinceBeat = 0
  let lastAt = yield* Monotonic.millis
  let isNew = false

  const tell = watchers === undefined ? Effect.void : Effect.andThen(watchers.stdout.tell, watchers.stderr.tell)

  const keep = (stream: Contract.StreamName, chunk: Uint8Array): void => {
    if (chunk.length === 0) return
    buffers[stream].push(chunk)
    watchers?.[stream].push(chunk)
    if (stream === "stdout") file?.push(chunk)
  }
  /** What is held back of an output may have been cut there: whatever ended the command, it may have been in the middle of it. */
  const keepRest = Effect.sync(() => {
    if (masks === undefined) return
    keep("stdout", masks.stdout.rest({ cut: true }))
    keep("stderr", masks.stderr.rest({ cut: true }))
  })

  return {
    /** Waits until who takes the output has enough of it. */
    enough: Deferred.await(enough),
    /** Takes a piece; false when reading should rest until the next beat. */
    push: (stream: Contract.StreamName, chunk: Uint8Array): boolean => {
      // What comes behind the end that was asked for is read and let go, so that the pipe runs dry.
      if (Deferred.isDoneUnsafe(enough)) return true
      if (take === undefined) keep(stream, masks === undefined ? chunk : masks[stream].take(chunk))
      else if (!take(stream, chunk)) Deferred.doneUnsafe(enough, Effect.void)
      isNew = true
      sinceBeat += chunk.length
      return sinceBeat < bytesPerBeat
    },
    /** Tells watchers and writes the file. Gives the time since the last output, in milliseconds. */
    beat: Effect.gen(function* () {
      sinceBeat = 0
      const now = yield* Monotonic.millis
      if (isNew) lastAt = now
      isNew = false
      yield* tell
      if (file !== undefined) yield* file.flush
      return now - lastAt
    }),
    /** All that was kept. */
    end: Effect.gen(function* () {
      yield* keepRest
      yield* tell
      return {
        ...OutputBuffer.share(buffers.stdout.captured(), buffers.stderr.captured(), limits.maxOutputBytes),
        ...(file === undefined ? {} : { stdoutFile: yield* file.end })
      }
    })
  }
})

const makeWatcher = (stream: Contract.StreamName, watch: (piece: Contract.Piece) => Effect.Effect<void>) => {
  let decoder = new TextDecoder()
  let recent = OutputBuffer.makeTail(watchBytes)
  let isNew = false
  return {
    push: (chunk: Uint8Array): void => {
      recent.push(chunk)
      isNew = true
    },
    tell: Effect.suspend(() => {
      if (!isNew) return Effect.void
      const dropped = recent.lost()
      // What is left of a character before the gap does not belong to what comes after it.
      if (dropped > 0) decoder = new TextDecoder()
      const text = decoder.decode(recent.bytes(), { stream: true })
      recent = OutputBuffer.makeTail(watchBytes)
      isNew = false
      return watch({ stream, text, dropped })
    })
  }
}

/** A file that grows up to its limit. What cannot be written is let go: the command is not the worse for it. */
const makeFile = Effect.fnUntraced(function* ({
  maxBytes,
  path
}: {
  readonly path: string
  readonly maxBytes: number
}) {
  const files = yield* FileSystem.FileSystem
  let waiting: Array<Uint8Array> = []
  let taken = 0
  let failed = false

  const opened = yield* Effect.option(files.open(path, { flag: "wx", mode: 0o600 }))
  const flush = Effect.suspend(() => {
    const pieces = waiting
    waiting = []
    if (opened._tag === "None") return Effect.void
    return Effect.forEach(pieces, (piece) => opened.value.writeAll(piece), { discard: true })
  }).pipe(
    Effect.catchTag("PlatformError", () =>
      Effect.sync(() => {
        failed = true
      })
    )
  )
  failed = opened._tag === "None"
  return {
    push: (chunk: Uint8Array): void => {
      const piece = chunk.slice(0, failed ? 0 : maxBytes - taken)
      if (piece.length === 0) return
      taken += piece.length
      waiting.push(piece)
    },
    flush,
    end: Effect.map(flush, () => ({ bytes: failed ? 0 : taken, failed }))
  }
})
