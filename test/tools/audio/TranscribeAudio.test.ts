import { assert, describe, it } from "@effect/vitest"
import * as fs from "node:fs"
import * as path from "node:path"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Transcriber from "../../../layers/audio/Transcriber.ts"
import * as TranscribeAudioLive from "../../../layers/tools/audio/TranscribeAudio.ts"
import * as Texts from "../../../layers/tools/file/Texts.ts"
import type { SettingsInput } from "../../../src/config/Settings.ts"
import { DataDirectory } from "../../../src/storage/DataDirectory.ts"
import { ToolCalls } from "../../../src/tool/ToolCalls.ts"
import * as Recogniser from "../../audio/Recogniser.ts"
import * as Speech from "../../audio/Speech.ts"
import * as SpeechServer from "../../audio/SpeechServer.ts"
import * as Surroundings from "../../audio/Surroundings.ts"
import * as Needs from "../../rigs/Needs.ts"
import * as Fixtures from "../../tool/Fixtures.ts"

type Tools = NonNullable<SettingsInput["tools"]>

const world = (audio_transcription: Tools["audio_transcription"], more: Tools = {}) =>
  Layer.merge(TranscribeAudioLive.layer, Texts.layer).pipe(
    Layer.provideMerge(Transcriber.grant),
    Layer.provideMerge(Layer.provide(Transcriber.layer, Surroundings.layer())),
    Layer.provideMerge(
      Fixtures.pipeline({
        tools: {
          file_storage: { enabled: true },
          audio_transcription: { enabled: true, ...audio_transcription },
          ...more
        }
      })
    )
  )

const put = (name: string, content: string | Uint8Array) =>
  Effect.map(DataDirectory, (directory) => {
    const at = path.join(directory.file("files"), name)
    fs.mkdirSync(path.dirname(at), { recursive: true })
    fs.writeFileSync(at, content)
  })

const call = (parameters: object) =>
  Effect.flatMap(Fixtures.startTurn(), (turn) => Fixtures.callTool(turn, "transcribe_audio", parameters))

const offered = Effect.map(Fixtures.startTurn(), ({ offers }) => offers.map(({ name }) => name))

