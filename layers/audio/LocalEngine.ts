/**
 * whisper.cpp on this machine, in a child process for each recording: its memory goes with it, and it is killed when its time is up.
 * The library is an optional dependency, and model files are brought by a person: what is missing is named.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as Schema from "effect/Schema"
import type * as AudioFormat from "../../src/audio/AudioFormat.ts"
import * as Contract from "../../src/audio/Transcriber.ts"
import { Environment } from "../../src/config/Environment.ts"
import type { SettingsValue } from "../../src/config/Settings.ts"
import * as OutputText from "../../src/process/OutputText.ts"
import { ProcessRunner } from "../../src/process/ProcessRunner.ts"
import type * as Runner from "../../src/process/ProcessRunner.ts"
import { packageRoot } from "../config/PackageRoot.ts"
import type { Engine, Job } from "./Engine.ts"

type Settings = SettingsValue["tools"]["audio_transcription"]

/** Formats that the library reads by itself; ffmpeg makes WAV of the others. */
const readable: ReadonlySet<AudioFormat.Format> = new Set(["wav", "mp3", "flac"])

/** An hour of speech with its segments has about a tenth of this. */
const mostOutput = 4 * 1024 * 1024
const mostOfDecoder = 16_384
const terminateGrace = "200 millis"

const Answer = Schema.fromJsonString(
  Schema.Union([
    Schema.Struct({
      text: Schema.String,
      language: Schema.NullOr(Schema.String),
      segments: Schema.Array(Contract.Segment)
    }),
    Schema.Struct({ failed: Schema.Literals(["engine_missing", "engine_failed"]) })
  ])
)

export const make = Effect.fnUntraced(function* (settings: Settings, folder: string) {
  const files = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  const runner = yield* ProcessRunner
  const environment = yield* Environment
  const { compute_type: computeType, model } = settings
  const longest = Duration.toSeconds(settings.max_duration_seconds)
  const gpu = settings.device === "cuda"
  const library = `@fugood/node-whisper-${process.platform}-${process.arch}${gpu ? "-cuda" : ""}`
  const name = `ggml-${model}${computeType === "int8" ? "-q8_0" : ""}.bin`

  const modelFile = Effect.gen(function* () {
    if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(model))
      return yield* fail("model_missing", "no file can be called after model")
    const path = paths.resolve(folder, name)
    const found = yield* Effect.option(files.stat(path))
    return found._tag === "Some" && found.value.type === "File"
      ? path
      : yield* fail("model_missing", `expected ${name}`)
  })

  /** Only where programs and libraries are looked for: nothing of the daemon's own reaches them. */
  const env = Effect.map(
    Effect.forEach(["PATH", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES"], (variable) =>
      Effect.map(environment.get(variable), (value) => [variable, Option.getOrUndefined(value)] as const)
    ),
    (all) => Object.fromEntries(all.flatMap(([variable, value]) => (value === undefined ? [] : [[variable, value]])))
  )

  const run = (command: Omit<Runner.Command, "env" | "limits">, job: Job, maxOutputBytes: number) =>
    Effect.flatMap(env, (variables) =>
      runner.run({ ...command, env: variables, limits: { timeout: job.timeout, maxOutputBytes, terminateGrace } })
    )

  /** The recording as a file that the library reads. */
  const asFile = Effect.fnUntraced(function* (job: Job, directory: string) {
    const file = paths.join(directory, `recording.${job.format.format}`)
    yield* files.writeFile(file, job.content, { mode: 0o600 })
    if (readable.has(job.format.format)) return file
    const decoded = paths.join(directory, "decoded.wav")
    // One second more than may be, so that a longer one is known, and no more is written.
    const args = [...quiet, "-i", file, "-t", String(longest + 1), ...asWav, decoded]
    const ended = yield* Effect.catchTag(
      run({ program: "ffmpeg", args, cwd: directory }, job, mostOfDecoder),
      "StartFailed",
      () => fail("decoder_missing", `this one is ${job.format.format}`)
    )
    if (ended.cause !== "exited") return yield* fail("timeout")
    if (!succeeded(ended)) return yield* fail("unsupported_format", "ffmpeg could not read it")
    const seconds = Number((yield* files.stat(decoded)).size) / bytesPerSecond
    if (seconds > longest + 0.5) return yield* fail("too_long", `more than ${longest} seconds when it is decoded`)
    return decoded
  })

  const transcribe = Effect.fnUntraced(
    function* (job: Job) {
      const path = yield* modelFile
      const directory = yield* files.makeTempDirectoryScoped({ prefix: "troupe-audio-" })
      const file = yield* asFile(job, directory)
      const asked = {
        package: library,
        model: path,
        file,
        language: job.language ?? "auto",
        translate: job.task === "translate",
        gpu
      }
      const args = [paths.join(packageRoot, "layers", "audio", "engine.js"), JSON.stringify(asked)]
      const ended = yield* run({ program: process.execPath, args, cwd: directory }, job, mostOutput)
      if (ended.cause !== "exited") return yield* fail("timeout")
      const said = OutputText.decode(ended.stdout).trimEnd().split("\n").at(-1) ?? ""
      const found = Schema.decodeOption(Answer)(said)
      if (found._tag === "None") return yield* fail("engine_failed", endOf(ended))
      if ("failed" in found.value) {
        return yield* found.value.failed === "engine_missing"
          ? fail("engine_missing", `npm install ${library}`)
          : fail("engine_failed", `with ${name}`)
      }
      const { language, segments, text } = found.value
      return {
        text,
        task: job.task,
        language,
        languageProbability: null,
        durationSeconds: job.format.seconds ?? null,
        segments,
        engine: "local" as const,
        model,
        device: gpu ? "cuda" : "cpu",
        computeType
      }
    },
    Effect.scoped,
    Effect.catchTags({
      StartFailed: ({ message }) => fail("engine_failed", message),
      PlatformError: () => fail("engine_failed", "its files could not be written")
    })
  )

  const engine: Engine = { name: "local", run: transcribe }
  return engine
})

const fail = (reason: Contract.Reason, detail?: string): Effect.Effect<never, Contract.TranscriptionError> =>
  Effect.fail(new Contract.TranscriptionError({ reason, ...(detail === undefined ? {} : { detail }) }))

const quiet = ["-nostdin", "-hide_banner", "-loglevel", "error", "-protocol_whitelist", "file,pipe"]
/** Of what ffmpeg writes. */
const bytesPerSecond = 32_000
const asWav = ["-vn", "-ac", "1", "-ar", "16000", "-c:a", "pcm_s16le", "-f", "wav"]

const succeeded = ({ exit }: Runner.Ended): boolean => exit._tag === "code" && exit.code === 0

const endOf = ({ exit }: Runner.Ended): string =>
  exit._tag === "signal" ? `it ended with ${exit.signal}` : "it ended without an answer"
