/** What holds for every `Transcriber`, whichever engine does the work. */
import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { Transcriber } from "../../src/audio/Transcriber.ts"
import type { Reason, Recording } from "../../src/audio/Transcriber.ts"
import * as Speech from "../audio/Speech.ts"
import * as Needs from "../rigs/Needs.ts"

/** The limits of the layers that these laws are given. */
export const limits = { maxBytes: 100_000, longest: 5 } as const

export interface Subject {
  readonly layer: Layer.Layer<Transcriber>
  /** How many recordings have come to the engine; undefined where nobody can count. */
  readonly asked?: () => number
}

export interface Subjects {
  readonly working: Effect.Effect<Subject, never, Scope.Scope>
  /** Its engine takes more than a minute for every recording. */
  readonly slow: Effect.Effect<Subject, never, Scope.Scope>
  readonly need?: Needs.Need
}

/** A whole inference on a busy machine. */
const patience = 120_000
const nothing: Needs.Need = { missing: false, reason: "" }

const transcribe = (recording: Recording) => Transcriber.use((service) => service.transcribe(recording))

export const laws = (name: string, { need = nothing, slow, working }: Subjects) =>
  describe(`recordings (${name})`, () => {
    const law = <E>(title: string, body: Effect.Effect<void, E, Scope.Scope>) =>
      it.live.skipIf(need.missing)(Needs.titled(need, title), () => Effect.scoped(body), patience)

    law(
      "are transcribed, with what was asked of it, their length and the pieces in their order",
      Effect.gen(function* () {
        const { layer } = yield* working
        const found = yield* Effect.provide(transcribe({ content: Speech.silence(3.25), language: "en" }), layer)
        assert.deepInclude(found, { task: "transcribe", durationSeconds: 3.25 })
        assert.isString(found.text)
        let last = 0
        for (const { end, start } of found.segments) {
          assert.isTrue(start >= last && end >= start)
          last = start
        }
        const english = yield* Effect.provide(transcribe({ content: Speech.silence(1), task: "translate" }), layer)
        assert.strictEqual(english.task, "translate")
      })
    )

    law(
      "that are not taken come to no engine",
      Effect.gen(function* () {
        const { asked, layer } = yield* working
        const lying = Speech.silence(6)
        new DataView(lying.buffer).setUint32(40, 8000, true)
        const refused: ReadonlyArray<readonly [Reason, Uint8Array]> = [
          ["empty", new Uint8Array(0)],
          ["unsupported_format", new TextEncoder().encode("This is no recording.")],
          ["too_large", new Uint8Array(limits.maxBytes + 1)],
          ["too_long", Speech.silence(limits.longest + 1)],
          ["too_long", lying]
        ]
        for (const [reason, content] of refused) {
          const error = yield* Effect.provide(Effect.flip(transcribe({ content })), layer)
          assert.deepStrictEqual([error.reason, error.code], [reason, `audio:${reason}`])
        }
        if (asked !== undefined) assert.strictEqual(asked(), 0)
      })
    )

    law(
      "take no longer than they may",
      Effect.gen(function* () {
        const { layer } = yield* slow
        const recording = { content: Speech.silence(1), timeout: Duration.millis(20) }
        const error = yield* Effect.provide(Effect.flip(transcribe(recording)), layer)
        assert.strictEqual(error.reason, "timeout")
      })
    )
  })
