/** The engine on this machine. The model has weights of chance (`TinyModel.ts`): what it says means nothing, how it comes about does. */
import { assert, describe, it } from "@effect/vitest"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Live from "../../layers/audio/Transcriber.ts"
import * as Contract from "../../src/audio/Transcriber.ts"
import { Settings } from "../../src/config/Settings.ts"
import type { SettingsInput } from "../../src/config/Settings.ts"
import * as Needs from "../rigs/Needs.ts"
import * as Speech from "./Speech.ts"
import { library } from "./LocalLibrary.ts"
import * as Surroundings from "./Surroundings.ts"
import * as TinyModel from "./TinyModel.ts"

type AudioSettings = NonNullable<NonNullable<SettingsInput["tools"]>["audio_transcription"]>

const both: Needs.Need = library.missing ? library : Speech.ffmpeg

/** A folder with a model that works, in either kind of numbers, and one that is damaged. */
const folder = Effect.acquireRelease(
  Effect.sync(() => {
    const models = fs.mkdtempSync(path.join(os.tmpdir(), "troupe-models-"))
    const model = TinyModel.make()
    fs.writeFileSync(path.join(models, "ggml-tiny-q8_0.bin"), model)
    fs.writeFileSync(path.join(models, "ggml-cut.bin"), model.subarray(0, 4_000_000))
    fs.writeFileSync(path.join(models, "ggml-text.bin"), "This is no model.")
    fs.mkdirSync(path.join(models, "ggml-folder.bin"))
    return models
  }),
  (models) => Effect.sync(() => fs.rmSync(models, { recursive: true }))
)

const hearing = (
  settings: AudioSettings,
  recording: Partial<Contract.Recording> = {},
  environment?: Readonly<Record<string, string>>
) =>
  Effect.gen(function* () {
    const models_dir = yield* folder
    const settled = Layer.orDie(
      Settings.layer({ tools: { audio_transcription: { models_dir, model: "tiny", ...settings } } })
    )
    return yield* Contract.Transcriber.use(({ transcribe }) =>
      transcribe({ content: Speech.silence(1), language: "en", ...recording })
    ).pipe(Effect.provide(Live.layer.pipe(Layer.provide(Surroundings.layer("", environment)), Layer.provide(settled))))
  }).pipe(Effect.scoped)

const reasonOf = (...given: Parameters<typeof hearing>) =>
  Effect.map(Effect.flip(hearing(...given)), ({ reason }) => reason)

/** A whole inference on a busy machine. */
const patience = 120_000

describe("the engine on this machine", () => {
  it.live.skipIf(library.missing)(
    Needs.titled(library, "loads a model, hears a recording and says what it has heard, when, and with what"),
    () =>
      Effect.gen(function* () {
        const found = yield* hearing({})
        assert.deepInclude(found, {
          task: "transcribe",
          language: "en",
          languageProbability: null,
          durationSeconds: 1,
          engine: "local",
          model: "tiny",
          device: "cpu",
          computeType: "int8"
        })
        for (const { end, start } of found.segments) assert.isTrue(start >= 0 && end >= start && end <= 30)
      }),
    patience
  )

  it.live.skipIf(both.missing)(
    Needs.titled(both, "has ffmpeg read what the library does not, and finds out the language"),
    () =>
      Effect.gen(function* () {
        const found = yield* hearing({}, { content: Speech.convert(Speech.silence(2), "ogg"), language: undefined })
        assert.strictEqual(found.engine, "local")
        assert.match(found.language ?? "", /^[a-z]{2,3}$/)
      }),
    patience
  )

  it.live("names the file that is missing, and looks for nothing else", () =>
    Effect.gen(function* () {
      const missing = yield* Effect.flip(hearing({ model: "small" }))
      assert.strictEqual(missing.reason, "model_missing")
      assert.include(missing.message, "ggml-small-q8_0.bin")
      assert.include((yield* Effect.flip(hearing({ compute_type: "float16" }))).message, "ggml-tiny.bin")
      assert.strictEqual(yield* reasonOf({ model: "folder", compute_type: "float16" }), "model_missing")
      assert.strictEqual(yield* reasonOf({ model: "../../etc/passwd" }), "model_missing")
    })
  )

  for (const model of ["text", "cut"]) {
    it.live.skipIf(library.missing)(
      Needs.titled(
        library,
        `has failed with a model that is ${model === "cut" ? "cut off" : "none"}, and waits for nothing`
      ),
      () =>
        Effect.gen(function* () {
          assert.strictEqual(yield* reasonOf({ model, compute_type: "float16" }), "engine_failed")
        }),
      patience
    )
  }

  it.live("says what to install where the library is not there", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(hearing({ device: "cuda" }))
      assert.strictEqual(error.reason, "engine_missing")
      assert.include(error.message, `npm install @fugood/node-whisper-${process.platform}-${process.arch}-cuda`)
    })
  )

  it.live.skipIf(both.missing)(
    Needs.titled(both, "says that ffmpeg is missing, or that it could not read the recording"),
    () =>
      Effect.gen(function* () {
        const content = Speech.convert(Speech.silence(1), "ogg")
        assert.strictEqual(yield* reasonOf({}, { content }, { PATH: "/nowhere" }), "decoder_missing")
        // The beginning of a file is a recording by its content, and nothing can be made of it.
        assert.strictEqual(yield* reasonOf({}, { content: content.subarray(0, 60) }), "unsupported_format")
      })
  )

  it.live.skipIf(library.missing)(
    Needs.titled(library, "is killed when its time is up, and leaves no file behind"),
    () =>
      Effect.gen(function* () {
        const left = () => fs.readdirSync(os.tmpdir()).filter((name) => name.startsWith("troupe-audio-"))
        const before = left()
        assert.strictEqual(yield* reasonOf({}, { timeout: Duration.millis(30) }), "timeout")
        assert.deepStrictEqual(left(), before)
      })
  )
})
