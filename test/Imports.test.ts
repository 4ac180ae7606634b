/**
 * Every package and every module of Effect that we import loads. Package ranges allow pairs of versions that install and
 * then fail at import, which no type check sees.
 */
import { assert, describe, it } from "@effect/vitest"
import { readGraph } from "../.ci/Arrows.ts"
import manifest from "../package.json" with { type: "json" }

const imported = new Set([...readGraph(".").values()].flatMap((imports) => imports.map(({ target }) => target)))
const isOfEffect = (target: string) => /^(effect|@effect\/[\w-]+)\//.test(target)
const packages = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })

describe("packages", () => {
  for (const name of packages) {
    it(name, () => import(/* @vite-ignore */ name).then((module) => assert.isAbove(Object.keys(module).length, 0)))
  }
})

describe("modules of Effect", () => {
  const modules = [...imported].filter(isOfEffect).toSorted()
  it("there are some", () => assert.isAbove(modules.length, 10))
  for (const name of modules) {
    it(name, () => import(/* @vite-ignore */ name).then((module) => assert.isDefined(module)))
  }
})
