/** Exemptions from the house rules are honest: each names files that exist, rules they break, and a reason. */
import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { spawnSync } from "node:child_process"
import { globSync, readFileSync } from "node:fs"
import { exemptions } from "../../.ci/lint/Exemptions.ts"

const Report = Schema.fromJsonString(
  Schema.Struct({ diagnostics: Schema.Array(Schema.Struct({ code: Schema.String, filename: Schema.String })) })
)

/** What the house rules say about `files` when nobody is exempt. */
const lintWithoutExemptions = (files: ReadonlyArray<string>) => {
  const args = ["node_modules/oxlint/bin/oxlint", "-c", ".ci/lint/Bare.oxlint.ts", "-f", "json"]
  const { stderr, stdout } = spawnSync(process.execPath, [...args, ...files], { encoding: "utf8" })
  assert.strictEqual(stderr, "")
  return Schema.decodeUnknownSync(Report)(stdout).diagnostics
}

describe("exemptions", () => {
  const all = exemptions.map((exemption) => ({ ...exemption, paths: globSync([...exemption.files]) }))
  const found = lintWithoutExemptions(all.flatMap(({ paths }) => paths))

  for (const { files, paths, reason, rules: exempt } of all) {
    it(`${files.join(", ")}: ${exempt.join(", ")}`, () => {
      assert.isAbove(reason.length, 20, "an exemption says why")
      for (const file of files) assert.isAbove(globSync(file).length, 0, `${file} does not exist`)
      for (const rule of exempt) {
        assert.isTrue(
          found.some(({ code, filename }) => code === `house(${rule})` && paths.includes(filename)),
          `nothing here needs an exemption from ${rule}: remove it`
        )
      }
    })
  }

  it("are nowhere else: no directive switches a rule off inside a file", () => {
    const directive = /(oxlint|eslint)-(disable|enable)|@ts-(ignore|nocheck|expect-error)/
    const files = globSync("{src,layers,extensions}/**/*.{ts,js}")
    assert.isAbove(files.length, 0)
    assert.deepStrictEqual(
      files.filter((file) => directive.test(readFileSync(file, "utf8"))),
      []
    )
  })
})
