/** The prompt files of an installation: none that is there is passed over without a word. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import { join } from "node:path"
import * as PromptFiles from "../../layers/agent/PromptFiles.ts"
import * as SystemPromptLive from "../../layers/agent/SystemPrompt.ts"
import * as Environment from "../../layers/config/Environment.ts"
import * as Report from "../../layers/config/Report.ts"
import { SystemPrompt } from "../../src/agent/SystemPrompt.ts"
import { Settings } from "../../src/config/Settings.ts"
import * as Ids from "../../src/Ids.ts"
import * as Threads from "../../src/thread/Threads.ts"

/** A prompts directory in which these are files, and these are folders where a file should be. */
const prompts = Effect.fnUntraced(function* (texts: Readonly<Record<string, string>>, folders: ReadonlyArray<string>) {
  const files = yield* FileSystem.FileSystem
  const path = yield* files.makeTempDirectoryScoped({ prefix: "troupe-prompts-" })
  for (const folder of ["policies", "channels", ...folders]) {
    yield* files.makeDirectory(join(path, folder), { recursive: true })
  }
  for (const [name, text] of Object.entries(texts)) yield* files.writeFileString(join(path, name), text)
  return { path, settings: Settings.layer({ llm: { prompts_dir: path } }) }
})

describe("prompt files", () => {
  it.effect("are read in the order of their names; what is absent or blank is left out", () =>
    Effect.gen(function* () {
      const texts = { "main.md": "Main.", "policies/b.md": "B", "policies/a.md": "A", "policies/c.md": " \n" }
      const { settings } = yield* prompts(texts, [])
      assert.strictEqual(yield* Effect.provide(PromptFiles.mainPrompt, settings), "Main.")
      assert.deepStrictEqual(yield* Effect.provide(PromptFiles.policies, settings), ["A", "B"])
      assert.isUndefined(yield* Effect.provide(PromptFiles.channel("console"), settings))
      const none = Settings.layer({ llm: { prompts_dir: "/nowhere/at/all" } })
      assert.deepStrictEqual(yield* Effect.provide(PromptFiles.policies, none), [])
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.effect("a policy or main prompt that is there and cannot be read is an error with its path", () =>
    Effect.gen(function* () {
      const { path, settings } = yield* prompts({ "policies/a.md": "A" }, ["policies/b.md", "main.md"])
      const policy = yield* Effect.flip(Effect.provide(PromptFiles.policies, settings))
      assert.include(
        policy.message,
        `${path}/policies/b.md ([llm].prompts_dir) cannot be used: it is a folder and not a file`
      )
      const main = yield* Effect.flip(Effect.provide(PromptFiles.mainPrompt, settings))
      assert.include(main.message, `${path}/main.md`)
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.effect("a folder for them that is not there is told, at the start and by a check, where it was chosen", () => {
    const lines: Array<unknown> = []
    const logger = Logger.layer([Logger.make(({ message }) => void lines.push(message))])
    return Effect.gen(function* () {
      const { path } = yield* prompts({}, [])
      const told = Effect.fnUntraced(function* (llm: { readonly prompts_dir?: string }) {
        lines.length = 0
        const layer = SystemPromptLive.layer.pipe(Layer.provide(Settings.layer({ llm })), Layer.provide(logger))
        yield* Effect.provide(SystemPrompt, Layer.fresh(layer))
        return lines.flat()
      })
      const missing = `There is no folder ${path}/nowhere, which [llm].prompts_dir names: the built-in prompts are used. A relative path starts at the working directory`
      assert.deepStrictEqual(yield* told({ prompts_dir: `${path}/nowhere` }), [missing])
      assert.deepStrictEqual(yield* told({ prompts_dir: path }), [])
      assert.deepStrictEqual(yield* told({}), [])
      const files = yield* FileSystem.FileSystem
      yield* files.writeFileString(`${path}/config.toml`, `[llm]\nprompts_dir = "${path}/nowhere"\n`)
      const report = yield* Effect.provide(Report.check(`${path}/config.toml`), Environment.layer)
      assert.include(report, `no problems found\n  - note: ${missing}\n`)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  })

  it.effect(
    "conventions of a channel that cannot be read are told in the log, left out, and read when they can be",
    () => {
      const lines: Array<unknown> = []
      const logger = Logger.layer([Logger.make(({ message }) => void lines.push(message))])
      return Effect.gen(function* () {
        const { path, settings } = yield* prompts({}, ["channels/console.md"])
        const turn = {
          ownerId: "primary",
          threadId: yield* Ids.makeThreadId,
          threadKey: Threads.ThreadKey.make("console:main"),
          channel: "console",
          chat: "main",
          turnId: yield* Ids.makeTurnId,
          agent: "troupe",
          chainDepth: 0
        }
        const files = yield* FileSystem.FileSystem
        const file = join(path, "channels/console.md")
        yield* Effect.gen(function* () {
          const prompt = yield* SystemPrompt
          const agent = { name: "troupe", prompt: "Main.", tools: { allow: [], deny: [] } }
          const composed = prompt.compose({ agent, turn, tools: [] })
          assert.notInclude(yield* composed, "Be brief.")
          assert.include(String(lines.flat()), file)
          yield* files.remove(file, { recursive: true })
          yield* files.writeFileString(file, "Be brief.")
          assert.include(yield* composed, "Be brief.")
          // What has been read is kept.
          yield* files.remove(file)
          assert.include(yield* composed, "Be brief.")
        }).pipe(Effect.provide(Layer.provideMerge(SystemPromptLive.layer, settings)))
      }).pipe(Effect.provide([NodeServices.layer, logger]))
    }
  )

  it.effect("what has no end, is too large or is no text is not read", () =>
    Effect.gen(function* () {
      const { path } = yield* prompts(
        { "large.md": "x".repeat(1024 * 1024 + 1), "largest.md": "x".repeat(1024 * 1024) },
        []
      )
      const files = yield* FileSystem.FileSystem
      yield* files.writeFile(`${path}/latin.md`, Uint8Array.from([0x61, 0x0a, 0x62, 0xe4]))
      const read = (file: string) =>
        Effect.provide(PromptFiles.mainPrompt, Layer.fresh(Settings.layer({ llm: { system_prompt_file: file } })))
      const why = (file: string) => Effect.map(Effect.flip(read(file)), ({ message }) => message)
      const named = "([llm].system_prompt_file) cannot be used"
      assert.include(yield* why("/dev/zero"), `/dev/zero ${named}: it is a device and not a file`)
      assert.include(yield* why(path), `${named}: it is a folder and not a file`)
      assert.include(yield* why(`${path}/large.md`), `${named}: it has 1048577 bytes, more than 1048576`)
      assert.include(yield* why(`${path}/latin.md`), `${named}: it is a text that is not UTF-8 (line 2, column 2)`)
      assert.strictEqual((yield* read(`${path}/largest.md`)).length, 1024 * 1024)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.effect("what keeps a daemon from starting is found by a check of the settings", () =>
    Effect.gen(function* () {
      const { path } = yield* prompts({ "file.md": "text", "policies/a.md": "A" }, ["policies/b.md"])
      const files = yield* FileSystem.FileSystem
      const check = Effect.fnUntraced(function* (line: string) {
        yield* files.writeFileString(`${path}/config.toml`, `[llm]\n${line}\n`)
        return yield* Effect.provide(Effect.flip(Report.check(`${path}/config.toml`)), Environment.layer)
      })
      const missing = yield* check('system_prompt_file = "/nope"')
      assert.strictEqual(missing._tag, "PromptUnreadable")
      assert.include(missing.message, "/nope ([llm].system_prompt_file) cannot be used: there is no such file")
      const file = yield* check(`prompts_dir = "${path}/file.md"`)
      assert.include(file.message, `${path}/file.md ([llm].prompts_dir) cannot be used: it is a file and not a folder`)
      assert.include((yield* check(`prompts_dir = "${path}"`)).message, "b.md ([llm].prompts_dir) cannot be used")
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.effect("a prompt file that the settings name and that is missing is explained", () =>
    Effect.gen(function* () {
      const settings = Settings.layer({ llm: { system_prompt_file: "no/such/file.md" } })
      const error = yield* Effect.flip(Effect.provide(PromptFiles.mainPrompt, settings))
      assert.strictEqual(
        error.message,
        "The prompt file no/such/file.md ([llm].system_prompt_file) cannot be used: there is no such file. " +
          "A relative path starts at the working directory."
      )
    }).pipe(Effect.provide(NodeServices.layer))
  )
})
