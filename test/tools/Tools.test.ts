import { assert, describe, it } from "@effect/vitest"
import * as DateTime from "effect/DateTime"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import * as Tools from "../../layers/tools/Tools.ts"
import { Channels } from "../../src/channel/Channels.ts"
import { ConfigSource } from "../../src/config/ConfigSource.ts"
import type { SettingsInput } from "../../src/config/Settings.ts"
import { Hearing, TranscriptionError } from "../../src/audio/Transcriber.ts"
import * as GifSearch from "../../src/gif/GifSearch.ts"
import * as Outbound from "../../src/http/Outbound.ts"
import * as Ids from "../../src/Ids.ts"
import { FsSearch } from "../../src/search/FileSearch.ts"
import * as Entry from "../../src/thread/Entry.ts"
import { Grants } from "../../src/tool/Capability.ts"
import { ToolCalls } from "../../src/tool/ToolCalls.ts"
import * as TurnFiles from "../../src/tools/file/TurnFiles.ts"
import * as Vault from "../../src/vault/Vault.ts"
import * as MemoryFiles from "../file/MemoryFiles.ts"
import * as ToolLaws from "../laws/Tools.ts"
import * as Fixtures from "../tool/Fixtures.ts"
import * as TestProcess from "./execution/TestProcess.ts"
import * as TestHistory from "./TestHistory.ts"
import * as TestMemory from "./TestMemory.ts"

const everyTool = {
  tools: {
    wait: { enabled: true },
    apply_patch: { enabled: true },
    file_storage: { enabled: true },
    grep: { enabled: true },
    bash: { enabled: true },
    python_exec: { enabled: true },
    kv_memory: { enabled: true },
    http_client: { enabled: true },
    audio_transcription: { enabled: true },
    send_gif: { enabled: true }
  }
}

/** Files that are shown or sent go nowhere. */
const noTurn = Layer.effectDiscard(
  Effect.gen(function* () {
    const { register } = yield* Grants
    yield* register(TurnFiles.TurnContext, () => Effect.succeed({ insert: () => Effect.void }))
    yield* register(TurnFiles.Messaging, () =>
      Effect.succeed({
        takesFiles: Effect.succeed(true),
        send: () => Effect.void,
        sendLink: () => Effect.succeed(true)
      })
    )
  })
)

/** Nothing is ever found, by no program. */
const noSearch = Layer.effectDiscard(
  Grants.use((grants) =>
    grants.register(FsSearch, () =>
      Effect.succeed({
        search: ({ path }) =>
          Effect.succeed({
            place: { relative: path, absolute: `/memory/${path}` },
            matches: [],
            scanned: 0,
            skipped: [],
            stopped: undefined,
            cutLines: 0
          })
      })
    )
  )
)

const noNetwork = Layer.effectDiscard(
  Grants.use((grants) =>
    grants.register(Outbound.Network, () =>
      Effect.succeed({
        send: () => Effect.fail(new Outbound.OutboundError({ reason: "connection_failed", host: "" }))
      })
    )
  )
)

/** Nothing is heard, and no picture is found. */
const noServices = Layer.effectDiscard(
  Effect.gen(function* () {
    const { register } = yield* Grants
    yield* register(Hearing, () =>
      Effect.succeed({ transcribe: () => Effect.fail(new TranscriptionError({ reason: "not_configured" })) })
    )
    const none = Effect.fail(new GifSearch.GifError({ reason: "not_configured" }))
    yield* register(GifSearch.Gifs, () => Effect.succeed({ find: () => none, fetch: () => none }))
  })
)

const vault = Vault.fromSecrets(new Map([["door", Redacted.make("zq-secret-of-the-door")]]))

const tools = (settings: SettingsInput = everyTool) =>
  Layer.mergeAll(
    Tools.layer,
    TestHistory.layer(7, 50),
    MemoryFiles.grants,
    noTurn,
    TestMemory.layer(),
    TestProcess.layer(() => Effect.succeed(TestProcess.finished("said"))),
    noSearch,
    noNetwork,
    noServices
  ).pipe(
    Layer.provideMerge(Layer.succeed(ConfigSource, { _tag: "File", path: "/etc/troupe/config.toml" })),
    Layer.provideMerge(Layer.succeed(Vault.Vault, settings === everyTool ? vault : Vault.none)),
    Layer.provideMerge(Fixtures.pipeline(settings))
  )

