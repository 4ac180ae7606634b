/** Patches on a disk: all of one or nothing. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import * as PatchApply from "../../layers/patch/PatchApply.ts"
import * as FileChanges from "../../src/file/FileChanges.ts"
import { FileError } from "../../src/file/FileError.ts"
import * as Workspace from "../../src/file/Workspace.ts"
import * as FileZoo from "../rigs/FileZoo.ts"
import * as Fixtures from "../tool/Fixtures.ts"
import { patch } from "./Helpers.ts"

type Begin = (change: FileChanges.Change, count: number) => Effect.Effect<void, FileError>

/** Files of which the recorder has a say in each change. */
const start = Effect.fnUntraced(function* (begin: Begin = () => Effect.void) {
  const zoo = yield* FileZoo.make
  const seen: Array<string> = []
  const recorder: FileChanges.Recorder = {
    begin: (change) => {
      seen.push(`${change.action} ${change.affected.map(({ path }) => path).join()}`)
      return Effect.as(begin(change, seen.length), () => Effect.void)
    }
  }
  const context = yield* Layer.build(
    Layer.provide(Fixtures.pipeline(), Layer.succeed(FileChanges.FileChanges, recorder))
  )
  const files = yield* Effect.provideContext(
    Workspace.Workspace.useSync(({ at }) => at({ root: zoo.root, allowOutside: false, ownerOnly: false })),
    context
  )
  const left: Array<string> = []
  const apply = (text: string) =>
    PatchApply.apply({ reading: files.reading, writing: files.writingAs({ _tag: "Runtime", purpose: "test" }) }, text, {
      maxPatchBytes: 262_144,
      preserveTrailingNewline: true,
      leave: (path) => void left.push(path)
    })
  return { ...zoo, apply, seen, left }
})

const everything = patch(
  "*** Add File: new/deep/file.txt",
  "+new",
  "*** Update File: a.txt",
  "@@",
  "-a",
  "+A",
  "*** Update File: from.sh",
  "*** Move to: to.sh",
  "@@",
  "-run",
  "+walk",
  "*** Delete File: old.txt"
)

const put = ({ put }: FileZoo.FileZoo) => {
  put("a.txt", "a\n")
  put("from.sh", "run\n", 0o755)
  put("old.txt", "old\n", 0o640)
}

const state = (zoo: FileZoo.FileZoo) =>
  zoo.names().map((name) => (name === "new" ? name : `${name} ${zoo.mode(name).toString(8)} ${zoo.text(name)}`))

const refused = (path: string) => new FileError({ reason: "no_space", path, detail: "The disk is full." })

