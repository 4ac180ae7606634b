import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Live from "../../layers/audio/Transcriber.ts"
import * as Contract from "../../src/audio/Transcriber.ts"
import { Settings } from "../../src/config/Settings.ts"
import type { SettingsInput } from "../../src/config/Settings.ts"
import * as NetworkZoo from "../rigs/NetworkZoo.ts"
import * as Speech from "./Speech.ts"
import * as SpeechServer from "./SpeechServer.ts"
import * as Surroundings from "./Surroundings.ts"

type AudioSettings = NonNullable<NonNullable<SettingsInput["tools"]>["audio_transcription"]>

const secret = "sk-speech-0123456789abcdef"

/** The service over these settings, and the way out as it is by default: closed to this machine. */
const world = (audio_transcription: AudioSettings) =>
  Live.layer.pipe(
    Layer.provide(Surroundings.layer(secret)),
    Layer.provide(Layer.orDie(Settings.layer({ tools: { audio_transcription } })))
  )

const transcribe = (recording: Partial<Contract.Recording> = {}) =>
  Contract.Transcriber.use(({ transcribe }) => transcribe({ content: Speech.silence(1), ...recording }))

const failing = (settings: AudioSettings, recording: Partial<Contract.Recording> = {}) =>
  Effect.provide(Effect.flip(transcribe(recording)), world(settings))

describe("a whisper.cpp server", () => {
  it.live("is sent the recording and what is wanted of it", () =>
    Effect.gen(function* () {
      const server = yield* SpeechServer.keep(({ fields }) => ({
        body: SpeechServer.whisperReply(
          "Turn on the light.",
          fields["translate"] === "true" ? "translate" : "transcribe"
        )
      }))
      const recording = Speech.silence(3.25)
      const found = yield* Effect.provide(
        transcribe({ content: recording }),
        world({ server_url: server.url(), beam_size: 3 })
      )
      assert.deepStrictEqual(found, {
        text: "Turn on the light.",
        task: "transcribe",
        language: "english",
        languageProbability: 0.97,
        durationSeconds: 3.25,
        segments: [{ start: 0, end: 3.25, text: "Turn on the light." }],
        engine: "whisper_server",
        model: null,
        device: null,
        computeType: null
      })
      const [asked] = server.asked
      assert.strictEqual(asked?.path, "/inference")
      assert.deepStrictEqual(asked?.content, recording)
      assert.deepInclude(asked?.fields, {
        response_format: "verbose_json",
        language: "auto",
        translate: "false",
        beam_size: "3"
      })
      assert.deepStrictEqual([asked?.fileName, asked?.fileType], ["audio.wav", "audio/wav"])
      assert.isUndefined(asked?.authorization)
      yield* Effect.provide(
        transcribe({ task: "translate", language: "de" }),
        world({ server_url: server.url("/a/b") })
      )
      assert.deepInclude(server.asked[1], { path: "/a/b" })
      assert.deepInclude(server.asked[1]?.fields, { language: "de", translate: "true" })
    }).pipe(Effect.scoped)
  )

  it.live("that answers with an error and a status of success has failed", () =>
    Effect.gen(function* () {
      const server = yield* SpeechServer.keep(() => ({ body: `{"error":"failed to read audio data"}` }))
      const error = yield* failing({ server_url: server.url() })
      assert.strictEqual(error.reason, "rejected")
      assert.include(error.message, "failed to read audio data")
    }).pipe(Effect.scoped)
  )
})

describe("a server of OpenAI's protocol", () => {
  it.live("is sent the recording with the key and the model, to the address of the task", () =>
    Effect.gen(function* () {
      const server = yield* SpeechServer.keep(() => ({ body: SpeechServer.openaiReply("Turn on the light.") }))
      const settings = { api_url: server.url("/v1/"), api_key: secret, model: "whisper-1" }
      const found = yield* Effect.provide(transcribe({ language: "en" }), world(settings))
      assert.deepInclude(found, {
        text: "Turn on the light.",
        language: "english",
        engine: "openai",
        model: "whisper-1"
      })
      const [asked] = server.asked
      assert.strictEqual(asked?.path, "/v1/audio/transcriptions")
      assert.strictEqual(asked?.authorization, `Bearer ${secret}`)
      assert.deepStrictEqual(asked?.fields, { model: "whisper-1", response_format: "verbose_json", language: "en" })
      const english = yield* Effect.provide(transcribe({ task: "translate", language: "de" }), world(settings))
      assert.strictEqual(english.task, "translate")
      assert.strictEqual(server.asked[1]?.path, "/v1/audio/translations")
      // It is always into English, and the address takes no language.
      assert.notProperty(server.asked[1]?.fields, "language")
    }).pipe(Effect.scoped)
  )

  it.live("may give nothing but the text", () =>
    Effect.gen(function* () {
      const server = yield* SpeechServer.keep(() => ({ body: `{"text":"Hello."}` }))
      const settings = { api_url: server.url("/v1"), api_format: "json" }
      const found = yield* Effect.provide(transcribe({ content: Speech.silence(2) }), world(settings))
      assert.deepInclude(found, { text: "Hello.", language: null, segments: [], durationSeconds: 2 })
      assert.deepInclude(server.asked[0]?.fields, { response_format: "json" })
      assert.isUndefined(server.asked[0]?.authorization)
    }).pipe(Effect.scoped)
  )
})

