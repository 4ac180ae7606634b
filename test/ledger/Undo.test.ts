/** The ledger and undoing, over a real database file, the managed files and the whole pipeline. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Database from "../../layers/storage/Database.ts"
import { TestRuntime, layer as testRuntime, type Services } from "../../layers/testing/TestRuntime.ts"
import { FileError } from "../../src/file/FileError.ts"
import * as Workspace from "../../src/file/Workspace.ts"
import * as Ids from "../../src/Ids.ts"
import { Ledger } from "../../src/ledger/Ledger.ts"
import { Undo } from "../../src/ledger/Undo.ts"
import { DataDirectory, filesFolder } from "../../src/storage/DataDirectory.ts"
import * as ScriptedModel from "../../src/testing/ScriptedModel.ts"
import type * as Entry from "../../src/thread/Entry.ts"
import * as Tool from "../../src/tool/Tool.ts"
import * as ToolRegistry from "../../src/tool/ToolRegistry.ts"
import * as DiskRig from "../rigs/DiskRig.ts"

/** Does with files what its one parameter says, a line each: `write P TEXT`, `move P Q`, `delete P`, `folder P`. */
const Work = Tool.make("work", {
  description: "Changes files.",
  parameters: Schema.Struct({ lines: Schema.String }),
  success: Schema.Struct({ done: Schema.Int }),
  failure: FileError,
  limits: { timeout: "20 seconds", output: { maxChars: 200 } },
  cancellation: "interruptible",
  replay: "idempotent",
  capabilities: [Workspace.FsWrite]
})

/** Acts outside. */
const Fire = Tool.make("fire", {
  description: "Acts outside.",
  parameters: Schema.Struct({ at: Schema.String }),
  success: Schema.Struct({ hit: Schema.Boolean }),
  failure: FileError,
  limits: { timeout: "20 seconds", output: { maxChars: 200 } },
  cancellation: "interruptible",
  replay: "unknown",
  capabilities: [],
  identifiedBy: ["at"]
})

const most = 1_000_000
const tools = ToolRegistry.layer([Work, Fire], {
  work: Effect.fnUntraced(function* ({ lines }) {
    const files = yield* Workspace.FsWrite
    const todo = lines.split("\n")
    for (const line of todo) {
      const [verb = "", path = "", ...rest] = line.split(" ")
      const text = rest.join(" ")
      if (verb === "write") yield* files.write(path, new TextEncoder().encode(text), { overwrite: true, most })
      if (verb === "move") yield* files.move(path, text, { overwrite: true })
      if (verb === "delete") yield* files.remove(path, { kinds: ["file", "folder"], recursive: true })
      if (verb === "folder") yield* files.makeFolder(path)
    }
    return { done: todo.length }
  }),
  fire: ({ at }) =>
    at === "nothing"
      ? Effect.fail(new FileError({ reason: "file_not_found", path: at, detail: "Aim at something." }))
      : Effect.succeed({ hit: true })
})

const turns = (...calls: ReadonlyArray<ReadonlyArray<readonly [string, object]>>) =>
  testRuntime({
    scripts: calls.flatMap((turn) => [
      turn.map(([name, parameters]) => ScriptedModel.toolCall(name, parameters)),
      [ScriptedModel.text("done")]
    ]),
    tools
  })

const test = <E, E2>(name: string, layer: Layer.Layer<Services, E>, body: Effect.Effect<void, E2, Services>) =>
  it.live(name, () => Effect.provide(body, layer))

const files = Effect.map(DataDirectory, (directory) => {
  const root = directory.file(filesFolder)
  mkdirSync(root, { recursive: true })
  return root
})

const turnIn = (entries: ReadonlyArray<Entry.Entry>) => {
  const ended = entries.findLast((entry) => entry._tag === "TurnEnded")
  assert.isDefined(ended)
  return ended.turnId
}

/** Everything below a folder: path → content, or `folder`. */
const tree = (root: string, below = ""): Record<string, string> =>
  Object.assign(
    {},
    ...readdirSync(join(root, below), { withFileTypes: true }).map((entry) => {
      const path = join(below, entry.name)
      return entry.isDirectory()
        ? { [path]: "folder", ...tree(root, path) }
        : { [path]: entry.isFile() ? readFileSync(join(root, path), "utf8") : "link" }
    })
  )

