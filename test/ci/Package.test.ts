/** The manifest says what the build makes and what the sources hold. */
import { assert, describe, it } from "@effect/vitest"
import { existsSync, readFileSync } from "node:fs"
import { entries } from "../../.ci/Build.ts"
import { version } from "../../layers/cli/Version.ts"
import { packageRoot } from "../../layers/config/PackageRoot.ts"
import lock from "../../package-lock.json" with { type: "json" }
import manifest from "../../package.json" with { type: "json" }

describe("package.json", () => {
  it("exports each entry from its source, its declarations and its bundle", () => {
    const expected = Object.fromEntries(
      Object.entries(entries).map(([name, source]) => [
        name === "index" ? "." : `./${name}`,
        {
          "troupe-source": `./${source}`,
          types: `./dist/types/${source.replace(/\.ts$/, ".d.ts")}`,
          default: `./dist/lib/${name}.js`
        }
      ])
    )
    assert.deepStrictEqual({ ...manifest.exports }, { ...expected, "./package.json": "./package.json" })
    for (const source of Object.values(entries)) assert.isTrue(existsSync(source), source)
  })

  it("pins every dependency to one version", () => {
    const { dependencies, devDependencies, optionalDependencies } = manifest
    const pins = Object.entries({ ...dependencies, ...optionalDependencies, ...devDependencies })
    assert.isAbove(pins.length, 0)
    assert.deepStrictEqual(
      pins.filter(([, range]) => !/^\d+\.\d+\.\d+$/.test(range)),
      []
    )
  })

  it("has a sentence for every dependency in the record of decisions, and for no other", () => {
    const page = readFileSync("docs/decisions/0008-dependencies.md", "utf8")
    const explained = [...page.matchAll(/^\| `([^`]+)` \| \S/gm)].map((row) => row[1])
    const { dependencies, devDependencies, optionalDependencies, peerDependencies } = manifest
    const declared = [dependencies, optionalDependencies, peerDependencies, devDependencies].flatMap(Object.keys)
    assert.deepStrictEqual(explained.toSorted(), [...new Set(declared)].toSorted())
  })

  it("is the version that the program and the lock say", () => {
    assert.strictEqual(version, manifest.version)
    assert.strictEqual(lock.version, manifest.version)
  })

  it("the lock names no registry: any one that serves the same contents will do", () => {
    const resolved = Object.values(lock.packages).filter((entry) => "resolved" in entry)
    assert.deepStrictEqual(resolved, [])
  })

  it("the package's own files are found from the sources", () => {
    assert.isTrue(existsSync(`${packageRoot}package.json`))
    assert.isTrue(existsSync(`${packageRoot}${manifest.bin.troupe}`))
  })
})