ToolLaws.laws("the runtime", tools())

const call = (name: string, parameters: unknown) =>
  Effect.flatMap(Fixtures.startTurn(), (turn) => Fixtures.callTool(turn, name, parameters))

describe("which tools are offered", () => {
  const names = Effect.map(Fixtures.startTurn(), (turn) => turn.offers.map((offer) => offer.name))

  it.effect("by default: all but wait, and how to answer comes first", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* names, [
        "pre_response",
        "chat_history_info",
        "chat_history_trim",
        "get_settings",
        "read_docs",
        "current_datetime",
        "calculate_expression"
      ])
    }).pipe(Effect.provide(tools({})))
  )

  it.effect("the settings say", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* names, [
        "pre_response",
        "chat_history_info",
        "chat_history_trim",
        "get_settings",
        "read_docs",
        "wait"
      ])
    }).pipe(
      Effect.provide(
        tools({ tools: { wait: { enabled: true }, time: { enabled: false }, calculator: { enabled: false } } })
      )
    )
  )

  it.effect("a policy takes away all but pre_response", () =>
    Effect.gen(function* () {
      const turn = yield* Fixtures.startTurn({ allow: [], deny: ["*"] })
      assert.deepStrictEqual(
        turn.offers.map((offer) => offer.name),
        ["pre_response"]
      )
    }).pipe(Effect.provide(tools({})))
  )
})

describe("current_datetime", () => {
  it.effect("tells the time in UTC, in the configured format or another", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(DateTime.toEpochMillis(DateTime.makeUnsafe("2024-02-29T13:05:09.078Z")))
      assert.deepStrictEqual((yield* call("current_datetime", {})).data, { timestamp: "2024-02-29T13:05:09Z" })
      assert.deepStrictEqual((yield* call("datetime_now", { format: "%A, %-d %B" })).data, {
        timestamp: "Thursday, 29 February"
      })
      const failed = yield* call("current_datetime", { format: "%Q" })
      assert.strictEqual(failed.errorCode, "time:unknown_directive")
      assert.include(failed.text, "%Q")
    }).pipe(Effect.provide(tools()))
  )
})

describe("wait", () => {
  it.effect("waits as long as asked, and no longer than allowed", () =>
    Effect.gen(function* () {
      const fiber = yield* Effect.forkChild(call("wait", { milliseconds: 60_000 }))
      yield* TestClock.adjust("29 seconds")
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual((yield* Fiber.join(fiber)).data, { slept_ms: 30_000, requested_ms: 60_000 })
    }).pipe(Effect.provide(tools()))
  )

  it.effect("takes whole numbers from 1", () =>
    Effect.gen(function* () {
      for (const milliseconds of [0, -1, 1.5, true, "5", null]) {
        assert.strictEqual((yield* call("wait", { milliseconds })).errorCode, "invalid_tool_arguments")
      }
    }).pipe(Effect.provide(tools()))
  )

  it.effect("stops at once when it is cancelled", () =>
    Effect.gen(function* () {
      const callId = yield* Ids.makeCallId
      const turn = yield* Fixtures.startTurn()
      const started = yield* Deferred.make<void>()
      const fiber = yield* Effect.forkChild(
        Effect.andThen(
          Deferred.succeed(started, undefined),
          Fixtures.callTool(turn, "wait", { milliseconds: 9 }, { callId })
        )
      )
      yield* Deferred.await(started)
      yield* TestClock.adjust(1)
      assert.isTrue(yield* (yield* ToolCalls).cancel(callId))
      assert.strictEqual((yield* Fiber.join(fiber)).outcome, "cancelled")
    }).pipe(Effect.provide(tools()))
  )
})

describe("calculate_expression", () => {
  it.effect("calculates, with as many digits as asked", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual((yield* call("calculator", { expression: "0.1 + 0.2" })).data, {
        expression: "0.1 + 0.2",
        result: "0.3",
        scale: 28
      })
      assert.deepInclude((yield* call("calculate_expression", { expression: "2/3", scale: 5 })).data, {
        result: "0.66667"
      })
    }).pipe(Effect.provide(tools()))
  )

  it.effect("has a code for each way to fail", () =>
    Effect.gen(function* () {
      const failures = {
        "": "empty",
        "1 / 0": "division_by_zero",
        "(1": "unbalanced_parentheses",
        "1 + x": "illegal_character",
        "9**9**9": "exponent_too_large"
      }
      for (const [expression, reason] of Object.entries(failures)) {
        assert.strictEqual((yield* call("calculate_expression", { expression })).errorCode, `calculator:${reason}`)
      }
      for (const scale of [0, 1001, 1e9]) {
        assert.strictEqual((yield* call("calculate_expression", { expression: "1", scale })).outcome, "invalid")
      }
    }).pipe(Effect.provide(tools()))
  )
})

