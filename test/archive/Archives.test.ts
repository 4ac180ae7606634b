/** Archives that strangers made. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, posix } from "node:path"
import { gzipSync } from "node:zlib"
import * as ArchivesLive from "../../layers/archive/Archives.ts"
import { Archives } from "../../src/archive/Archives.ts"
import * as Needs from "../rigs/Needs.ts"
import * as ArchiveZoo from "../rigs/ArchiveZoo.ts"

/** Places in an archive, and the bytes that come there. */
const Changes = Schema.NonEmptyArray(
  Schema.Tuple([
    Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 4000 })),
    Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 }))
  ])
)

const limits = { maxBytes: 100_000, maxEntries: 50 }

const unpack = (archive: Uint8Array, given = limits) =>
  Effect.flatMap(Archives, (archives) => archives.unpack(archive, given)).pipe(Effect.provide(ArchivesLive.layer))

const reasonOf = (archive: Uint8Array, given = limits) =>
  Effect.map(Effect.flip(unpack(archive, given)), ({ reason }) => reason)

const tar = (entries: ReadonlyArray<ArchiveZoo.TarEntry>) => Effect.promise(() => ArchiveZoo.tar(entries))

const texts = Effect.fnUntraced(function* (archive: Uint8Array) {
  const files = yield* unpack(archive)
  return files.map(({ bytes, executable, path }) => [path, new TextDecoder().decode(bytes), executable])
})

const good = [
  ["skill/SKILL.md", "# One\n", false],
  ["skill/bin/run.sh", "echo", true],
  ["skill/häuser/日本.txt", "x".repeat(5000), false]
] as const

