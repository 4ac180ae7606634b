/** Whatever a turn does with files, undoing it gives the tree that was there before. */
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SqlClient from "effect/sql/SqlClient"
import { TestRuntime, layer } from "../../layers/testing/TestRuntime.ts"
import type * as FileChanges from "../../src/file/FileChanges.ts"
import * as Workspace from "../../src/file/Workspace.ts"
import * as Ids from "../../src/Ids.ts"
import { Undo } from "../../src/ledger/Undo.ts"
import { DataDirectory, filesFolder } from "../../src/storage/DataDirectory.ts"
import * as ScriptedModel from "../../src/testing/ScriptedModel.ts"

const Place = Schema.Literals(["a", "b", "d", "d/a", "d/b", "d/e", "d/e/a", "f"])
const Operation = Schema.Union([
  Schema.TaggedStruct("Write", { path: Place, text: Schema.Literals(["", "one", "two"]) }),
  Schema.TaggedStruct("Move", { path: Place, to: Place }),
  Schema.TaggedStruct("Delete", { path: Place, recursive: Schema.Boolean }),
  Schema.TaggedStruct("Folder", { path: Place })
])
const Story = Schema.Struct({
  before: Schema.Array(
    Schema.Struct({ path: Schema.Literals(["a", "d/a", "d/e/a", "f"]), text: Schema.Literals(["x", "y"]) })
  ),
  operations: Schema.Array(Operation).check(Schema.isMaxLength(12)),
  /** What somebody else does after the operations. */
  others: Schema.Array(Operation).check(Schema.isMinLength(2), Schema.isMaxLength(6)),
  /** After how many operations an undo comes in between. */
  undoneAfter: Schema.Literals([0, 3, 6, 20])
})

const tree = (root: string, below = ""): ReadonlyArray<string> =>
  readdirSync(join(root, below), { withFileTypes: true })
    .flatMap((entry) => {
      const path = join(below, entry.name)
      const mode = (statSync(join(root, path)).mode & 0o777).toString(8)
      return entry.isDirectory()
        ? [`${path}/ ${mode}`, ...tree(root, path)]
        : [`${path} ${mode} ${readFileSync(join(root, path), "utf8")}`]
    })
    .toSorted()

const runtime = layer({ scripts: [[ScriptedModel.text("hello")]] })

it.live(
  "whatever a turn writes, moves, makes and deletes, undoing it brings back what was there",
  () =>
    Effect.gen(function* () {
      const root = (yield* DataDirectory).file(filesFolder)
      const { entries, threadId } = yield* (yield* TestRuntime).say("hello")
      const turnId = entries.flatMap((entry) => (entry._tag === "TurnEnded" ? [entry.turnId] : []))[0]
      assert.isDefined(turnId)
      const author: FileChanges.Author = {
        _tag: "Call",
        ownerId: "primary",
        threadId,
        turnId,
        callId: yield* Ids.makeCallId
      }
      const workspace = yield* Workspace.Workspace
      const files = workspace.writingAs(author)
      const { undo } = yield* Undo
      const sql = yield* SqlClient.SqlClient
      const theirs = workspace.writingAs({ _tag: "Runtime", purpose: "test" })
      let made = 0
      let left = 0

      /** Undoes, which must do what it said that it would do; how many paths it left alone. */
      const undoneAsPlanned = Effect.gen(function* () {
        const planned = yield* Effect.result(undo(threadId, { turnId, dryRun: true }))
        const done = yield* Effect.result(undo(threadId, { turnId, dryRun: false }))
        const plan = Result.map(planned, (report) => ({ ...report, dryRun: false }))
        assert.deepStrictEqual(plan, done)
        return Result.isSuccess(done) ? done.success.left.length : 0
      })

      const act = (files: Workspace.Writing<never>, operation: typeof Operation.Type) => {
        switch (operation._tag) {
          case "Write":
            return files.write(operation.path, new TextEncoder().encode(operation.text), { overwrite: true, most: 10 })
          case "Move":
            return files.move(operation.path, operation.to, { overwrite: true })
          case "Delete":
            return files.remove(operation.path, { kinds: ["file", "folder"], recursive: operation.recursive })
          case "Folder":
            return files.makeFolder(operation.path)
        }
      }

      const property = Effect.fnUntraced(function* ({ before, operations, others, undoneAfter }: typeof Story.Type) {
        rmSync(root, { recursive: true, force: true })
        for (const { path, text } of before) {
          mkdirSync(join(root, path, ".."), { recursive: true })
          writeFileSync(join(root, path), text, { mode: text === "x" ? 0o640 : 0o755 })
        }
        mkdirSync(root, { recursive: true })
        const there = tree(root)
        for (const [index, operation] of operations.entries()) {
          if (index === undoneAfter) yield* Effect.ignore(undo(threadId, { turnId, dryRun: false }))
          yield* Effect.ignore(act(files, operation))
        }
        if (tree(root).join() !== there.join()) made += 1
        yield* undoneAsPlanned
        assert.deepStrictEqual(tree(root), there)
        // And once more with what others do in between: that stays, and is told of beforehand.
        for (const operation of operations) yield* Effect.ignore(act(files, operation))
        for (const operation of others) yield* Effect.ignore(act(theirs, operation))
        if ((yield* undoneAsPlanned) > 0) left += 1
        // What was left would be tried again in the next story.
        yield* sql`DELETE FROM side_effects`
        return true
      })

      const result = yield* Arbitrary.checkEffect(Arbitrary.schema(Story), property, { runs: 150 })
      assert.isUndefined(Arbitrary.formatCheckFailure(result))
      // Most of the stories change something.
      assert.isAbove(made, 50)
      assert.isAbove(left, 10)
    }).pipe(Effect.provide(runtime)),
  120_000
)
