/** Recordings that come with messages, through whole turns. */
import { assert, describe, it } from "@effect/vitest"
import type * as Prompt from "effect/ai/Prompt"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import * as TranscribeAudio from "../../layers/tools/audio/TranscribeAudio.ts"
import * as TestRuntime from "../../layers/testing/TestRuntime.ts"
import * as Contract from "../../src/audio/Transcriber.ts"
import { Conversations } from "../../src/conversation/Conversations.ts"
import type { SettingsInput } from "../../src/config/Settings.ts"
import * as Scripted from "../../src/testing/ScriptedModel.ts"
import { Grants } from "../../src/tool/Capability.ts"
import * as Speech from "./Speech.ts"

const { TestRuntime: Troupe } = TestRuntime

const voice = { name: "voice.wav", content: Speech.silence(3) }

const heard = (text: string): Contract.Transcription => ({
  text,
  task: "transcribe",
  language: "english",
  languageProbability: 0.9,
  durationSeconds: 3,
  segments: [],
  engine: "whisper_server",
  model: null,
  device: null,
  computeType: null
})

type Hear = Contract.TranscriberShape["transcribe"]

const layer = (
  hear: Hear,
  audio: NonNullable<SettingsInput["tools"]>["audio_transcription"] = {},
  more: Partial<SettingsInput> = {}
) =>
  TestRuntime.layer({
    scripts: () => [Scripted.text("done")],
    model: { images: true },
    tools: Layer.merge(
      TranscribeAudio.layer,
      Layer.effectDiscard(
        Grants.use((grants) => grants.register(Contract.Hearing, () => Effect.succeed({ transcribe: hear })))
      )
    ),
    settings: { tools: { file_storage: { enabled: true }, audio_transcription: { enabled: true, ...audio } }, ...more }
  })

const seen = Effect.map(
  Effect.flatMap(Scripted.ScriptedModel, (model) => model.requests),
  (all) =>
    (all.at(-1)?.prompt.content ?? [])
      .flatMap((message): ReadonlyArray<Prompt.Part | string> => (message.role === "user" ? message.content : []))
      .map((part) => (typeof part === "string" ? part : part.type === "text" ? part.text : part.type))
      .join("\n")
)

const says =
  (text: string): Hear =>
  () =>
    Effect.succeed(heard(text))
const fails: Hear = () =>
  Effect.fail(new Contract.TranscriptionError({ reason: "server_failed", detail: "status 500" }))

describe("a short recording of a message", () => {
  it.effect("is words before the model is asked, and is no file that it is shown", () =>
    Effect.gen(function* () {
      const { answer, entries } = yield* (yield* Troupe).say("hear this", { attachments: [voice] })
      assert.strictEqual(answer, "done")
      const entry = entries.find((one) => one._tag === "RecordingsHeard")
      assert.deepStrictEqual(entry?.heard, [{ index: 0, text: "Buy milk.", language: "english" }])
      const said = yield* seen
      assert.include(said, "[said by the person in voice.wav, to be taken as written]\nBuy milk.\n[end of what is said")
      assert.include(said, "[file voice.wav (audio/wav, 24044 bytes, 3 seconds), not shown here]")
      assert.match(said, /\[file voice\.wav is the managed file uploads\/temp\/voice-[0-9a-z]{16}\.wav\]/)
      assert.notMatch(said, /^file$/m)
    }).pipe(Effect.provide(layer(says("Buy milk."))))
  )

  it.effect("that cannot be transcribed is told, and the message is answered all the same", () =>
    Effect.gen(function* () {
      const { answer, entries, state } = yield* (yield* Troupe).say("hear this", { attachments: [voice] })
      assert.deepStrictEqual([answer, state], ["done", "answered"])
      const entry = entries.find((one) => one._tag === "RecordingsHeard")
      assert.strictEqual(entry?.heard[0]?.failure?.code, "audio:server_failed")
      assert.include(
        yield* seen,
        "[voice.wav could not be transcribed. The recording was not transcribed: the server failed"
      )
    }).pipe(Effect.provide(layer(fails)))
  )

  it.effect("is answered also when transcribing it ends in a defect", () =>
    Effect.gen(function* () {
      const { answer, entries } = yield* (yield* Troupe).say("hear this", { attachments: [voice] })
      assert.strictEqual(answer, "done")
      const entry = entries.find((one) => one._tag === "RecordingsHeard")
      assert.strictEqual(entry?.heard[0]?.failure?.code, "audio:defect")
    }).pipe(Effect.provide(layer(() => Effect.die("a bug"))))
  )

  it.effect("in which nobody speaks is told as that", () =>
    Effect.gen(function* () {
      yield* (yield* Troupe).say("hear this", { attachments: [voice] })
      assert.include(yield* seen, "[no speech was heard in voice.wav]")
    }).pipe(Effect.provide(layer(says(""))))
  )
})

