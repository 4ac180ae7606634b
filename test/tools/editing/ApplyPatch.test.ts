import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Tools from "../../../layers/tools/Tools.ts"
import { ConfigSource } from "../../../src/config/ConfigSource.ts"
import type { SettingsInput } from "../../../src/config/Settings.ts"
import { patch } from "../../patch/Helpers.ts"
import * as FileZoo from "../../rigs/FileZoo.ts"
import * as Fixtures from "../../tool/Fixtures.ts"

/** A turn with the tool over the files of a zoo. */
const start = Effect.fnUntraced(function* (settings: NonNullable<SettingsInput["tools"]>["apply_patch"] = {}) {
  const zoo = yield* FileZoo.make
  const context = yield* Layer.build(
    Tools.layer.pipe(
      Layer.provideMerge(Layer.succeed(ConfigSource, { _tag: "Defaults" })),
      Layer.provideMerge(
        Fixtures.pipeline({ tools: { apply_patch: { enabled: true, workspace_root: zoo.root, ...settings } } })
      )
    )
  )
  const turn = yield* Effect.provideContext(Fixtures.startTurn(), context)
  const apply = (...lines: ReadonlyArray<string>) =>
    Effect.provideContext(Fixtures.callTool(turn, "apply_patch", { patch_text: patch(...lines) }), context)
  return { ...zoo, apply, turn }
})

describe("apply_patch", () => {
  it.live("tells what became of which file, and what was only alike", () =>
    Effect.gen(function* () {
      const { apply, put, root, text } = yield* start()
      put("a.txt", "one \ntwo\r\n")
      put("b.txt", "b\n")
      put("c.txt", "c\n")
      const result = yield* apply(
        "*** Update File: a.txt",
        "@@",
        "-one",
        "+ONE",
        "*** Update File: b.txt",
        "*** Move to: d/b.txt",
        "*** Delete File: c.txt",
        "*** Add File: a.md",
        "+# A"
      )
      assert.deepStrictEqual(result.data, {
        ok: true,
        summary: "Applied to 4 files: 1 added, 2 changed, 1 deleted.",
        updated_files: ["M a.txt", "M d/b.txt", "D c.txt", "A a.md"],
        workspace_root: root,
        fuzz: [{ path: "a.txt", hunk: 1, line: 1, ignored: "trailing_whitespace" }]
      })
      assert.strictEqual(text("a.txt"), "ONE\ntwo\r\n")
      const again = yield* apply("*** Add File: a.md", "+# B")
      assert.deepInclude(again.data, { updated_files: ["A a.md"], replaced_files: ["a.md"] })
    })
  )

  it.live("refuses with where it is wrong, in words and in fields", () =>
    Effect.gen(function* () {
      const { apply, put, text } = yield* start()
      put("a.txt", "x\nx\n")
      const result = yield* apply("*** Add File: new.txt", "+n", "*** Update File: a.txt", "@@", "-x")
      assert.strictEqual(result.errorCode, "apply_patch:ambiguous_hunk")
      assert.deepInclude(result.data, {
        details: {
          reason: "ambiguous_hunk",
          path: "a.txt",
          line: 5,
          hunk: 1,
          detail:
            'Its old lines are in the file 2 times: on lines 1, 2. Add lines around them, or a header "@@ <line above>" or "@@ -<line>,<count> +<line>,<count> @@". Nothing was written.'
        }
      })
      assert.strictEqual(text("a.txt"), "x\nx\n")
    })
  )

  it.live("leaves its root only where the settings allow it, and is not offered without its switch", () =>
    Effect.gen(function* () {
      const add = ({ outside }: FileZoo.FileZoo) => [`*** Add File: ${outside}/new.txt`, "+x"] as const
      const inside = yield* start()
      assert.strictEqual((yield* inside.apply(...add(inside))).errorCode, "file:outside_root")
      assert.isTrue(FileZoo.isUntouched(inside))
      for (const settings of [{ allow_outside_workspace: true }, { restrict_to_workspace: false }]) {
        const anywhere = yield* start(settings)
        assert.strictEqual((yield* anywhere.apply(...add(anywhere))).status, "success")
        assert.isFalse(FileZoo.isUntouched(anywhere))
      }
      const off = yield* start({ enabled: false })
      assert.strictEqual((yield* off.apply(...add(off))).errorCode, "tool:unknown")
    })
  )
})