describe("undo", () => {
  const everything = [
    "write old.txt newer",
    "write old.txt newest",
    "write new/deep/file.txt made",
    "move moved.txt new/moved.txt",
    "delete gone",
    "folder empty",
    "delete script.sh"
  ].join("\n")

  test(
    "puts back what was written, moved, made and deleted, with its mode",
    turns([["work", { lines: everything }]]),
    Effect.gen(function* () {
      const root = yield* files
      writeFileSync(join(root, "old.txt"), "old")
      writeFileSync(join(root, "moved.txt"), "to move")
      writeFileSync(join(root, "script.sh"), "#!/bin/sh")
      chmodSync(join(root, "script.sh"), 0o750)
      mkdirSync(join(root, "gone/below"), { recursive: true })
      writeFileSync(join(root, "gone/below/deep.txt"), "deep")
      writeFileSync(join(root, "other.txt"), "never touched")
      const before = tree(root)

      const { entries, threadId } = yield* (yield* TestRuntime).say("work")
      assert.notDeepEqual(tree(root), before)

      const { undo } = yield* Undo
      const planned = yield* undo(threadId, { dryRun: true })
      assert.notDeepEqual(tree(root), before)
      const report = yield* undo(threadId, { dryRun: false })
      assert.deepStrictEqual(tree(root), before)
      assert.strictEqual(statSync(join(root, "script.sh")).mode & 0o777, 0o750)
      assert.deepStrictEqual(report, { ...planned, dryRun: false })
      assert.strictEqual(report.turnId, turnIn(entries))
      assert.deepStrictEqual(report.left, [])
      assert.deepStrictEqual(report.restored.map(({ path, to }) => `${to} ${path}`).toSorted(), [
        "absent empty",
        "absent new",
        "absent new/deep",
        "absent new/deep/file.txt",
        "absent new/moved.txt",
        "content gone/below/deep.txt",
        "content moved.txt",
        "content old.txt",
        "content script.sh",
        "folder gone",
        "folder gone/below"
      ])
      const again = yield* Effect.flip(undo(threadId, { dryRun: false }))
      assert.strictEqual(again._tag, "NothingToUndo")
    })
  )

  test(
    "leaves alone what was changed since, and puts it back once that is gone",
    turns([["work", { lines: "write a.txt agent\nwrite b.txt agent\nfolder made" }]]),
    Effect.gen(function* () {
      const root = yield* files
      writeFileSync(join(root, "a.txt"), "mine")
      const { threadId } = yield* (yield* TestRuntime).say("work")
      writeFileSync(join(root, "a.txt"), "mine again")
      writeFileSync(join(root, "made/kept.txt"), "put there by a person")
      const { undo } = yield* Undo
      const report = yield* undo(threadId, { dryRun: false })
      assert.deepStrictEqual(report.left.map(({ path, reason }) => [path, reason]).toSorted(), [
        ["a.txt", "changed_since"],
        ["made", "changed_since"]
      ])
      assert.deepStrictEqual(report.restored, [{ path: "b.txt", to: "absent" }])
      assert.deepStrictEqual(tree(root), {
        "a.txt": "mine again",
        made: "folder",
        "made/kept.txt": "put there by a person"
      })
      writeFileSync(join(root, "a.txt"), "agent")
      const later = yield* undo(threadId, { dryRun: false })
      assert.deepStrictEqual(later.restored, [{ path: "a.txt", to: "content" }])
      assert.strictEqual(readFileSync(join(root, "a.txt"), "utf8"), "mine")
    })
  )

  test(
    "plans what it does: a folder with something in it stays, and so does what it stands in for",
    turns([
      ["work", { lines: "folder made\nwrite made/own.txt x\ndelete one\nfolder one\ndelete two\nwrite two file" }]
    ]),
    Effect.gen(function* () {
      const root = yield* files
      writeFileSync(join(root, "one"), "was a file")
      mkdirSync(join(root, "two/below"), { recursive: true })
      writeFileSync(join(root, "two/below/a.txt"), "a")
      const { threadId } = yield* (yield* TestRuntime).say("work")
      writeFileSync(join(root, "made/other.txt"), "of somebody else")
      writeFileSync(join(root, "one/other.txt"), "of somebody else")
      const { undo } = yield* Undo
      const planned = yield* undo(threadId, { dryRun: true })
      const report = yield* undo(threadId, { dryRun: false })
      assert.deepStrictEqual({ ...planned, dryRun: false }, report)
      assert.deepStrictEqual(report.left.map(({ path, reason }) => `${reason} ${path}`).toSorted(), [
        "changed_since made",
        "changed_since one"
      ])
      assert.deepStrictEqual(readdirSync(join(root, "two/below")), ["a.txt"])
    })
  )

  test(
    "goes back turn by turn, and only for the newest change of a file",
    turns([["work", { lines: "write a.txt one" }]], [["work", { lines: "write a.txt two" }]]),
    Effect.gen(function* () {
      const root = yield* files
      const troupe = yield* TestRuntime
      const first = yield* troupe.say("one")
      yield* troupe.say("two")
      const { undo } = yield* Undo
      const { threadId } = first
      const early = yield* undo(threadId, { turnId: turnIn(first.entries), dryRun: false })
      assert.deepStrictEqual(
        early.left.map(({ reason }) => reason),
        ["changed_since"]
      )
      yield* undo(threadId, { dryRun: false })
      assert.strictEqual(readFileSync(join(root, "a.txt"), "utf8"), "one")
      yield* undo(threadId, { dryRun: false })
      assert.isFalse(existsSync(join(root, "a.txt")))
    })
  )

  test(
    "goes past a turn whose changes come to nothing",
    turns([["work", { lines: "write a.txt agent" }]], [["work", { lines: "write b.txt gone\ndelete b.txt" }]]),
    Effect.gen(function* () {
      const root = yield* files
      const troupe = yield* TestRuntime
      const { entries, threadId } = yield* troupe.say("one")
      yield* troupe.say("two")
      const report = yield* (yield* Undo).undo(threadId, { dryRun: false })
      assert.strictEqual(report.turnId, turnIn(entries))
      assert.deepStrictEqual(tree(root), {})
    })
  )

  test(
    "is told to the model in the next turn, and stands in the log",
    turns([["work", { lines: "write a.txt agent" }]], [["fire", { at: "will" }]]),
    Effect.gen(function* () {
      yield* files
      const troupe = yield* TestRuntime
      const { threadId } = yield* troupe.say("work")
      yield* (yield* Undo).undo(threadId, { dryRun: true })
      yield* (yield* Undo).undo(threadId, { dryRun: false })
      const { entries } = yield* troupe.say("and now?")
      assert.deepStrictEqual(
        entries.flatMap((entry) => (entry._tag === "FilesRestored" ? [[entry.restored, entry.left]] : [])),
        [[["a.txt"], []]]
      )
      const asked = JSON.stringify((yield* (yield* ScriptedModel.ScriptedModel).requests).at(-1))
      assert.include(asked, "The person has undone file changes of an earlier turn of yours")
    })
  )

  test(
    "names what cannot be undone, and has nothing to do where no file was changed",
    turns([
      ["fire", { at: "will" }],
      ["fire", { at: "nothing" }]
    ]),
    Effect.gen(function* () {
      const { entries, threadId } = yield* (yield* TestRuntime).say("fire")
      const turnId = turnIn(entries)
      const nothing = yield* Effect.flip((yield* Undo).undo(threadId, { turnId, dryRun: false }))
      assert.deepInclude(nothing, { _tag: "NothingToUndo", irreversible: ["`fire` at=will", "`fire` at=nothing"] })
      assert.include(nothing.message, `The turn ${turnId} has no changes of files that can be undone. What cannot`)
      const effects = yield* (yield* Ledger).ofTurn(threadId, turnId, 10)
      assert.deepStrictEqual(
        effects.map((effect) => (effect._tag === "CallMade" ? [effect.tool, effect.state] : [])),
        [
          ["fire", "made"],
          ["fire", "failed"]
        ]
      )
    })
  )

  it.live("a change that cannot be written down is not made", () =>
    Effect.gen(function* () {
      const store = yield* Layer.build(DiskRig.over(Layer.fresh(Database.layerMemory)))
      const scripts = [[ScriptedModel.text("hello")]]
      yield* Effect.gen(function* () {
        const root = yield* files
        writeFileSync(join(root, "a.txt"), "mine")
        const { entries, threadId } = yield* (yield* TestRuntime).say("hello")
        const turnId = turnIn(entries)
        const callId = yield* Ids.makeCallId
        const author = { _tag: "Call" as const, ownerId: "primary", threadId, turnId, callId }
        const { write } = (yield* Workspace.Workspace).writingAs(author)
        const rig = yield* Effect.provideContext(DiskRig.DiskRig, store)
        const change = write("a.txt", new TextEncoder().encode("agent"), { overwrite: true, most })
        rig.failWrites(DiskRig.full)
        assert.strictEqual((yield* Effect.flip(change)).reason, "not_recorded")
        const { around } = yield* Ledger
        let ran = false
        const call = { threadId, turnId, callId, tool: "fire", line: "`fire`" }
        const refused = yield* Effect.flip(
          around(
            call,
            Effect.sync(() => (ran = true))
          )
        )
        assert.deepStrictEqual([refused._tag, ran], ["StorageUnavailable", false])
        assert.deepStrictEqual(tree(root), { "a.txt": "mine" })
        rig.heal()
        yield* change
        assert.deepStrictEqual(tree(root), { "a.txt": "agent" })
        yield* (yield* Undo).undo(threadId, { dryRun: false })
        assert.deepStrictEqual(tree(root), { "a.txt": "mine" })
      }).pipe(Effect.provide(testRuntime({ scripts }, Layer.succeedContext(store))))
    }).pipe(Effect.scoped)
  )

  test(
    "does not make a deleted link again, and says so",
    turns([["work", { lines: "delete link" }]]),
    Effect.gen(function* () {
      const root = yield* files
      writeFileSync(join(root, "there.txt"), "there")
      symlinkSync("there.txt", join(root, "link"))
      const { threadId } = yield* (yield* TestRuntime).say("work")
      const report = yield* (yield* Undo).undo(threadId, { dryRun: false })
      assert.deepStrictEqual(
        report.left.map(({ path, reason }) => [path, reason]),
        [["link", "not_a_file"]]
      )
    })
  )
})