describe("chat history", () => {
  it.effect("is counted and trimmed", () =>
    Effect.gen(function* () {
      const turn = yield* Fixtures.startTurn()
      assert.deepStrictEqual((yield* Fixtures.callTool(turn, "chat_history_info", {})).data, {
        session_id: "phone:main",
        total_messages: 7,
        summarised: false,
        max_history_messages: 50
      })
      const trim = (keep_latest: unknown) => Fixtures.callTool(turn, "chat_history_trim", { keep_latest })
      assert.deepStrictEqual((yield* trim(3)).data, {
        session_id: "phone:main",
        keep_latest: 3,
        removed_messages: 4,
        remaining_messages: 3,
        max_history_messages: 50
      })
      assert.deepInclude((yield* trim(3)).data, { removed_messages: 0, remaining_messages: 3 })
      assert.deepInclude((yield* trim(0)).data, { remaining_messages: 0 })
      for (const wrong of [-1, true, undefined, "2"]) assert.strictEqual((yield* trim(wrong)).outcome, "invalid")
    }).pipe(Effect.provide(tools()))
  )
})

describe("pre_response", () => {
  it.effect("echoes the declaration as the format of an answer", () =>
    Effect.gen(function* () {
      const channels = yield* Channels
      yield* channels.register({ name: "post", capabilities: { approval: false, formatting: ["text"], files: true } })
      const turn = yield* Fixtures.startTurn(Fixtures.everything, "post")
      const withFile = {
        kind: "markdown",
        meta: { disable_link_preview: true },
        attachments: [{ path: "a.png", type: "image", caption: null }]
      }
      assert.strictEqual((yield* call("pre_response", withFile)).errorCode, "channel:files_not_taken")
      const { data } = yield* Fixtures.callTool(turn, "pre_response", withFile)
      assert.deepStrictEqual(yield* Schema.decodeUnknownEffect(Entry.AnswerFormat)(data), {
        kind: "markdown",
        disableLinkPreview: true,
        attachments: [{ path: "a.png", type: "image" }]
      })
      assert.deepStrictEqual((yield* call("pre_response", { kind: "text", meta: null, attachments: null })).data, {
        kind: "text"
      })
      assert.strictEqual((yield* call("pre_response", { kind: "pdf" })).outcome, "invalid")
    }).pipe(Effect.provide(tools()))
  )
})

describe("get_settings", () => {
  it.effect("tells what is on and leaves out what is off", () =>
    Effect.gen(function* () {
      const { data } = yield* call("get_settings", {})
      assert.deepInclude(data, {
        config_path: "/etc/troupe/config.toml",
        channels: ["phone"],
        memory: { max_history_messages: null, max_history_tokens: null },
        llm: { provider: "offline", model: "", prompts_dir: "./prompts" }
      })
      assert.notInclude(JSON.stringify(data), '"wait":')
      assert.notInclude(JSON.stringify(data), '"approval":')
    }).pipe(Effect.provide(tools({})))
  )

  it.effect("never tells a secret, an address or a header, wherever they stand", () =>
    Effect.gen(function* () {
      const { text } = yield* call("get_settings", {})
      assert.include(text, "acme")
      assert.notInclude(text.toLowerCase(), "canary")
      assert.notInclude(text, "://")
    }).pipe(
      Effect.provide(
        tools({
          providers: {
            acme: {
              api_key: "canary-key",
              base_url: "https://canary.example/v1",
              headers: { "X-Canary": "canary-header" }
            }
          },
          llm: { provider: "acme", model: "m", system_prompt: "canary prompt", system_prompt_file: "canary.md" },
          http: { auth_token: "canary-token-0123456789abcdef0123456789abcdef" },
          storage: { data_dir: "/canary" }
        })
      )
    )
  )
})
