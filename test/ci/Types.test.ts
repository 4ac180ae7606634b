/** The compiler of `npm run types` knows the rules of Effect: a wrong program is refused, its right twin is not. */
import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const check = (files: Record<string, string>) => {
  const folder = mkdtempSync(join(tmpdir(), "troupe-types-"))
  try {
    symlinkSync(join(process.cwd(), "node_modules"), join(folder, "node_modules"))
    mkdirSync(join(folder, "src"))
    for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, "src", file), text)
    const tsconfig = {
      extends: join(process.cwd(), "tsconfig.json"),
      compilerOptions: { tsBuildInfoFile: join(folder, "tsbuildinfo") },
      include: ["src"]
    }
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(tsconfig))
    writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "checked", type: "module" }))
    return spawnSync(process.execPath, [".ci/Types.ts", "-p", folder], { encoding: "utf8" })
  } finally {
    rmSync(folder, { recursive: true })
  }
}

describe("npm run types", { timeout: 180_000 }, () => {
  it("refuses an effect that nobody runs, a failure that does not return, a missing service, and a wrong type", () => {
    const { status, stdout } = check({
      "floating.ts": `import * as Effect from "effect/Effect"\nEffect.log("never runs")\n`,
      "failure.ts": `import * as Effect from "effect/Effect"
        export const f = Effect.gen(function*() { yield* Effect.fail("x"); return 1 })\n`,
      "service.ts": `import * as Context from "effect/Context"
        import * as Effect from "effect/Effect"
        class Lamp extends Context.Service<Lamp, { readonly on: boolean }>()("checked/Lamp") {}
        export const f: Effect.Effect<boolean> = Effect.map(Lamp, (lamp) => lamp.on)\n`,
      "wrong.ts": `export const x: string = 1\n`
    })
    assert.notStrictEqual(status, 0)
    assert.match(stdout, /floating\.ts.*floatingEffect/)
    assert.match(stdout, /failure\.ts.*missingReturnYieldStar/)
    assert.match(stdout, /service\.ts.*missingEffectContext/)
    assert.match(stdout, /wrong\.ts.*TS2322/)
  })

  it("allows their right twins", () => {
    const { status, stdout } = check({
      "right.ts": `import * as Context from "effect/Context"
        import * as Effect from "effect/Effect"
        class Lamp extends Context.Service<Lamp, { readonly on: boolean }>()("checked/Lamp") {}
        export const log = Effect.log("runs when somebody runs it")
        export const on: Effect.Effect<boolean, string, Lamp> = Effect.gen(function*() {
          const lamp = yield* Lamp
          if (!lamp.on) return yield* Effect.fail("dark")
          return lamp.on
        })\n`
    })
    assert.strictEqual(stdout, "")
    assert.strictEqual(status, 0)
  })
})