describe("a recording", () => {
  it.live("is judged before anything is sent", () =>
    Effect.gen(function* () {
      const server = yield* SpeechServer.keep(() => ({ body: SpeechServer.whisperReply("x") }))
      const settings = { server_url: server.url(), max_bytes: 20_000, max_duration_seconds: 2 }
      const reason = (content: Uint8Array) => Effect.map(failing(settings, { content }), (error) => error.reason)
      assert.strictEqual(yield* reason(new Uint8Array(0)), "empty")
      assert.strictEqual(yield* reason(new TextEncoder().encode("no recording")), "unsupported_format")
      assert.strictEqual(yield* reason(Speech.silence(2.1)), "too_long")
      assert.strictEqual(yield* reason(Speech.silence(2.6)), "too_large")
      assert.isEmpty(server.asked)
    }).pipe(Effect.scoped)
  )

  it.live("is not transcribed where nothing is configured", () =>
    Effect.gen(function* () {
      const error = yield* failing({})
      assert.strictEqual(error.code, "audio:not_configured")
      assert.include(error.message, "server_url")
    })
  )
})

describe("a server without manners", () => {
  const statuses = [
    [401, "unauthorized"],
    [403, "unauthorized"],
    [400, "rejected"],
    [404, "rejected"],
    [307, "rejected"],
    [413, "rejected"],
    [429, "rate_limited"],
    [500, "server_failed"],
    [503, "server_failed"]
  ] as const
  for (const [status, reason] of statuses) {
    it.live(`that answers ${status}: ${reason}, and no word of the key`, () =>
      Effect.gen(function* () {
        const server = yield* SpeechServer.keep(({ authorization = "" }) => ({
          status,
          headers: { location: "http://127.0.0.1:9/", "retry-after": "7" },
          body: JSON.stringify({
            error: { message: `Wrong: ${authorization} ${"x".repeat(5000)}` }
          })
        }))
        const error = yield* failing({ api_url: server.url("/v1"), api_key: secret })
        assert.strictEqual(error.reason, reason)
        assert.notInclude(error.message + JSON.stringify(error), secret)
        assert.isBelow(error.message.length, 700)
        if (status === 429) assert.include(error.message, "in 7 seconds")
        assert.lengthOf(server.asked, 1)
      }).pipe(Effect.scoped)
    )
  }

  const bodies = [
    ["what is no JSON", "<html>It works!</html>", "text/html"],
    ["JSON of something else", `{"result":"x"}`, "application/json"],
    ["half of the JSON", SpeechServer.whisperReply("x").slice(0, 60), "application/json"],
    ["nothing", "", "application/json"]
  ] as const
  for (const [what, body, type] of bodies) {
    it.live(`that answers ${what}: invalid_reply`, () =>
      Effect.gen(function* () {
        const server = yield* SpeechServer.keep(() => ({ headers: { "content-type": type }, body }))
        const error = yield* failing({ server_url: server.url() })
        assert.strictEqual(error.reason, "invalid_reply")
        assert.include(error.message, type)
      }).pipe(Effect.scoped)
    )
  }

  it.live("that never stops talking is read to the limit", () =>
    Effect.gen(function* () {
      const server = yield* NetworkZoo.keep(({ socket }) => {
        socket.write("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n")
        NetworkZoo.pour(socket, " ".repeat(65_536))
      })
      assert.strictEqual((yield* failing({ server_url: server.url() })).reason, "invalid_reply")
      yield* server.deserted
    }).pipe(Effect.scoped)
  )

  it.live("that hangs up, or is not there: unreachable", () =>
    Effect.gen(function* () {
      const server = yield* NetworkZoo.keep(({ socket }) => socket.destroy())
      assert.strictEqual((yield* failing({ server_url: server.url() })).reason, "unreachable")
      const cut = yield* NetworkZoo.keep(({ socket }) =>
        socket.end(`HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n${SpeechServer.whisperReply("x")}`)
      )
      assert.strictEqual((yield* failing({ server_url: cut.url() })).reason, "unreachable")
    }).pipe(Effect.scoped)
  )

  it.live("that says nothing is not waited for, and one that is waited for no more is left", () =>
    Effect.gen(function* () {
      const server = yield* NetworkZoo.keep(() => {})
      const settings = { server_url: server.url(), timeout_seconds: 0.2 }
      assert.strictEqual((yield* failing(settings)).reason, "timeout")
      assert.strictEqual(
        (yield* failing({ server_url: server.url() }, { timeout: Duration.millis(200) })).reason,
        "timeout"
      )
      yield* server.deserted
      const other = yield* NetworkZoo.keep(() => {})
      const asking = yield* Effect.forkChild(Effect.provide(transcribe(), world({ server_url: other.url() })))
      yield* other.visited
      yield* Fiber.interrupt(asking)
      yield* other.deserted
    }).pipe(Effect.scoped)
  )
})

describe("what is counted", () => {
  it.live("is each recording, by engine and outcome", () =>
    Effect.gen(function* () {
      const server = yield* SpeechServer.keep(() => ({ body: SpeechServer.whisperReply("x") }))
      const count = Effect.map(Metric.snapshot, (all) =>
        all.flatMap((one) => (one.id === "troupe_transcriptions_total" ? [[one.attributes, one.state] as const] : []))
      )
      yield* Effect.provide(transcribe(), world({ server_url: server.url() }))
      yield* failing({ server_url: server.url() }, { content: new Uint8Array(0) })
      const seen = JSON.stringify(yield* count)
      assert.include(seen, '"engine":"whisper_server","outcome":"ok"')
      assert.include(seen, '"engine":"whisper_server","outcome":"empty"')
    }).pipe(Effect.scoped)
  )
})
