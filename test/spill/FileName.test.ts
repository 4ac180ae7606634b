import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileName from "../../src/spill/FileName.ts"

it.effect("a name is told as ours, and what a person puts beside it is not", () =>
  Effect.gen(function* () {
    for (const extension of ["json", "txt"] as const) {
      const name = yield* FileName.make("code_read", extension)
      assert.isTrue(FileName.isOurs(name), name)
      assert.notStrictEqual(yield* FileName.make("code_read", extension), name)
    }
    for (const name of [
      "tool-box.txt",
      "notes.json",
      "tool-x-0123456789abcdef.pdf",
      "my-tool-x-0123456789abcdef.txt"
    ]) {
      assert.isFalse(FileName.isOurs(name), name)
    }
  })
)
