/** What must hold of files below a root, whichever way its folders are held. */
import * as fs from "node:fs"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Holding } from "../../layers/file/Folder.ts"
import * as Live from "../../layers/file/Workspace.ts"
import * as FileChanges from "../../src/file/FileChanges.ts"
import * as FileErrors from "../../src/file/FileError.ts"
import type { FileError } from "../../src/file/FileError.ts"
import type * as Workspace from "../../src/file/Workspace.ts"
import * as FileZoo from "../rigs/FileZoo.ts"

interface Subject extends FileZoo.FileZoo {
  readonly sweep: Effect.Effect<void, FileError>
  readonly read: Workspace.Reading
  readonly write: Workspace.Writing<never>
  /** The first 1000 bytes of a file as text. */
  readonly textAt: (path: string) => Effect.Effect<string, FileError>
  /** Writes a text, over what is there. */
  readonly put: (name: string, content?: string | Uint8Array, mode?: number) => void
  readonly save: (
    path: string,
    text: string,
    options?: Partial<Workspace.WriteOptions>
  ) => Effect.Effect<Workspace.Written, FileError>
}

const subject = (holding: Holding, options: { readonly allowOutside?: boolean; readonly root?: string } = {}) =>
  Effect.gen(function* () {
    const zoo = yield* FileZoo.make
    const { at, sweep } = yield* Live.make(holding)
    const root = { root: options.root ?? zoo.root, allowOutside: options.allowOutside ?? false, ownerOnly: true }
    const files = at(root)
    const write = files.writingAs({ _tag: "Runtime", purpose: "test" })
    const made: Subject = {
      ...zoo,
      sweep: sweep(root),
      read: files.reading,
      write,
      textAt: (path) =>
        Effect.map(files.reading.read(path, { most: 1000 }), ({ bytes }) => new TextDecoder().decode(bytes)),
      save: (path, text, given = {}) =>
        write.write(path, new TextEncoder().encode(text), { overwrite: true, most: 1000, ...given })
    }
    return made
  }).pipe(Effect.provide(NodeServices.layer))

const refusal = <A, R>(effect: Effect.Effect<A, FileError, R>) =>
  Effect.map(Effect.flip(effect), ({ reason }) => reason)

/** The ways to use a path, each with the refusal that it gives; `done` where it gives none. */
const uses = ({ read, save, write }: Subject, path: string) => {
  const told = <A>(use: Effect.Effect<A, FileError>): Effect.Effect<FileError["reason"] | "done"> =>
    Effect.match(use, { onFailure: ({ reason }) => reason, onSuccess: () => "done" as const })
  return Effect.all({
    info: told(read.info(path)),
    open: told(Effect.scoped(read.open(path))),
    read: told(read.read(path, { most: 10 })),
    list: told(read.list(path, { most: 10 })),
    walk: told(Stream.runDrain(read.walk(path))),
    write: told(save(path, "x")),
    makeFolder: told(write.makeFolder(path)),
    "move to": told(write.move("real/file.txt", path, { overwrite: true }))
  })
}

const everyUse = <const Reason extends string>(reason: Reason) => ({
  info: reason,
  open: reason,
  read: reason,
  list: reason,
  walk: reason,
  write: reason,
  makeFolder: reason,
  "move to": reason
})