describe("F110 archives", () => {
  it.effect("a zip, a tar and a gzipped tar give the same files", () =>
    Effect.gen(function* () {
      const asZip = ArchiveZoo.zip([
        { name: "skill/", mode: 0o040755 },
        ...good.map(([name, content, isProgram]) => ({ name, content, mode: isProgram ? 0o100755 : 0o100644 }))
      ])
      const asTar = yield* tar([
        { name: "skill/", type: "directory" },
        ...good.map(([name, content, isProgram]) => ({ name, content, mode: isProgram ? 0o755 : 0o644 }))
      ])
      const wanted = good.map((file) => [...file])
      for (const archive of [asZip, asTar, gzipSync(asTar)]) assert.deepStrictEqual(yield* texts(archive), wanted)
    })
  )

  it.live("archives of other programs are read", () =>
    Effect.gen(function* () {
      if (Needs.python.missing) return
      const folder = mkdtempSync(join(tmpdir(), "troupe-archive-"))
      mkdirSync(join(folder, "a/b"), { recursive: true })
      writeFileSync(join(folder, "a/b/long.txt"), "y".repeat(70_000))
      writeFileSync(join(folder, `a/${"n".repeat(120)}.txt`), "long name")
      const run = (program: string, ...args: ReadonlyArray<string>) => execFileSync(program, args, { cwd: folder })
      run("python3", "-m", "zipfile", "-c", "a.zip", "a")
      run("tar", "-cf", "gnu.tar", "--format=gnu", "a")
      run("tar", "-cf", "dot.tar", "./a")
      run("tar", "-cf", "whole.tar", "-C", "a", ".")
      assert.deepStrictEqual(
        (yield* unpack(readFileSync(join(folder, "whole.tar")))).map(({ path }) => path).toSorted(),
        ["b/long.txt", `${"n".repeat(120)}.txt`].toSorted()
      )
      run("tar", "-czf", "pax.tgz", "--format=pax", "a")
      for (const name of ["a.zip", "gnu.tar", "dot.tar", "pax.tgz"]) {
        const files = yield* unpack(readFileSync(join(folder, name)))
        assert.deepStrictEqual(
          files.map(({ bytes, path }) => [path, bytes.length]).toSorted(),
          [
            [`a/${"n".repeat(120)}.txt`, 9],
            ["a/b/long.txt", 70_000]
          ].toSorted(),
          name
        )
      }
      symlinkSync("/etc", join(folder, "a/etc"))
      run("tar", "-cf", "link.tar", "a")
      assert.strictEqual(yield* reasonOf(readFileSync(join(folder, "link.tar"))), "link")
      rmSync(folder, { recursive: true })
    })
  )

  const unsafe = [
    "../x",
    "a/../../x",
    "a/..",
    "/abs",
    "//host/share",
    "C:\\x",
    "c:x",
    "a\\..\\b",
    "a\u0000b",
    "a\nb",
    "a/\u202etxt.exe",
    "a//b",
    "./",
    "a/./b",
    "",
    "con",
    "COM¹.txt",
    "aux .x",
    "CONIN$",
    "a/nul.txt",
    "a/b. ",
    `${"d/".repeat(40)}x`,
    "n".repeat(300),
    "a:stream"
  ]
  for (const name of unsafe) {
    it.effect(`an entry named ${JSON.stringify(name.slice(0, 30))} takes the archive with it`, () =>
      Effect.gen(function* () {
        const harmless = { name: "first.txt", content: "1" }
        assert.strictEqual(yield* reasonOf(ArchiveZoo.zip([harmless, { name, content: "2" }])), "unsafe_name")
        // A tar ends a name at its first zero byte, and a nameless one is how some say that it is over.
        if (name === "" || name === "./" || name.includes("\u0000")) return
        assert.strictEqual(yield* reasonOf(yield* tar([harmless, { name, content: "2" }])), "unsafe_name")
      })
    )
  }

  it.effect("links, devices and pipes are refused, and so is what would go through them", () =>
    Effect.gen(function* () {
      const link = { name: "a", content: "/etc", mode: 0o120777 }
      assert.strictEqual(yield* reasonOf(ArchiveZoo.zip([link, { name: "a/passwd", content: "x" }])), "link")
      assert.strictEqual(yield* reasonOf(ArchiveZoo.zip([{ name: "a", mode: 0o020666 }])), "special_file")
      for (const type of ["link", "symlink"] as const) {
        assert.strictEqual(yield* reasonOf(yield* tar([{ name: "a", type, linkname: "/etc/passwd" }])), "link")
      }
      for (const type of ["fifo", "character-device", "block-device", "contiguous-file"] as const) {
        assert.strictEqual(yield* reasonOf(yield* tar([{ name: "a", type }])), "special_file")
      }
    })
  )

  it.effect("two entries that are one file on some system are refused", () =>
    Effect.gen(function* () {
      const pairs = [
        ["a.txt", "a.txt"],
        ["a.txt", "A.TXT"],
        ["d/é.txt", "d/e\u0301.txt"],
        ["D/x", "d/X"],
        ["a", "a/b"],
        ["a/b", "a"],
        ["ﬁ", "fi"],
        ["straße", "STRASSE"],
        ["ς", "Σ"]
      ]
      for (const names of pairs) {
        const entries = names.map((name) => ({ name, content: "x" }))
        assert.strictEqual(yield* reasonOf(ArchiveZoo.zip(entries)), "duplicate_name", names.join(" "))
        assert.strictEqual(yield* reasonOf(yield* tar(entries)), "duplicate_name", names.join(" "))
      }
    })
  )

  it.effect("more than the limits is refused: declared, undeclared, in pieces, and in number", () =>
    Effect.gen(function* () {
      const zeros = Buffer.alloc(limits.maxBytes + 1)
      assert.strictEqual(yield* reasonOf(ArchiveZoo.zip([{ name: "a", content: zeros }])), "too_large")
      assert.strictEqual(yield* reasonOf(ArchiveZoo.zip([{ name: "a", declaredSize: 10e8 }])), "too_large")
      const liar = ArchiveZoo.zip([{ name: "a", content: Buffer.alloc(50_000_000), declaredSize: 10 }])
      assert.include(["too_large", "damaged"], yield* reasonOf(liar))
      const halves = ["a", "b"].map((name) => ({ name, content: Buffer.alloc(60_000) }))
      assert.strictEqual(yield* reasonOf(ArchiveZoo.zip(halves)), "too_large")
      const text = "0".repeat(60_000)
      const tarred = yield* tar(["a", "b"].map((name) => ({ name, content: text })))
      assert.strictEqual(yield* reasonOf(tarred), "too_large")
      assert.strictEqual(yield* reasonOf(gzipSync(Buffer.alloc(50_000_000))), "too_large")
      const many = Array.from({ length: limits.maxEntries + 1 }, (_, index) => ({ name: `f${index}` }))
      assert.strictEqual(yield* reasonOf(ArchiveZoo.zip(many)), "too_many_entries")
      assert.strictEqual(yield* reasonOf(yield* tar(many)), "too_many_entries")
      yield* unpack(ArchiveZoo.zip(many.slice(1)))
    })
  )

  it.effect("a tar that declares ten gigabytes is refused by its first block", () =>
    Effect.gen(function* () {
      const archive = yield* tar([{ name: "a", content: "x" }])
      archive.write("77777777777", 124, "latin1")
      archive.write("        ", 148, "latin1")
      const sum = archive.subarray(0, 512).reduce((total, byte) => total + byte, 0)
      archive.write(`${sum.toString(8).padStart(6, "0")}\u0000 `, 148, "latin1")
      assert.strictEqual(yield* reasonOf(archive), "too_large")
    })
  )

  it.effect("what is damaged, locked or no archive is told as that", () =>
    Effect.gen(function* () {
      const whole = ArchiveZoo.zip([{ name: "a", content: "hello hello hello" }])
      assert.strictEqual(yield* reasonOf(whole.subarray(0, whole.length - 8)), "damaged")
      assert.strictEqual(yield* reasonOf(ArchiveZoo.zip([{ name: "a", content: "x", declaredCrc: 1 }])), "damaged")
      assert.strictEqual(yield* reasonOf(ArchiveZoo.zip([{ name: "a", content: "x", declaredSize: 2 }])), "damaged")
      assert.strictEqual(yield* reasonOf(ArchiveZoo.zip([{ name: "a", content: "x", method: 99 }])), "damaged")
      assert.strictEqual(yield* reasonOf(ArchiveZoo.zip([{ name: "a", content: "x", flags: 1 }])), "encrypted")
      const folder = yield* tar([{ name: "a", content: "x".repeat(700) }])
      folder.write("5", 156, "latin1")
      const sum = folder.subarray(0, 512).reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 32 : byte), 0)
      folder.write(`${sum.toString(8).padStart(6, "0")}\u0000 `, 148, "latin1")
      assert.strictEqual(yield* reasonOf(folder), "damaged")
      const two = yield* tar([
        { name: "a", content: "x" },
        { name: "b", content: "y" }
      ])
      assert.strictEqual(yield* reasonOf(two.subarray(0, 1024)), "damaged")
      const tarred = yield* tar([{ name: "a", content: "x".repeat(2000) }])
      assert.strictEqual(yield* reasonOf(tarred.subarray(0, 1024)), "damaged")
      assert.strictEqual(yield* reasonOf(gzipSync(tarred).subarray(0, 60)), "damaged")
      for (const other of ["", "PK", "not one", gzipSync("no tar")]) {
        assert.include(["not_an_archive", "damaged"], yield* reasonOf(Buffer.from(other)), String(other))
      }
    })
  )

  it.effect("odd limits are limits", () =>
    Effect.gen(function* () {
      const archive = gzipSync(yield* tar([{ name: "a", content: "x" }]))
      const large = [Number.MAX_SAFE_INTEGER, Number.POSITIVE_INFINITY]
      for (const maxBytes of large) yield* unpack(archive, { maxBytes, maxEntries: 10 })
      yield* unpack(archive, { maxBytes: 10, maxEntries: Number.POSITIVE_INFINITY })
      assert.strictEqual(yield* reasonOf(archive, { maxBytes: -1, maxEntries: 10 }), "too_large")
      assert.strictEqual(yield* reasonOf(archive, { maxBytes: 10, maxEntries: Number.NaN }), "too_many_entries")
    })
  )

  it.effect("an error quotes a short and visible name, and says that nothing was used", () =>
    Effect.gen(function* () {
      const archive = yield* tar([{ name: `${"a".repeat(200)}\u001b[31m`, content: "" }])
      const { code, message } = yield* Effect.flip(unpack(archive))
      assert.strictEqual(code, "archive:unsafe_name")
      assert.isBelow(message.length, 300)
      assert.notInclude(message, "\u001b")
      assert.include(message, "Nothing of the archive was used.")
    })
  )

  it.effect.prop(
    "no bytes make it fail in another way, whichever of a good archive are changed",
    { changes: Changes },
    ({ changes }) =>
      Effect.gen(function* () {
        const entries = [
          { name: "a/b.txt", content: "hello" },
          { name: "c", content: "x".repeat(900) }
        ]
        const archives = [ArchiveZoo.zip(entries), yield* tar(entries)]
        for (const archive of [...archives, gzipSync(archives[1] ?? "")]) {
          for (const [at, byte] of changes) archive[at % archive.length] = byte
          const result = yield* Effect.result(unpack(archive))
          if (result._tag === "Failure") {
            assert.strictEqual(result.failure._tag, "ArchiveError")
            continue
          }
          for (const { path } of result.success) {
            assert.strictEqual(posix.normalize(path), path)
            assert.isFalse(path.startsWith("/") || path.split("/").includes(".."))
          }
        }
      })
  )
})
