/** The audio service: judges recordings, has the engine of the settings transcribe them, and counts. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import type * as Path from "effect/Path"
import * as Semaphore from "effect/Semaphore"
import * as AudioMetrics from "../../src/audio/AudioMetrics.ts"
import * as Judgement from "../../src/audio/Judgement.ts"
import * as Contract from "../../src/audio/Transcriber.ts"
import * as AwakeTime from "../../src/AwakeTime.ts"
import type { Environment } from "../../src/config/Environment.ts"
import { Settings } from "../../src/config/Settings.ts"
import { Outbound } from "../../src/http/Outbound.ts"
import type { ProcessRunner } from "../../src/process/ProcessRunner.ts"
import { Grants } from "../../src/tool/Capability.ts"
import type { Engine } from "./Engine.ts"
import * as LocalEngine from "./LocalEngine.ts"
import * as Servers from "./Servers.ts"

type Needs = Settings | Outbound | ProcessRunner | Environment | FileSystem.FileSystem | Path.Path

export const layer: Layer.Layer<Contract.Transcriber, never, Needs> = Layer.effect(
  Contract.Transcriber,
  Effect.gen(function* () {
    const { tools } = yield* Settings
    const outbound = yield* Outbound
    const settings = tools.audio_transcription
    const lanes = yield* Semaphore.make(settings.concurrency)

    const engine: Engine | undefined =
      settings.server_url !== undefined
        ? Servers.whisper(outbound, settings.server_url, settings)
        : settings.api_url !== undefined
          ? Servers.openai(outbound, settings.api_url, settings)
          : settings.models_dir !== undefined
            ? yield* LocalEngine.make(settings, settings.models_dir)
            : undefined

    const limits = { maxBytes: settings.max_bytes, longest: Duration.toSeconds(settings.max_duration_seconds) }

    const work = Effect.fnUntraced(function* (recording: Contract.Recording) {
      if (engine === undefined) return yield* fail("not_configured")
      const format = yield* Effect.fromResult(Judgement.of(recording.content, limits))
      const timeout = Duration.min(recording.timeout ?? settings.timeout_seconds, settings.timeout_seconds)
      yield* Effect.annotateCurrentSpan({ "audio.engine": engine.name, "audio.format": format.format })
      const { content, language, task = "transcribe" } = recording
      const [took, found] = yield* engine.run({ content, format, language, task, timeout }).pipe(
        Effect.timed,
        lanes.withPermits(1),
        // Waiting for the others counts: whoever waits for this one does not care why.
        AwakeTime.timeoutOrElse({ duration: timeout, orElse: () => fail("timeout") })
      )
      const length = found.durationSeconds ?? format.seconds ?? null
      yield* Effect.all(AudioMetrics.transcribed(engine.name, took, length), { discard: true })
      return { ...found, durationSeconds: length }
    })

    return Contract.Transcriber.of({
      transcribe: Effect.fn("Transcriber.transcribe")(
        work,
        Effect.tapError(({ reason }) => AudioMetrics.failed(engine?.name ?? "none", reason))
      )
    })
  })
)

/** Lets every turn have recordings transcribed; which tools of it may is for their declarations. */
export const grant: Layer.Layer<never, never, Contract.Transcriber | Grants> = Layer.effectDiscard(
  Effect.gen(function* () {
    const transcriber = yield* Contract.Transcriber
    yield* (yield* Grants).register(Contract.Hearing, () => Effect.succeed(transcriber))
  })
)

const fail = (reason: Contract.Reason, detail?: string): Effect.Effect<never, Contract.TranscriptionError> =>
  Effect.fail(new Contract.TranscriptionError({ reason, ...(detail === undefined ? {} : { detail }) }))
