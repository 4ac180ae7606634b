import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { rolldown } from "rolldown"

/** Every module that a program loads at once (or also later) when it starts with this file, and what it leaves to the platform. */
const graph = (file: string, options: { readonly lazy: boolean }) =>
  Effect.promise(async () => {
    const bundle = await rolldown({
      input: new URL(`../../${file}`, import.meta.url).pathname,
      external: [/^node:/],
      platform: "neutral",
      resolve: { mainFields: ["module", "main"], conditionNames: ["import", "default"] },
      treeshake: false,
      logLevel: "silent"
    })
    const { output } = await bundle.generate({ format: "esm" })
    await bundle.close()
    const chunks = output.filter((chunk) => chunk.type === "chunk")
    const wanted = new Set(chunks.filter((chunk) => options.lazy || chunk.isEntry).map(({ fileName }) => fileName))
    for (const name of wanted) {
      for (const next of chunks.find(({ fileName }) => fileName === name)?.imports ?? []) wanted.add(next)
    }
    const loaded = chunks.filter(({ fileName }) => wanted.has(fileName))
    return {
      modules: loaded.flatMap(({ moduleIds }) => moduleIds),
      builtins: [...new Set(loaded.flatMap(({ imports }) => imports).filter((name) => name.startsWith("node:")))]
    }
  })

describe("what a program loads", () => {
  it.live("the client has no server code and nothing of one platform in it", () =>
    Effect.gen(function* () {
      const { builtins, modules } = yield* graph("src/client/index.ts", { lazy: true })
      assert.isAbove(modules.length, 50)
      assert.deepStrictEqual(builtins, [])
      const foreign = modules.filter((id) =>
        /platform-node|[/]layers[/]|effect[/]dist[/](sql|cluster|cli|ai|workflow)[/]/.test(id)
      )
      assert.deepStrictEqual(foreign, [])
      assert.deepStrictEqual(
        modules.filter((id) => /RpcServer|HttpServer\.|HttpRouter/.test(id)),
        []
      )
    })
  )

  for (const command of [
    "main",
    "commands/Status",
    "commands/Threads",
    "commands/History",
    "commands/Tools",
    "commands/Chat"
  ]) {
    it.live(`F105: ${command} does not load the daemon`, () =>
      Effect.gen(function* () {
        const { builtins, modules } = yield* graph(`layers/cli/${command}.ts`, { lazy: false })
        const server = modules.filter((id) =>
          /[/]layers[/](daemon|conversation|turn|model|tool|tools|thread|runtime)[/]|NodeHttpServer|effect[/]dist[/](cluster|sql|ai)[/]/.test(
            id
          )
        )
        assert.deepStrictEqual(server, [])
        assert.notInclude(builtins, "node:sqlite")
      })
    )
  }

  it.live("F104: the daemon does not load what only some installations use", () =>
    Effect.gen(function* () {
      const { modules } = yield* graph("layers/cli/commands/Daemon.ts", { lazy: false })
      assert.isAbove(modules.length, 200)
      assert.deepStrictEqual(
        modules.filter((id) => /node_modules[/](openai|undici|@fugood)[/]|[/]audio[/]engine|[/]Otlp/.test(id)),
        []
      )
    })
  )
})
