/**
 * The edge to Node's files. Effect's `FileSystem` neither opens without following a link nor tells what a descriptor is of, which is
 * what confinement rests on.
 */
import * as fs from "node:fs"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"

/** What the system answered, such as `ENOENT`. */
export class SystemError extends Data.TaggedError("SystemError")<{ readonly code: string }> {}

export type Stats = fs.Stats
export type Entry = fs.Dirent

type Done<A> = (error: NodeJS.ErrnoException | null, value: A) => void

const call = <A>(run: (done: Done<A>) => void): Effect.Effect<A, SystemError> =>
  Effect.callback((resume) =>
    run((error, value) => {
      resume(
        error === null ? Effect.succeed(value) : Effect.fail(new SystemError({ code: error.code ?? error.message }))
      )
    })
  )

const order = (run: (done: fs.NoParamCallback) => void): Effect.Effect<void, SystemError> =>
  call<void>((done) => run((error) => done(error, undefined)))

/** Of `linux` on every processor that Node runs on; Node has no name for it. Opens a thing without touching it. */
const O_PATH = 0o10000000
const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = fs.constants

/** Ways to open. On systems that lack a flag, its constant is undefined and adds nothing. */
export const how = {
  folderInPlace: O_PATH | O_DIRECTORY | O_NOFOLLOW,
  root: O_PATH | O_DIRECTORY,
  inPlace: O_PATH | O_NOFOLLOW,
  folder: O_RDONLY | O_DIRECTORY,
  folderItself: O_RDONLY | O_DIRECTORY | O_NOFOLLOW,
  // A pipe that takes the place of a file meanwhile must not make the opening wait.
  reading: O_RDONLY | O_NONBLOCK,
  readingInPlace: O_RDONLY | O_NONBLOCK | O_NOFOLLOW,
  creating: O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW
} as const

export const open = (path: string, flags: number, mode = 0) =>
  call<number>((done) => fs.open(path, flags, mode, (error, fd) => done(error, fd)))
export const close = (fd: number) => Effect.ignore(order((done) => fs.close(fd, done)))
export const statOf = (fd: number) => call<Stats>((done) => fs.fstat(fd, (error, stats) => done(error, stats)))
export const stat = (path: string) => call<Stats>((done) => fs.stat(path, (error, stats) => done(error, stats)))
export const statInPlace = (path: string) => call<Stats>((done) => fs.lstat(path, (error, stats) => done(error, stats)))
export const readLink = (path: string) => call<string>((done) => fs.readlink(path, (error, to) => done(error, to)))
export const realPath = (path: string) =>
  call<string>((done) => fs.realpath.native(path, (error, real) => done(error, real)))
export const isWritable = (path: string) => order((done) => fs.access(path, fs.constants.W_OK, done))

/** The bytes that were read; none at the end of the file. */
export const read = (fd: number, offset: number, length: number) =>
  Effect.suspend(() => {
    const buffer = new Uint8Array(length)
    return Effect.map(
      call<number>((done) => fs.read(fd, buffer, 0, length, offset, (error, count) => done(error, count))),
      (count) => buffer.subarray(0, count)
    )
  })

/** How many of the bytes were written. */
export const write = (fd: number, bytes: Uint8Array) =>
  call<number>((done) => fs.write(fd, bytes, 0, bytes.byteLength, null, (error, count) => done(error, count)))
export const flush = (fd: number) => order((done) => fs.fsync(fd, done))
export const setMode = (fd: number, mode: number) => order((done) => fs.fchmod(fd, mode, done))
export const setOwner = (fd: number, uid: number, gid: number) => order((done) => fs.fchown(fd, uid, gid, done))

export const link = (from: string, to: string) => order((done) => fs.link(from, to, done))
export const rename = (from: string, to: string) => order((done) => fs.rename(from, to, done))
export const unlink = (path: string) => order((done) => fs.unlink(path, done))
export const removeFolder = (path: string) => order((done) => fs.rmdir(path, done))
export const makeFolder = (path: string, mode: number) => order((done) => fs.mkdir(path, { mode }, done))

/** Reads a folder piece by piece. */
export const openFolder = (path: string) =>
  call<fs.Dir>((done) => fs.opendir(path, { bufferSize: 512 }, (error, folder) => done(error, folder)))
/** The next entry, null after the last one. */
export const next = (folder: fs.Dir) =>
  call<fs.Dirent | null>((done) => folder.read((error, entry) => done(error, entry)))
/** The next entries, at most so many; none after the last one. */
export const nextOf = (folder: fs.Dir, most: number) =>
  call<ReadonlyArray<fs.Dirent>>((done) => {
    const entries: Array<fs.Dirent> = []
    const take = (): void =>
      folder.read((error, entry) => {
        if (entry !== null) entries.push(entry)
        if (error !== null || entry === null || entries.length === most) done(error, entries)
        else take()
      })
    take()
  })
export const closeFolder = (folder: fs.Dir) =>
  Effect.ignore(order((done) => folder.close((error) => done(error ?? null))))
