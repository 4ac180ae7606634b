/** The laws of transcribers, over each engine with what is real of it on this machine, and over the layer for tests. */
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Live from "../../layers/audio/Transcriber.ts"
import { Settings } from "../../src/config/Settings.ts"
import type { SettingsInput } from "../../src/config/Settings.ts"
import * as ScriptedTranscriber from "../../src/testing/ScriptedTranscriber.ts"
import * as Laws from "../laws/Transcribers.ts"
import * as SpeechServer from "./SpeechServer.ts"
import { library } from "./LocalLibrary.ts"
import * as Surroundings from "./Surroundings.ts"
import * as TinyModel from "./TinyModel.ts"

type AudioSettings = NonNullable<NonNullable<SettingsInput["tools"]>["audio_transcription"]>

const live = (engine: AudioSettings) =>
  Live.layer.pipe(
    Layer.provide(Layer.orDie(Surroundings.layer())),
    Layer.provide(
      Layer.orDie(
        Settings.layer({
          tools: {
            audio_transcription: {
              max_bytes: `${Laws.limits.maxBytes}B`,
              max_duration_seconds: Laws.limits.longest,
              ...engine
            }
          }
        })
      )
    )
  )

type Speaks = "server_url" | "api_url"

/** A server on loopback; one whose answer is undefined never gives any. */
const server = (speaks: Speaks, answer: ((asked: SpeechServer.Asked) => SpeechServer.Answer) | undefined) =>
  Effect.gen(function* () {
    const kept = yield* SpeechServer.keep(answer ?? (() => SpeechServer.never))
    return { layer: live({ [speaks]: kept.url(speaks === "api_url" ? "/v1" : "/") }), asked: () => kept.asked.length }
  })

const whisper = ({ fields }: SpeechServer.Asked): SpeechServer.Answer => ({
  body: SpeechServer.whisperReply("Good morning.", fields["translate"] === "true" ? "translate" : "transcribe")
})

Laws.laws("a whisper.cpp server", { working: server("server_url", whisper), slow: server("server_url", undefined) })
Laws.laws("a server of OpenAI's protocol", {
  working: server("api_url", () => ({ body: SpeechServer.openaiReply("Good morning.") })),
  slow: server("api_url", undefined)
})

/** Loading the model alone takes longer than a slow one may. */
const local = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => {
      const models = fs.mkdtempSync(path.join(os.tmpdir(), "troupe-models-"))
      fs.writeFileSync(path.join(models, "ggml-tiny-q8_0.bin"), TinyModel.make())
      return models
    }),
    (models) => Effect.sync(() => fs.rmSync(models, { recursive: true }))
  ),
  (models_dir) => ({ layer: live({ models_dir, model: "tiny" }) })
)
Laws.laws("the engine on this machine", { working: local, slow: local, need: library })

const scripted = (hear: ScriptedTranscriber.Options["hear"]) => {
  let count = 0
  const counting: typeof hear = (recording) =>
    Effect.andThen(
      Effect.sync(() => count++),
      hear(recording)
    )
  return Effect.succeed({ layer: ScriptedTranscriber.layer({ ...Laws.limits, hear: counting }), asked: () => count })
}
Laws.laws("the layer for tests", {
  working: Effect.suspend(() => scripted(() => Effect.succeed("Good morning."))),
  slow: Effect.suspend(() => scripted(() => Effect.never))
})
