import { assert, describe, it } from "@effect/vitest"
import { type Import, importsOf, violations } from "../../.ci/Arrows.ts"

const graph = (files: Record<string, string>) =>
  new Map<string, ReadonlyArray<Import>>(Object.entries(files).map(([file, text]) => [file, importsOf(file, text)]))
const broken = (files: Record<string, string>) => violations(graph(files)).length

describe("folder arrows", () => {
  const red: Record<string, Record<string, string>> = {
    "src imports layers": { "src/a/A.ts": `import { x } from "../../layers/a/A.ts"` },
    "src imports layers as a type": { "src/a/A.ts": `import type { X } from "../../layers/a/A.ts"` },
    "src imports a type inline": { "src/a/A.ts": `type X = import("../../layers/a/A.ts").X` },
    "src imports a library": { "src/a/A.ts": `import OpenAI from "openai"` },
    "src imports Node": { "src/a/A.ts": `import { join } from "node:path"` },
    "src re-exports layers": { "src/a/A.ts": `export * from "../../layers/a/A.ts"` },
    "src loads layers later": { "src/a/A.ts": `const later = () => import("../../layers/a/A.ts")` },
    "layers import extensions": { "layers/a/A.ts": `import "../../extensions/x/X.ts"` },
    "layers import tests": { "layers/a/A.ts": `import "../../test/x/X.ts"` },
    "layers import the built package": { "layers/a/A.ts": `import "troupe"` },
    "an extension imports layers": { "extensions/x/X.ts": `import "../../layers/a/A.ts"` },
    "an extension imports the public layers": { "extensions/x/X.ts": `import "troupe/layers"` },
    "an extension imports an inner module": { "extensions/x/X.ts": `import "../../src/a/A.ts"` },
    "an extension imports another": { "extensions/x/X.ts": `import "../y/Y.ts"` },
    "an example imports an inner module": { "docs/examples/a.ts": `import "../../src/a/A.ts"` }
  }
  for (const [name, files] of Object.entries(red)) it(`refuses: ${name}`, () => assert.strictEqual(broken(files), 1))

  const green: Record<string, Record<string, string>> = {
    "src imports src and effect": { "src/a/A.ts": `import * as E from "effect/Effect"\nimport "../b/B.ts"` },
    "layers import src, layers, libraries, Node": {
      "layers/a/A.ts": `import "../../src/a/A.ts"\nimport "../b/B.ts"\nimport "openai"\nimport "node:path"`
    },
    "the program reads its version": {
      "layers/cli/Version.ts": `import p from "../../package.json" with { type: "json" }`
    },
    "an extension imports the public entries, its files, libraries": {
      "extensions/x/X.ts": `import "troupe"\nimport "troupe/extension"\nimport "../../src/index.ts"\nimport "./Y.ts"\nimport "undici"`
    },
    "an example imports the public entries": { "docs/examples/a.ts": `import "troupe/layers"\nimport "effect/Effect"` }
  }
  for (const [name, files] of Object.entries(green)) it(`allows: ${name}`, () => assert.strictEqual(broken(files), 0))
})

describe("light entries", () => {
  it("the client reaches no server code, however far away", () => {
    const files = (last: string) => ({
      "src/client/index.ts": `export * from "./Client.ts"`,
      "src/client/Client.ts": `import "../rpc/Api.ts"`,
      "src/rpc/Api.ts": last
    })
    assert.strictEqual(broken(files(`import "effect/rpc/Rpc"`)), 0)
    assert.strictEqual(broken(files(`import type * as S from "effect/rpc/RpcServer"`)), 0)
    // One line for each of the two files of the client.
    assert.strictEqual(broken(files(`import "effect/rpc/RpcServer"`)), 2)
    assert.strictEqual(broken(files(`import "effect/sql/SqlClient"`)), 2)
  })

  it("the program loads the server only when a command asks for it", () => {
    assert.strictEqual(broken({ "layers/cli/main.ts": `import "../storage/Storage.ts"` }), 1)
    assert.strictEqual(broken({ "layers/cli/main.ts": `const run = () => import("../storage/Storage.ts")` }), 0)
  })

  it("names the way to what is refused", () => {
    const [line] = violations(
      graph({ "layers/cli/main.ts": `import "./Run.ts"`, "layers/cli/Run.ts": `import "openai"` })
    )
    assert.include(line, "layers/cli/main.ts → layers/cli/Run.ts → openai")
  })
})