describe("a patch", () => {
  it.live("is applied to all of its files, each told of first, and keeps what may be run runnable", () =>
    Effect.gen(function* () {
      const zoo = yield* start()
      put(zoo)
      yield* zoo.apply(everything)
      assert.deepStrictEqual(state(zoo), ["a.txt 644 A\n", "new", "to.sh 755 walk\n"])
      assert.strictEqual(zoo.text("new/deep/file.txt"), "new\n")
      assert.deepStrictEqual(zoo.seen, [
        "make-folder new",
        "make-folder new/deep",
        "write new/deep/file.txt",
        "write a.txt",
        "write to.sh",
        "delete from.sh",
        "delete old.txt"
      ])
    })
  )

  it.live("leaves everything as it was when any one of its changes cannot be made", () =>
    Effect.gen(function* () {
      for (let failing = 1; failing <= 7; failing++) {
        const zoo = yield* start((change, count) =>
          count === failing ? Effect.fail(refused(change.affected[0]?.path ?? "")) : Effect.void
        )
        put(zoo)
        const before = state(zoo)
        const error = yield* Effect.flip(zoo.apply(everything))
        assert.strictEqual(error.code, "apply_patch:write_failed", `change ${failing}`)
        assert.include(error.message, "were put back")
        assert.deepStrictEqual(state(zoo), before, `change ${failing}`)
      }
    })
  )

  it.live("says what could not be put back", () =>
    Effect.gen(function* () {
      const zoo = yield* start((change, count) =>
        count >= 6 ? Effect.fail(refused(change.affected[0]?.path ?? "")) : Effect.void
      )
      put(zoo)
      const error = yield* Effect.flip(zoo.apply(everything))
      assert.strictEqual(error.code, "apply_patch:not_restored")
      assert.include(error, { cause: "file:no_space" })
      const left = ["to.sh", "a.txt", "new/deep/file.txt"]
      assert.deepStrictEqual(zoo.left, left)
      assert.include(error.message, left.join(", "))
    })
  )

  it.live("does not touch what somebody else has changed meanwhile, neither forth nor back", () =>
    Effect.gen(function* () {
      const zoo: Effect.Success<ReturnType<typeof start>> = yield* start((change) =>
        Effect.sync(() => {
          // Once the first file is written, others change it and the last one.
          if (change.affected[0]?.path !== "to.sh") return
          zoo.put("a.txt", "somebody's\n")
          zoo.put("old.txt", "somebody's\n")
        })
      )
      put(zoo)
      const error = yield* Effect.flip(zoo.apply(everything))
      assert.strictEqual(error.code, "apply_patch:not_restored")
      assert.deepStrictEqual(zoo.left, ["a.txt"])
      assert.deepStrictEqual(state(zoo), ["a.txt 644 somebody's\n", "from.sh 755 run\n", "old.txt 644 somebody's\n"])
    })
  )

  it.live("goes where links lead that stay inside, and neither deletes nor moves them", () =>
    Effect.gen(function* () {
      const zoo = yield* start()
      FileZoo.addLinks(zoo)
      const update = (path: string) => zoo.apply(patch(`*** Update File: ${path}`, "@@", "-inside", "+new"))
      yield* update("links/file")
      assert.strictEqual(zoo.text("real/file.txt"), "new")
      assert.strictEqual(
        (yield* Effect.flip(zoo.apply(patch("*** Delete File: links/file")))).code,
        "apply_patch:is_link"
      )
      yield* zoo.apply(patch("*** Update File: links/folder/file.txt", "*** Move to: moved.txt"))
      assert.strictEqual(zoo.text("moved.txt"), "new")
      for (const path of ["links/out/secret.txt", "links/out-file", "../outside/secret.txt", "links/top/etc/passwd"]) {
        assert.strictEqual((yield* Effect.flip(update(path))).code, "file:outside_root", path)
      }
      assert.strictEqual(
        (yield* Effect.flip(zoo.apply(patch("*** Add File: ../outside/new", "+x")))).code,
        "file:outside_root"
      )
      assert.isTrue(FileZoo.isUntouched(zoo))
    })
  )

  it.live("sees one file under two of its paths", () =>
    Effect.gen(function* () {
      const zoo = yield* start()
      FileZoo.addLinks(zoo)
      const section = (path: string, old: string, now: string) => [
        `*** Update File: ${path}`,
        "@@",
        `-${old}`,
        `+${now}`
      ]
      yield* zoo.apply(
        patch(...section("links/file", "inside", "one"), ...section("real/../real/file.txt", "one", "two"))
      )
      assert.strictEqual(zoo.text("real/file.txt"), "two")
    })
  )

  const Damage = Schema.Struct({ at: Schema.Int, kind: Schema.Literals(["drop", "double", "swap", "letter"]) })

  it.effect.prop(
    "that is damaged is applied or changes nothing",
    { damages: Arbitrary.array(Arbitrary.schema(Damage), { minLength: 1, maxLength: 3 }) },
    ({ damages }) =>
      Effect.gen(function* () {
        const zoo = yield* start()
        put(zoo)
        const before = state(zoo)
        const lines = everything.split("\n")
        for (const { at, kind } of damages) {
          const index = Math.abs(at) % lines.length
          const line = lines[index] ?? ""
          const other = lines[index + 1] ?? ""
          const put = { drop: [], double: [line, line], swap: [other, line], letter: [line.slice(1)] }[kind]
          lines.splice(index, kind === "swap" ? 2 : 1, ...put)
        }
        const exit = yield* Effect.exit(zoo.apply(lines.join("\n")))
        if (Exit.isFailure(exit)) assert.deepStrictEqual(state(zoo), before, lines.join("\n"))
      }).pipe(Effect.scoped),
    { arbitrary: { runs: 60 } }
  )
})

describe("the time of a patch", () => {
  it.effect("that is up between two changes takes back the first", () =>
    Effect.gen(function* () {
      const second = yield* Deferred.make<void>()
      const goOn = yield* Deferred.make<void>()
      const zoo = yield* start((change) =>
        change.affected[0]?.path === "b.txt" && change.action === "write"
          ? Effect.andThen(Deferred.succeed(second, undefined), Deferred.await(goOn))
          : Effect.void
      )
      for (const name of ["a.txt", "b.txt", "c.txt"]) zoo.put(name, "x\n")
      const section = (name: string) => [`*** Update File: ${name}`, "@@", "-x", "+y"]
      const fiber = yield* Effect.forkChild(
        zoo.apply(patch(...section("a.txt"), ...section("b.txt"), ...section("c.txt")))
      )
      yield* Deferred.await(second)
      const interrupted = yield* Effect.forkChild(Fiber.interrupt(fiber))
      yield* TestClock.adjust("1 second")
      yield* Deferred.succeed(goOn, undefined)
      yield* Fiber.join(interrupted)
      assert.deepStrictEqual(["a.txt", "b.txt", "c.txt"].map(zoo.text), ["x\n", "x\n", "x\n"])
      assert.deepStrictEqual(zoo.left, [])
      assert.notInclude(zoo.seen, "write c.txt")
    })
  )
})
