/**
 * A file that is added to and never grows beyond a size: when it is full it becomes `<name>.1`, the one before becomes
 * `<name>.2`, and the oldest goes.
 *
 * Writers never wait. Lines go through a bounded queue to one fiber; when the disk is slower than the writers, or full,
 * lines are dropped and the file says how many.
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import * as Directories from "../storage/Directories.ts"

export interface Options {
  readonly path: string
  readonly maxBytes: number
  /** How many files there are at most, the current one included. */
  readonly maxFiles: number
  /** The line that says how many were dropped. */
  readonly dropped: (count: number) => string
}

/** Lines that may wait for the disk. */
const waiting = 10_000

/** Gives the function that adds a line, which must bring its own line end. What waits is written when the scope closes. */
export const make = Effect.fnUntraced(function* (
  options: Options
): Effect.fn.Return<(line: string) => void, never, FileSystem.FileSystem | Path.Path | Scope.Scope> {
  const files = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  const queue = yield* Queue.dropping<string>(waiting)
  let dropped = 0
  let size: number | undefined

  const sizeNow = Effect.gen(function* () {
    yield* Directories.make(paths.dirname(options.path))
    return yield* files.stat(options.path).pipe(
      Effect.map((info) => Number(info.size)),
      Effect.orElseSucceed(() => 0)
    )
  })

  const rotate = Effect.gen(function* () {
    const place = (index: number) => (index === 0 ? options.path : `${options.path}.${index}`)
    yield* files.remove(place(options.maxFiles - 1), { force: true })
    for (let index = options.maxFiles - 2; index >= 0; index--) {
      yield* Effect.ignore(files.rename(place(index), place(index + 1)))
    }
    size = 0
  })

  const add = Effect.fnUntraced(function* (text: string) {
    const bytes = Buffer.byteLength(text)
    size ??= yield* sizeNow
    if (size > 0 && size + bytes > options.maxBytes) yield* rotate
    yield* files.writeFileString(options.path, text, { flag: "a", mode: 0o600 })
    size += bytes
  })

  const write = Effect.fnUntraced(function* (lines: ReadonlyArray<string>) {
    if (dropped > 0) {
      const count = dropped
      dropped = 0
      yield* add(options.dropped(count))
    }
    for (const text of batches(lines, options.maxBytes)) yield* add(text)
  })
  // The log cannot say that it cannot be written; it is tried again with the next line.
  const writeOrLose = (lines: ReadonlyArray<string>) =>
    Effect.catch(write(lines), () =>
      Effect.sync(() => {
        dropped += lines.length
        size = undefined
      })
    )

  yield* Effect.addFinalizer(() => Effect.flatMap(Queue.clear(queue), writeOrLose))
  yield* Queue.takeAll(queue).pipe(
    Effect.flatMap((lines) => Effect.uninterruptible(writeOrLose(lines))),
    Effect.forever,
    Effect.forkScoped
  )
  return (line) => {
    if (!Queue.offerUnsafe(queue, line)) dropped++
  }
})

/** Lines joined for one write each, none larger than a file unless a single line is. */
const batches = (lines: ReadonlyArray<string>, maxBytes: number): ReadonlyArray<string> => {
  const joined: Array<string> = []
  const most = Math.min(maxBytes, 65_536)
  let batch = ""
  for (const line of lines) {
    if (batch !== "" && Buffer.byteLength(batch) + Buffer.byteLength(line) > most) {
      joined.push(batch)
      batch = ""
    }
    batch += line
  }
  return batch === "" ? joined : [...joined, batch]
}