describe("transcribe_audio", () => {
  for (const format of ["wav", "ogg", "mp3", "m4a"] as const) {
    const need = Speech.pocketsphinx.missing ? Speech.pocketsphinx : Speech.ffmpeg
    it.live.skipIf(need.missing)(Needs.titled(need, `hears what is said in ${format}`), () =>
      Effect.gen(function* () {
        const server = yield* SpeechServer.keep(({ content }) => ({
          body: SpeechServer.whisperReply(Recogniser.hear(content))
        }))
        yield* Effect.gen(function* () {
          for (const words of ["please open the window", "kindly repair the radio"]) {
            yield* put(`said/it.${format}`, Speech.convert(Speech.say(words), format))
            const { data, status, text } = yield* call({ path: `said/it.${format}` })
            assert.strictEqual(status, "success", text)
            assert.deepInclude(data, { ok: true, path: `said/it.${format}`, text: words, language: "english" })
          }
        }).pipe(Effect.provide(world({ server_url: server.url() })))
      }).pipe(Effect.scoped)
    )
  }

  it.live("gives where the file is, what was said and when, and what did it", () =>
    Effect.gen(function* () {
      const server = yield* SpeechServer.keep(() => ({ body: SpeechServer.whisperReply("Hello.", "translate") }))
      yield* Effect.gen(function* () {
        yield* put("a.wav", Speech.silence(3))
        const { data } = yield* call({ path: "a.wav", language: "de", task: "translate" })
        assert.deepInclude(data, {
          ok: true,
          path: "a.wav",
          path_relative: "a.wav",
          path_scope: "inside_root",
          text: "Hello.",
          task: "translate",
          language: "english",
          language_probability: 0.97,
          duration_seconds: 3.25,
          segments: [{ start: 0, end: 3.25, text: "Hello." }],
          segment_count: 1,
          engine: "whisper_server",
          model: null,
          device: null,
          compute_type: null
        })
      }).pipe(Effect.provide(world({ server_url: server.url("/inference") })))
    }).pipe(Effect.scoped)
  )

  it.live("keeps a long text in a file, and the first segments", () =>
    Effect.gen(function* () {
      const words = "All work and no play makes a dull day. "
      const segments = Array.from({ length: 3000 }, (_, at) => ({ start: at, end: at + 1, text: words }))
      const server = yield* SpeechServer.keep(() => ({ body: JSON.stringify({ text: words.repeat(3000), segments }) }))
      yield* Effect.gen(function* () {
        yield* put("long.wav", Speech.silence(3))
        const { data, text } = yield* call({ path: "long.wav" })
        assert.deepInclude(data, { ok: true, segment_count: 3000 })
        assert.isBelow(text.length, 40_000)
        assert.include(text, "2800 more segments are in the text only.")
        const [, file = ""] = /"([^"]*transcribe_audio[^"]*\.txt)"/.exec(JSON.stringify(data)) ?? []
        const directory = yield* DataDirectory
        assert.include(fs.readFileSync(path.resolve(directory.file("files"), file), "utf8"), words.repeat(3000).trim())
      }).pipe(Effect.provide(world({ server_url: server.url() }, { tool_output_spill: { enabled: true } })))
    }).pipe(Effect.scoped)
  )

  it.live("gives no segment that is as long as all", () =>
    Effect.gen(function* () {
      const segments = [
        { start: 0, end: 1, text: "Hello." },
        { start: 1, end: 2, text: "x".repeat(100_000) }
      ]
      const server = yield* SpeechServer.keep(() => ({
        body: JSON.stringify({ text: "Hello.", language: "y".repeat(100_000), segments })
      }))
      yield* Effect.gen(function* () {
        yield* put("a.wav", Speech.silence(1))
        const { data, text } = yield* call({ path: "a.wav" })
        assert.deepInclude(data, { segments: [{ start: 0, end: 1, text: "Hello." }], segment_count: 2 })
        assert.isBelow(text.length, 2000)
      }).pipe(Effect.provide(world({ server_url: server.url() })))
    }).pipe(Effect.scoped)
  )

  it.live("says that nothing was heard, and refuses what is no recording, is too large, or is not there", () =>
    Effect.gen(function* () {
      const server = yield* SpeechServer.keep(() => ({ body: `{"text":" \\n"}` }))
      yield* Effect.gen(function* () {
        yield* put("a.wav", Speech.silence(1))
        yield* put("b.wav", "this is no sound")
        yield* put("c.wav", Speech.silence(5))
        assert.deepInclude((yield* call({ path: "a.wav" })).data, { text: "", notice: "No speech was heard." })
        const code = (parameters: object) => Effect.map(call(parameters), ({ errorCode }) => errorCode)
        assert.strictEqual(yield* code({ path: "b.wav" }), "audio:unsupported_format")
        assert.strictEqual(yield* code({ path: "c.wav" }), "audio:too_large")
        assert.strictEqual(yield* code({ path: "d.wav" }), "file:file_not_found")
        assert.strictEqual(yield* code({ path: "../a.wav" }), "file:outside_root")
        assert.strictEqual((yield* call({ path: "a.wav", task: "sing" })).outcome, "invalid")
        assert.strictEqual((yield* call({ path: "a.wav", language: 'en"\r\nx: y' })).outcome, "invalid")
        assert.lengthOf(server.asked, 1)
      }).pipe(Effect.provide(world({ server_url: server.url(), max_bytes: 20_000 })))
    }).pipe(Effect.scoped)
  )

  it.live("is offered where both of its sections are on, and may run again after a restart", () =>
    Effect.gen(function* () {
      assert.include(yield* Effect.provide(offered, world({})), "transcribe_audio")
      assert.notInclude(yield* Effect.provide(offered, world({ enabled: false })), "transcribe_audio")
      const noFiles = world({}, { file_storage: { enabled: false } })
      assert.notInclude(yield* Effect.provide(offered, noFiles), "transcribe_audio")
      const replay = ToolCalls.use((calls) => calls.replay({ name: "transcribe_audio", arguments: `{"path":"a.wav"}` }))
      assert.strictEqual(yield* Effect.provide(replay, world({})), "safe")
    }).pipe(Effect.scoped)
  )
})
