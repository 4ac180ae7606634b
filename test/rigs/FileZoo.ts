/** A folder with everything in it that a file can be, and a folder beside it that nothing inside may reach. */
import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as net from "node:net"
import * as os from "node:os"
import * as path from "node:path"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

export interface FileZoo {
  /** The root of the files. */
  readonly root: string
  /** Beside the root: nothing here may be read, changed or made. */
  readonly outside: string
  readonly put: (name: string, content?: string | Uint8Array, mode?: number) => void
  readonly folder: (name: string, mode?: number) => void
  /** A link in the root. `to` as it stands in the link. */
  readonly link: (name: string, to: string) => void
  readonly text: (name: string) => string
  readonly has: (name: string) => boolean
  readonly names: (folder?: string) => ReadonlyArray<string>
  readonly mode: (name: string) => number
}

export const secret = "what is outside"

/** An empty root and its surroundings, gone when the scope ends. */
export const make: Effect.Effect<FileZoo, never, Scope.Scope> = Effect.acquireRelease(
  Effect.sync(() => {
    const above = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "troupe-zoo-")))
    const root = path.join(above, "root")
    const outside = path.join(above, "outside")
    fs.mkdirSync(root)
    fs.mkdirSync(outside)
    fs.writeFileSync(path.join(outside, "secret.txt"), secret)
    const at = (name: string) => path.join(root, name)
    const zoo: FileZoo = {
      root,
      outside,
      put: (name, content = name, mode = 0o644) => {
        fs.mkdirSync(path.dirname(at(name)), { recursive: true })
        fs.writeFileSync(at(name), content)
        fs.chmodSync(at(name), mode)
      },
      folder: (name, mode = 0o755) => {
        fs.mkdirSync(at(name), { recursive: true })
        fs.chmodSync(at(name), mode)
      },
      link: (name, to) => {
        fs.mkdirSync(path.dirname(at(name)), { recursive: true })
        fs.symlinkSync(to, at(name))
      },
      text: (name) => fs.readFileSync(at(name), "utf8"),
      has: (name) => fs.lstatSync(at(name), { throwIfNoEntry: false }) !== undefined,
      names: (folder = ".") => fs.readdirSync(at(folder)).toSorted(),
      mode: (name) => fs.statSync(at(name)).mode & 0o777
    }
    return { zoo, above }
  }),
  ({ above }) =>
    Effect.sync(() => {
      spawnSync("chmod", ["-R", "u+rwx", above])
      fs.rmSync(above, { recursive: true, force: true })
    })
).pipe(Effect.map(({ zoo }) => zoo))

/** What is outside, as it must be after everything. */
export const isUntouched = ({ outside }: FileZoo): boolean =>
  fs.readdirSync(outside).join() === "secret.txt" &&
  fs.readFileSync(path.join(outside, "secret.txt"), "utf8") === secret

/** Every kind of link there is, in `links/`. */
export const addLinks = (zoo: FileZoo): void => {
  zoo.put("real/file.txt", "inside")
  zoo.link("links/file", "../real/file.txt")
  zoo.link("links/folder", "../real")
  zoo.link("links/absolute", path.join(zoo.root, "real/file.txt"))
  zoo.link("links/around", "../../root/real/file.txt")
  zoo.link("links/top", "/")
  zoo.link("links/out", "../../outside")
  zoo.link("links/out-file", path.join(zoo.outside, "secret.txt"))
  zoo.link("links/dangling-in", "nothing-here")
  zoo.link("links/dangling-out", path.join(zoo.outside, "new.txt"))
  zoo.link("links/self", "self")
  zoo.link("links/one", "two")
  zoo.link("links/two", "one")
  zoo.link("links/loop", "..")
}

/** A pipe, a device and a socket, as far as this user may make them. Gives their names. */
export const addSpecial = (zoo: FileZoo): Effect.Effect<ReadonlyArray<string>, never, Scope.Scope> =>
  Effect.gen(function* () {
    const made: Array<string> = []
    const tryTo = (name: string, command: string, ...args: ReadonlyArray<string>) => {
      if (spawnSync(command, args).status === 0) made.push(name)
    }
    tryTo("pipe", "mkfifo", path.join(zoo.root, "pipe"))
    tryTo("zero", "mknod", path.join(zoo.root, "zero"), "c", "1", "5")
    yield* Effect.acquireRelease(
      Effect.callback<net.Server>((resume) => {
        const server = net.createServer()
        server.listen(path.join(zoo.root, "socket"), () => resume(Effect.succeed(server)))
      }),
      (server) => Effect.sync(() => server.close())
    )
    return [...made, "socket"]
  })

/** A file that says it has so many bytes and takes up none. */
export const addSparse = (zoo: FileZoo, name: string, bytes: number): void => {
  const fd = fs.openSync(path.join(zoo.root, name), "w")
  fs.ftruncateSync(fd, bytes)
  fs.closeSync(fd)
}

/** So many names of empty files, a thousand to a folder; those of a folder are of one file. */
export const addMany = (zoo: FileZoo, folder: string, count: number): void => {
  for (let index = 0; index < count; index++) {
    const place = path.join(zoo.root, folder, String(Math.floor(index / 1000)))
    const name = path.join(place, `file-${index}.txt`)
    if (index % 1000 > 0) {
      // A name more for the first file of the folder: it is made many times as fast as a file.
      fs.linkSync(path.join(place, `file-${index - (index % 1000)}.txt`), name)
      continue
    }
    fs.mkdirSync(place, { recursive: true })
    fs.closeSync(fs.openSync(name, "w"))
  }
}

/** One name, composed and taken apart. */
export const names = { composed: "caf\u00e9.txt", apart: "cafe\u0301.txt" } as const
/** Texts as different programs save them. */
export const texts = {
  lineEnds: "one\r\ntwo\nthree\rfour",
  marked: "\ufeffmarked",
  control: "a\u0000b\u0007c\u2028d\u2029e",
  utf16: Buffer.from("\ufeffhello", "utf16le"),
  utf16BigEndian: Buffer.from("\ufeffhello", "utf16le").swap16(),
  latin1: Buffer.from("caf\u00e9 au lait", "latin1"),
  gbk: Uint8Array.of(0xc4, 0xe3, 0xba, 0xc3, 0x0a)
} as const