export const laws = (title: string, holding: Holding): void => {
  describe(title, () => {
    it.live("reads what was written, byte for byte, with the folders above it made", () =>
      Effect.gen(function* () {
        const { mode, names, save, textAt } = yield* subject(holding)
        const written = yield* save("new/folder/a.txt", "  one\r\n\u0000two \n")
        assert.strictEqual(written.change, "created")
        assert.strictEqual(written.place.relative, "new/folder/a.txt")
        assert.strictEqual(yield* textAt("new/../new/./folder//a.txt"), "  one\r\n\u0000two \n")
        assert.strictEqual(mode("new/folder/a.txt"), 0o600)
        assert.deepStrictEqual(names("new/folder"), ["a.txt"])
      })
    )

    it.live("replaces only when told to, keeps the mode, and does nothing where the content is there already", () =>
      Effect.gen(function* () {
        const { mode, put, save, text } = yield* subject(holding)
        put("a.sh", "old", 0o750)
        assert.strictEqual(yield* refusal(save("a.sh", "new", { overwrite: false })), "already_exists")
        assert.strictEqual((yield* save("a.sh", "old", { overwrite: false })).change, "unchanged")
        assert.strictEqual((yield* save("a.sh", "new")).change, "replaced")
        assert.strictEqual(text("a.sh"), "new")
        assert.strictEqual(mode("a.sh"), 0o750)
      })
    )

    it.live("gives a file and a folder the mode that is asked for, also where the content is there already", () =>
      Effect.gen(function* () {
        const { mode, put, save, write } = yield* subject(holding)
        put("a.sh", "same", 0o640)
        yield* save("a.sh", "same", { mode: 0o755 })
        assert.strictEqual(mode("a.sh"), 0o755)
        yield* save("b.sh", "new", { mode: 0o700 })
        assert.strictEqual(mode("b.sh"), 0o700)
        yield* write.makeFolder("one/two", { mode: 0o750 })
        assert.deepStrictEqual([mode("one"), mode("one/two")], [0o700, 0o750])
        yield* write.makeFolder("one", { mode: 0o711 })
        assert.strictEqual(mode("one"), 0o711)
      })
    )

    it.live("tells what is at a path, a link as a link, and nothing of what is outside", () =>
      Effect.gen(function* () {
        const { link, put, read, save } = yield* subject(holding)
        const { sha256 } = yield* save("folder/a.txt", "one")
        put("b.sh", "two", 0o750)
        link("inside", "folder/a.txt")
        link("outside", "/etc")
        const state = (path: string) => read.state(path)
        assert.deepStrictEqual(yield* state("folder/a.txt"), { _tag: "File", sha256, bytes: 3, mode: 0o600 })
        assert.deepInclude(yield* state("b.sh"), { _tag: "File", bytes: 3, mode: 0o750 })
        assert.deepStrictEqual(yield* state("folder"), { _tag: "Folder", mode: 0o700 })
        assert.deepStrictEqual(yield* state("inside"), { _tag: "Link", to: "folder/a.txt" })
        assert.deepStrictEqual(yield* state("outside"), { _tag: "Link", to: "/etc" })
        for (const absent of ["none", "none/deeper", "folder/none"]) {
          assert.deepStrictEqual(yield* state(absent), { _tag: "Absent" })
        }
        for (const path of ["outside/passwd", "/etc/passwd", "../x"]) {
          assert.strictEqual(yield* refusal(state(path)), "outside_root")
        }
      })
    )

    it.live("writes and moves no file to a path that names a folder", () =>
      Effect.gen(function* () {
        const { has, put, save, write } = yield* subject(holding)
        put("a.txt", "a")
        for (const path of ["x/", "new/x//", "new/x/.", "a.txt/"]) {
          const error = yield* Effect.flip(save(path, "text"))
          assert.deepStrictEqual([error.reason, error.path], ["path_is_not_a_file", path])
          assert.match(error.message, /ends like that of a folder/)
          assert.strictEqual(yield* refusal(write.move("a.txt", path, { overwrite: true })), "path_is_not_a_file")
        }
        assert.deepStrictEqual([has("x"), has("new"), has("a.txt")], [false, false, true])
      })
    )

    it.live("refuses a content that is too large, and leaves nothing behind", () =>
      Effect.gen(function* () {
        const { names, save, write } = yield* subject(holding)
        assert.strictEqual(yield* refusal(save("a.txt", "x".repeat(11), { most: 10 })), "too_large")
        const endless = Stream.forever(Stream.succeed(new Uint8Array(100)))
        assert.strictEqual(
          yield* refusal(write.write("b.txt", endless, { overwrite: true, most: 10_000 })),
          "too_large"
        )
        assert.deepStrictEqual(names(), [])
      })
    )

    it.live("writes only over what is expected", () =>
      Effect.gen(function* () {
        const { put, save, text } = yield* subject(holding)
        const { sha256 } = yield* save("a.txt", "one")
        put("a.txt", "by somebody else")
        assert.strictEqual(yield* refusal(save("a.txt", "two", { expected: { sha256 } })), "changed_meanwhile")
        assert.strictEqual(yield* refusal(save("a.txt", "two", { expected: "absent" })), "already_exists")
        assert.strictEqual(yield* refusal(save("b.txt", "two", { expected: { sha256 } })), "changed_meanwhile")
        put("a.txt", "one")
        yield* save("a.txt", "two", { expected: { sha256 } })
        assert.strictEqual(text("a.txt"), "two")
      })
    )

    it.live("F050 follows links that stay inside, also absolute ones, and lists what they lead to", () =>
      Effect.gen(function* () {
        const files = yield* subject(holding)
        FileZoo.addLinks(files)
        for (const link of ["links/file", "links/folder/file.txt", "links/absolute", "links/loop/real/file.txt"]) {
          assert.strictEqual(yield* files.textAt(link), "inside")
          assert.strictEqual((yield* files.read.info(link)).place.relative, "real/file.txt")
        }
        yield* files.save("links/file", "changed")
        assert.strictEqual(files.text("real/file.txt"), "changed")
        const { entries } = yield* files.read.list("links", { most: 100 })
        assert.deepStrictEqual(
          entries.flatMap(({ name, target }) => (target === undefined ? [] : [[name, target]])),
          [
            ["absolute", "file"],
            ["file", "file"],
            ["folder", "folder"],
            ["loop", "folder"]
          ]
        )
        assert.isTrue(entries.every(({ kind }) => kind === "link"))
      })
    )

    it.live("F050 refuses every way out, and every use of it, with the same error", () =>
      Effect.gen(function* () {
        const files = yield* subject(holding)
        FileZoo.addLinks(files)
        const ways = ["..", "../outside/secret.txt", "/etc/passwd", "a/../../outside", "links/out/secret.txt"]
        const links = ["links/top/etc/passwd", "links/out-file", "links/out", "links/around", "links/dangling-out"]
        for (const way of [...ways, ...links]) {
          assert.deepStrictEqual(yield* uses(files, way), everyUse("outside_root"), way)
        }
        assert.isTrue(FileZoo.isUntouched(files))
      })
    )

    it.live("F051 makes nothing through a link that leads to nothing", () =>
      Effect.gen(function* () {
        const files = yield* subject(holding)
        FileZoo.addLinks(files)
        assert.deepStrictEqual(yield* uses(files, "links/dangling-in"), everyUse("dangling_link"))
        assert.strictEqual(yield* refusal(files.save("links/dangling-in/b.txt", "x")), "dangling_link")
        assert.isFalse(files.has("links/nothing-here"))
      })
    )

    it.live("F050 ends where links lead round in a circle", () =>
      Effect.gen(function* () {
        const files = yield* subject(holding)
        FileZoo.addLinks(files)
        assert.deepStrictEqual(yield* uses(files, "links/self"), everyUse("too_many_links"))
        assert.deepStrictEqual(yield* uses(files, "links/one/x"), everyUse("too_many_links"))
        const walked = yield* Stream.runCollect(files.read.walk("."))
        assert.sameMembers(
          walked.filter(({ kind }) => kind === "file").map(({ below }) => below),
          ["real/file.txt", "links/file", "links/absolute"]
        )
      })
    )

    it.live("F050 takes a root that is itself a link", () =>
      Effect.gen(function* () {
        const outer = yield* FileZoo.make
        outer.folder("real")
        outer.link("alias", "real")
        const files = yield* subject(holding, { root: path.join(outer.root, "alias") })
        yield* files.save("a.txt", "x")
        assert.strictEqual(yield* files.textAt(path.join(outer.root, "alias/a.txt")), "x")
        assert.strictEqual(yield* files.textAt(path.join(outer.root, "real/a.txt")), "x")
        assert.strictEqual(yield* files.read.root, path.join(outer.root, "real"))
      })
    )

    it.live("F107 never opens a pipe, a device or a socket, also where paths may lead out", () =>
      Effect.gen(function* () {
        const files = yield* subject(holding)
        const special = yield* FileZoo.addSpecial(files)
        assert.isAbove(special.length, 1)
        for (const name of special) {
          for (const use of ["info", "open", "read", "write"] as const) {
            assert.strictEqual((yield* uses(files, name))[use], "special_file", name)
          }
          assert.strictEqual((yield* files.read.list(".", { most: 10 })).entries[0]?.kind, "other")
          yield* files.write.remove(name, { kinds: ["file"], recursive: false })
          assert.isFalse(files.has(name))
        }
        const everywhere = yield* subject(holding, { allowOutside: true })
        assert.strictEqual(yield* refusal(everywhere.read.read("/dev/zero", { most: 10 })), "special_file")
      })
    )

    it.live("lets paths lead out where that is allowed, and says that they do", () =>
      Effect.gen(function* () {
        const files = yield* subject(holding, { allowOutside: true })
        FileZoo.addLinks(files)
        assert.strictEqual(yield* files.textAt("links/out-file"), FileZoo.secret)
        assert.strictEqual((yield* files.read.info("../outside/secret.txt").pipe(Effect.flip)).reason, "outside_root")
        const info = yield* files.read.info(path.join(files.outside, "secret.txt"))
        assert.isNull(info.place.relative)
        assert.strictEqual((yield* files.read.info("real/file.txt")).place.relative, "real/file.txt")
        assert.strictEqual(
          yield* refusal(files.write.remove("/", { kinds: ["folder"], recursive: true })),
          "root_itself"
        )
        assert.strictEqual(
          yield* refusal(files.write.remove(path.dirname(files.root), { kinds: ["folder"], recursive: true })),
          "root_itself"
        )
      })
    )

    it.live("refuses what can be no path", () =>
      Effect.gen(function* () {
        const files = yield* subject(holding)
        files.put("real/file.txt")
        for (const wrong of ["", "  ", "a\0b", "a".repeat(256), "\u00e9".repeat(128), "a/".repeat(201), "\ud800"]) {
          assert.deepStrictEqual(yield* uses(files, wrong), everyUse("invalid_path"))
        }
      })
    )

    it.live("finds a file in either Unicode form, and makes no second one that looks the same", () =>
      Effect.gen(function* () {
        const { apart, composed } = FileZoo.names
        for (const [there, asked] of [
          [apart, composed],
          [composed, apart]
        ] as const) {
          const files = yield* subject(holding)
          files.put(there, "old")
          assert.strictEqual(yield* files.textAt(asked), "old")
          assert.strictEqual(yield* refusal(files.save(asked, "new", { overwrite: false })), "already_exists")
          yield* files.save(asked, "new")
          assert.deepStrictEqual(files.names(), [there])
          assert.strictEqual(files.text(there), "new")
        }
        const mixed = yield* subject(holding)
        mixed.put("\u00e9e\u0301", "mixed")
        assert.strictEqual(yield* mixed.textAt("\u00e9\u00e9"), "mixed")
      })
    )

    it.live("moves a file whole, and never over another one by itself", () =>
      Effect.gen(function* () {
        const { folder, has, link, names, put, text, write } = yield* subject(holding)
        put("a.txt", "a")
        put("b.txt", "b")
        folder("folder")
        link("link", "a.txt")
        assert.strictEqual(yield* refusal(write.move("a.txt", "b.txt", { overwrite: false })), "already_exists")
        assert.strictEqual(yield* refusal(write.move("a.txt", "folder", { overwrite: true })), "path_is_not_a_file")
        assert.strictEqual(yield* refusal(write.move("folder", "c", { overwrite: true })), "path_is_not_a_file")
        assert.strictEqual(yield* refusal(write.move("link", "c", { overwrite: true })), "path_is_not_a_file")
        assert.strictEqual(yield* refusal(write.move("none", "c", { overwrite: true })), "file_not_found")
        assert.isFalse((yield* write.move("a.txt", "a.txt", { overwrite: false })).replaced)
        yield* write.move("a.txt", "deep/er/c.txt", { overwrite: false })
        assert.strictEqual(text("deep/er/c.txt"), "a")
        assert.isTrue((yield* write.move("b.txt", "deep/er/c.txt", { overwrite: true })).replaced)
        assert.strictEqual(text("deep/er/c.txt"), "b")
        assert.isFalse(has("a.txt") || has("b.txt"))
        assert.deepStrictEqual(names("deep/er"), ["c.txt"])
      })
    )

    it.live("moves one of two names of the same file over the other", () =>
      Effect.gen(function* () {
        const { names, put, root, text, write } = yield* subject(holding)
        put("a.txt", "a")
        fs.linkSync(path.join(root, "a.txt"), path.join(root, "b.txt"))
        yield* write.move("a.txt", "b.txt", { overwrite: true })
        assert.deepStrictEqual(names(), ["b.txt"])
        assert.strictEqual(text("b.txt"), "a")
      })
    )

    it.live("removes a file only if it is the expected one, where one is", () =>
      Effect.gen(function* () {
        const files = yield* subject(holding)
        FileZoo.addLinks(files)
        files.put("a.txt", "one")
        const { sha256 } = yield* files.save("b.txt", "two")
        const remove = (path: string) =>
          files.write.remove(path, { kinds: ["file"], recursive: false, expected: { sha256 } })
        for (const path of ["a.txt", "links/file", "real", "nothing"]) {
          assert.strictEqual(yield* refusal(remove(path)), "changed_meanwhile", path)
        }
        assert.isTrue(files.has("a.txt") && files.has("links/file"))
        assert.strictEqual((yield* remove("b.txt")).count, 1)
      }).pipe(Effect.scoped)
    )

    it.live("removes what is named, never what a link leads to, and never the root", () =>
      Effect.gen(function* () {
        const files = yield* subject(holding)
        const remove = (path: string, recursive = true) =>
          files.write.remove(path, { kinds: ["file", "folder"], recursive })
        FileZoo.addLinks(files)
        files.put("tree/a/b.txt")
        files.put("tree/c.txt")
        files.link("tree/out", files.outside)
        assert.strictEqual((yield* remove("links/out-file")).kind, "link")
        assert.strictEqual(yield* refusal(remove("tree", false)), "folder_not_empty")
        assert.strictEqual((yield* files.write.remove("tree", { kinds: ["file"], recursive: true })).count, 0)
        assert.deepStrictEqual(yield* Effect.map(remove("tree"), ({ count, kind }) => [kind, count]), ["folder", 5])
        assert.isNull((yield* remove("tree/a/b.txt")).kind)
        for (const root of [".", "a/..", files.root]) {
          assert.strictEqual(yield* refusal(remove(root)), "root_itself")
        }
        assert.isTrue(FileZoo.isUntouched(files))
        assert.isTrue(files.has("real/file.txt"))
      })
    )

    it.live("lists by name without regard to case, in parts, and counts all", () =>
      Effect.gen(function* () {
        const { put, read } = yield* subject(holding)
        for (const name of ["b.txt", "A.txt", "C/d.txt", ".hidden", ".troupe-0123456789abcdef.unfinished"]) put(name)
        const names = (skip: number, most: number) =>
          Effect.map(read.list(".", { skip, most }), ({ count, entries }) => [count, entries.map(({ name }) => name)])
        assert.deepStrictEqual(yield* names(0, 10), [4, [".hidden", "A.txt", "b.txt", "C"]])
        assert.deepStrictEqual(yield* names(1, 2), [4, ["A.txt", "b.txt"]])
        assert.strictEqual(yield* refusal(read.list("b.txt", { most: 1 })), "path_is_not_a_folder")
        assert.strictEqual(yield* refusal(read.list("none", { most: 1 })), "folder_not_found")
      })
    )

    it.live("takes away what writes left that were cut off, and shows none of it", () =>
      Effect.gen(function* () {
        const { folder, has, names, put, read, root, sweep, write } = yield* subject(holding)
        const left = "a/b/.troupe-0123456789abcdef.unfinished"
        put(left)
        fs.utimesSync(path.join(root, left), 1, 1)
        put(".troupe-now0123456789ab.unfinished")
        fs.utimesSync(path.join(root, ".troupe-now0123456789ab.unfinished"), 4e9, 4e9)
        folder("a/.troupe-0123456789abcdef.unfinished")
        put("a/mine.unfinished")
        const seen = yield* Stream.runCollect(read.walk("."))
        assert.sameMembers(
          seen.map(({ below }) => below),
          ["a", "a/b", "a/mine.unfinished"]
        )
        yield* sweep
        assert.isFalse(has(left))
        assert.deepStrictEqual(names("a"), [".troupe-0123456789abcdef.unfinished", "b", "mine.unfinished"])
        assert.isTrue(has(".troupe-now0123456789ab.unfinished"))
        assert.strictEqual((yield* write.remove("a", { kinds: ["folder"], recursive: true })).count, 4)
      })
    )

    it.live("takes away what was left beside a file that it writes, where nothing sweeps at the start", () =>
      Effect.gen(function* () {
        const zoo = yield* FileZoo.make
        const { at } = yield* Live.make(holding)
        const { writingAs } = at({ root: zoo.root, allowOutside: false, ownerOnly: false })
        const write = writingAs({ _tag: "Runtime", purpose: "test" })
        const save = (name: string) => write.write(name, new TextEncoder().encode("new"), { overwrite: true, most: 10 })
        const left = (digit: number) => `a/.troupe-${String(digit).repeat(16)}.unfinished`
        const old = (name: string, seconds = 1) => fs.utimesSync(path.join(zoo.root, name), seconds, seconds)
        for (const name of [left(1), left(2), left(3), "a/mine.unfinished", "b/.troupe-1.unfinished"]) zoo.put(name)
        for (const name of [left(1), left(3), "a/mine.unfinished", "b/.troupe-1.unfinished"]) old(name)
        zoo.folder(left(4))
        old(left(4))
        const isRoot = fs.statSync(zoo.root).uid === 0
        if (isRoot) fs.chownSync(path.join(zoo.root, left(3)), 12_345, 12_345)
        yield* save("a/file.txt")
        assert.deepStrictEqual(
          [1, 2, 3, 4].map((digit) => zoo.has(left(digit))),
          [false, true, isRoot, true]
        )
        assert.isTrue(zoo.has("a/mine.unfinished") && zoo.has("b/.troupe-1.unfinished"))
        // What was too young then has its time later.
        old(left(2))
        yield* save("a/other.txt")
        assert.isFalse(zoo.has(left(2)))
        assert.strictEqual(zoo.text("a/file.txt"), "new")
      }).pipe(Effect.provide(NodeServices.layer))
    )

    it.live("F107 reads no more than it is told to of a file of 4 GB, and of one that grows", () =>
      Effect.gen(function* () {
        const files = yield* subject(holding)
        FileZoo.addSparse(files, "sparse", 4 * 1024 ** 3)
        const { bytes, info, truncated } = yield* files.read.read("sparse", { most: 1000 })
        assert.deepStrictEqual([bytes.byteLength, info.bytes, truncated], [1000, 4 * 1024 ** 3, true])
        const end = yield* files.read.read("sparse", { offset: 4 * 1024 ** 3 - 10, most: 1000 })
        assert.deepStrictEqual([end.bytes.byteLength, end.truncated], [10, false])
        files.put("growing", "0123456789")
        const sizes = yield* Effect.scoped(
          Effect.gen(function* () {
            const file = yield* files.read.open("growing")
            return yield* file.stream({ most: 35 }).pipe(
              Stream.tap((piece) =>
                Effect.sync(() => fs.appendFileSync(path.join(files.root, "growing"), "x".repeat(piece.byteLength)))
              ),
              Stream.runFold(
                () => 0,
                (sum, piece) => sum + piece.byteLength
              )
            )
          })
        )
        assert.strictEqual(sizes, 35)
      })
    )

    it.live("announces every change before it is made, with what is there, and tells what came of it", () =>
      Effect.gen(function* () {
        const told: Array<unknown> = []
        const recorder: FileChanges.Recorder = {
          begin: Effect.fnUntraced(function* ({ action, affected, author }) {
            const before = yield* Effect.forEach(affected, ({ before }) => before)
            const contents = yield* Effect.forEach(affected, ({ content }) =>
              Stream.mkString(Stream.decodeText(content))
            )
            told.push([author._tag, action, affected.map(({ path }) => path), before.map(({ _tag }) => _tag), contents])
            return (outcome) =>
              outcome._tag === "NotMade"
                ? Effect.sync(() => void told.push("not made"))
                : Effect.map(Effect.orDie(outcome.after), (after) => void told.push(after.map(({ _tag }) => _tag)))
          })
        }
        const { folder, put, save, write } = yield* Effect.provideService(
          subject(holding),
          FileChanges.FileChanges,
          recorder
        )
        put("old.txt", "old")
        folder("full")
        put("full/file.txt", "kept")
        yield* save("new/a.txt", "one")
        yield* save("new/a.txt", "one")
        yield* save("old.txt", "two")
        yield* write.move("old.txt", "new/a.txt", { overwrite: true })
        yield* Effect.flip(write.remove("full", { kinds: ["folder"], recursive: false }))
        yield* write.remove("new", { kinds: ["folder"], recursive: true })
        assert.deepStrictEqual(told, [
          ["Runtime", "make-folder", ["new"], ["Absent"], [""]],
          ["Folder"],
          ["Runtime", "write", ["new/a.txt"], ["Absent"], [""]],
          ["File"],
          ["Runtime", "write", ["old.txt"], ["File"], ["old"]],
          ["File"],
          ["Runtime", "move", ["old.txt", "new/a.txt"], ["File", "File"], ["two", "one"]],
          ["Absent", "File"],
          ["Runtime", "delete", ["full"], ["Folder"], [""]],
          "not made",
          ["Runtime", "delete", ["new/a.txt"], ["File"], ["two"]],
          ["Absent"],
          ["Runtime", "delete", ["new"], ["Folder"], [""]],
          ["Absent"]
        ])
      })
    )

    it.live("makes no change that could not be recorded", () =>
      Effect.gen(function* () {
        const refused = new FileErrors.FileError({ reason: "not_recorded", path: "a.txt", detail: "No." })
        const { names, put, save, write } = yield* Effect.provideService(subject(holding), FileChanges.FileChanges, {
          begin: () => Effect.fail(refused)
        })
        put("a.txt", "old")
        assert.strictEqual(yield* refusal(save("a.txt", "new")), "not_recorded")
        assert.strictEqual(yield* refusal(save("b.txt", "new")), "not_recorded")
        assert.strictEqual(yield* refusal(save("new/b.txt", "new")), "not_recorded")
        assert.strictEqual(yield* refusal(write.move("a.txt", "b.txt", { overwrite: true })), "not_recorded")
        assert.strictEqual(yield* refusal(write.remove("a.txt", { kinds: ["file"], recursive: true })), "not_recorded")
        assert.deepStrictEqual(names(), ["a.txt"])
      })
    )
  })
}
