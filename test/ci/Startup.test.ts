/** What the build does to a chunk so that it starts sooner. */
import { assert, describe, it } from "@effect/vitest"
import { escaped, withoutImports } from "../../.ci/Startup.ts"

describe("modules of Node in the bundle", () => {
  for (const [written, read] of [
    ['import * as Fs from "node:fs";', 'const Fs = process.getBuiltinModule("node:fs");'],
    ['import Fs from "node:fs";', 'const Fs = process.getBuiltinModule("node:fs");'],
    ['import { a, b as c$1 } from "node:fs";', 'const { a, b: c$1 } = process.getBuiltinModule("node:fs");'],
    ['import Fs, { a } from "node:fs";', 'const Fs = process.getBuiltinModule("node:fs"), { a } = Fs;'],
    ['import { a } from "./other.js";', 'import { a } from "./other.js";']
  ] as const) {
    it(written, () => assert.strictEqual(withoutImports(`${written}\nrest`), `${read}\nrest`))
  }

  it("refuses what it does not know", () => {
    assert.throws(() => withoutImports('import "node:fs";'), /no known form/)
    assert.throws(() => withoutImports('import defer * as Fs from "node:fs";'), /no known form/)
  })
})

describe("ASCII", () => {
  it("means the same", () => {
    const written = "[`…`, '😀', /^[À-ÿ]$/.test('é'), /^[😀-😎]$/u.test('😃')]"
    assert.match(escaped(written), /^[ -~]+$/)
    assert.deepStrictEqual(Function(`return ${escaped(written)}`)(), ["…", "😀", true, true])
  })
})