describe("a recording is transcribed once", () => {
  let times = 0
  const counting: Hear = () => Effect.sync(() => heard(`time ${++times}`))

  it.effect("also over later turns, which still see the words", () =>
    Effect.gen(function* () {
      times = 0
      const troupe = yield* Troupe
      yield* troupe.say("hear this", { attachments: [voice, { name: "b.wav", content: Speech.silence(2) }] })
      assert.strictEqual(times, 2)
      yield* troupe.say("and now?")
      assert.strictEqual(times, 2)
      assert.include(yield* seen, "time 1")
    }).pipe(Effect.provide(layer(counting)))
  )
})

describe("a recording is left to the model", () => {
  const never: Hear = () => Effect.die("It was not to be transcribed.")
  const isLeft = Effect.gen(function* () {
    const { answer, entries } = yield* (yield* Troupe).say("hear this", { attachments: [voice] })
    assert.strictEqual(answer, "done")
    assert.isFalse(entries.some((entry) => entry._tag === "RecordingsHeard"))
    assert.include(yield* seen, "voice.wav (audio/wav, 24044 bytes, 3 seconds), not shown here")
  })

  it.effect("when it is longer than the settings say", () =>
    Effect.provide(isLeft, layer(never, { auto_transcribe_max_duration_seconds: 2.9 }))
  )

  it.effect("when the settings do not want it", () =>
    Effect.provide(isLeft, layer(never, { auto_transcribe_short_incoming: false }))
  )

  it.effect("when the agent does not have the tool", () =>
    Effect.provide(isLeft, layer(never, {}, { orchestration: { main_agent: { tools_deny: ["transcribe_audio"] } } }))
  )

  it.effect("when its length is not known", () =>
    Effect.gen(function* () {
      const cut = new Uint8Array(voice.content.subarray(0, 40))
      const { entries } = yield* (yield* Troupe).say("hear this", { attachments: [{ name: "cut.wav", content: cut }] })
      assert.isFalse(entries.some((entry) => entry._tag === "RecordingsHeard"))
    }).pipe(Effect.provide(layer(never)))
  )
})

describe("a turn that listens", () => {
  it.effect("is not held up for more than half of its time", () =>
    Effect.gen(function* () {
      const { answer, entries } = yield* (yield* Troupe).say("hear this", { attachments: [voice] })
      assert.strictEqual(answer, "done")
      assert.isTrue(entries.some((entry) => entry._tag === "RecordingsHeard"))
    }).pipe(
      Effect.provide(
        layer(
          ({ timeout }) => Effect.fail(new Contract.TranscriptionError({ reason: "timeout", detail: String(timeout) })),
          {},
          { runtime: { agent_timeout_seconds: 60 } }
        )
      )
    )
  )

  it.effect("is not held up for longer by many recordings, and hears each in its share", () => {
    const given: Array<number> = []
    /** Takes all of the time that it is given. */
    const hear: Hear = ({ timeout = Duration.infinity }) =>
      Effect.sync(() => given.push(Duration.toSeconds(timeout))).pipe(
        Effect.andThen(TestClock.adjust(timeout)),
        Effect.andThen(Effect.fail(new Contract.TranscriptionError({ reason: "timeout" })))
      )
    return Effect.gen(function* () {
      const attachments = [2, 3, 4, 5].map((seconds) => ({ ...voice, content: Speech.silence(seconds) }))
      const { state } = yield* (yield* Troupe).say("hear these", { attachments })
      assert.strictEqual(state, "answered")
      assert.lengthOf(given, 4)
      for (const seconds of given) assert.approximately(seconds, 30 / 4, 0.01)
    }).pipe(Effect.provide(layer(hear, { concurrency: 1 }, { runtime: { agent_timeout_seconds: 60 } })))
  })

  it.effect("can be stopped", () =>
    Effect.gen(function* () {
      const begun = yield* Deferred.make<void>()
      const ended = yield* Deferred.make<void>()
      const hear: Hear = () =>
        Deferred.succeed(begun, undefined).pipe(
          Effect.andThen(Effect.never),
          Effect.onInterrupt(() => Deferred.succeed(ended, undefined))
        )
      yield* Effect.gen(function* () {
        const troupe = yield* Troupe
        const message = yield* troupe.accept("hear this", { attachments: [voice] })
        yield* Deferred.await(begun)
        yield* (yield* Conversations).stop(message.threadId, "tester")
        const { state } = yield* troupe.outcome(message)
        assert.strictEqual(state, "stopped")
        yield* Deferred.await(ended)
      }).pipe(Effect.provide(layer(hear)))
    })
  )
})
