/**
 * What a child reads from and writes to. Node's own pipes are sockets, which a program cannot open again by name: a script that
 * writes to `/dev/stderr` fails on them. So outputs are named pipes, made a few at a time and unlinked as soon as both ends
 * are open, and an input is a file without a name. Where the system has no named pipes, Node's own are used.
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Result from "effect/Result"
import * as Semaphore from "effect/Semaphore"
import { execFile } from "node:child_process"
import type { ChildProcess } from "node:child_process"
import * as fs from "node:fs"
import { Socket } from "node:net"
import { join } from "node:path"
import { Readable } from "node:stream"
import { DataDirectory } from "../../src/storage/DataDirectory.ts"

/** For one child. */
export interface Pipes {
  /** What the child is given: standard input, output, error. Where the input is a pipe, it is to be written here. */
  readonly stdio: readonly [number | "ignore" | "pipe", number | "pipe", number | "pipe"]
  /** What is read here: standard output, error. */
  readonly readers: (child: ChildProcess) => readonly [Readable, Readable]
  /** Closes the child's ends in this process: without that, an output would never end. */
  readonly closeChildEnds: Effect.Effect<void>
  /** For a child that was not started. */
  readonly closeReaders: Effect.Effect<void>
  /** Tells by the target of a link below `/proc/<pid>/fd` that it is one of these. */
  readonly isOurs: (link: string) => boolean
}

/** Names made at a time: making them starts a process of its own. */
const batch = 32

/** Hands out pipes. Their folder lives as long as the scope. */
export const make = Effect.gen(function* () {
  const folder = yield* emptyFolder((yield* DataDirectory).file("pipes"))
  const one = Semaphore.makeUnsafe(1)
  const free: Array<string> = []
  let made = 0

  const refill = Effect.suspend(() => {
    const names = Array.from({ length: batch }, () => join(folder, `${made++}`))
    return Effect.map(makeFifos(names), (done) => {
      if (done) free.push(...names)
    })
  })

  /** `stdin` is all that the child can read. */
  const take = Effect.fnUntraced(function* (stdin: Uint8Array | undefined) {
    if (free.length < 2) yield* refill
    const [stdout, stderr] = free.splice(0, 2)
    if (stdout === undefined || stderr === undefined) return sockets(stdin)
    return Result.getOrElse(
      Result.try(() => named(stdin === undefined ? undefined : inputFile(`${stdout}-input`, stdin), stdout, stderr)),
      () => sockets(stdin)
    )
  }, one.withPermits(1))
  return { take }
})

/** What is in it is of a daemon that was killed. Where none can be made, no pipe can be either, which shows then. */
const emptyFolder = Effect.fnUntraced(function* (path: string) {
  const files = yield* FileSystem.FileSystem
  const remove = files.remove(path, { recursive: true, force: true })
  const anew = Effect.andThen(remove, files.makeDirectory(path, { mode: 0o700 }))
  yield* Effect.acquireRelease(Effect.ignore(anew), () => Effect.ignore(remove))
  return path
})

/** Whether the pipes of these names were made. */
const makeFifos = (paths: ReadonlyArray<string>): Effect.Effect<boolean> =>
  Effect.callback((resume) => {
    execFile("mkfifo", ["-m", "600", ...paths], { timeout: 5_000 }, (error) => resume(Effect.succeed(error === null)))
  })

const named = (input: number | undefined, stdout: string, stderr: string): Pipes => {
  const [out, err] = [open(stdout), open(stderr)]
  const readers = [out.reader, err.reader] as const
  const ends = [out.writer, err.writer, ...(input === undefined ? [] : [input])]
  return {
    stdio: [input ?? "ignore", out.writer, err.writer],
    readers: () => readers,
    closeChildEnds: Effect.sync(() => ends.forEach((end) => fs.closeSync(end))),
    closeReaders: Effect.sync(() => readers.forEach((reader) => reader.destroy())),
    isOurs: (link) => link === `${stdout} (deleted)` || link === `${stderr} (deleted)`
  }
}

/** A file with this content, open for reading. Its name is gone then. */
const inputFile = (path: string, content: Uint8Array): number => {
  fs.writeFileSync(path, content, { flag: "wx", mode: 0o600 })
  const input = fs.openSync(path, "r")
  fs.unlinkSync(path)
  return input
}

/** Both ends, the reading one first: it need not wait for the other. The name is gone then. */
const open = (path: string) => {
  const reading = fs.openSync(path, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK)
  const writer = fs.openSync(path, fs.constants.O_WRONLY)
  fs.unlinkSync(path)
  return { writer, reader: new Socket({ fd: reading, readable: true, writable: false }) }
}

const sockets = (stdin: Uint8Array | undefined): Pipes => ({
  stdio: [stdin === undefined ? "ignore" : "pipe", "pipe", "pipe"],
  readers: ({ stderr, stdout }) => [stdout ?? Readable.from([]), stderr ?? Readable.from([])],
  closeChildEnds: Effect.void,
  closeReaders: Effect.void,
  isOurs: () => false
})
