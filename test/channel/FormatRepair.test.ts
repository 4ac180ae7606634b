/** Replies whose format their channel cannot read: mended within bounds, and plain in the end. */
import { assert, describe, it } from "@effect/vitest"
import * as AiError from "effect/ai/AiError"
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import * as TestRuntime from "../../layers/testing/TestRuntime.ts"
import * as PreResponse from "../../layers/tools/response/PreResponse.ts"
import * as Channels from "../../src/channel/Channels.ts"
import { type Delivery, Outbox } from "../../src/channel/Outbox.ts"
import * as Scripted from "../../src/testing/ScriptedModel.ts"
import * as Fixtures from "../conversation/Fixtures.ts"

const { fail, text, toolCall } = Scripted
const broken = "<b>done"
const mended = "<b>done</b>"

/** A turn whose answer is broken HTML; `others` is what the model says after that. */
const runtime = (others: ReadonlyArray<Scripted.Script>, answer = broken, kind = "html") =>
  TestRuntime.layer({
    scripts: ({ index }) => [[toolCall("pre_response", { kind })], [text(answer)], ...others][index] ?? [text("")],
    settings: { llm: { retry_attempts: 0 } },
    tools: PreResponse.layer
  })

const unreadable = new Channels.DeliveryRefused({ reason: "tag b is not closed", retryable: false, unreadable: true })

/** What the channel was given, and how the reply ended. A channel takes what is plain, or whole. */
const sent = Effect.fnUntraced(function* (
  formatRepair: Channels.Channel["formatRepair"],
  judge: (delivery: Delivery) => Effect.Effect<void, Channels.DeliveryRefused> = ({ format, text }) =>
    format?.kind === "text" || text.endsWith("</b>") ? Effect.void : Effect.fail(unreadable)
) {
  const tried: Array<Delivery> = []
  const channel: Channels.Channel = {
    name: "push",
    capabilities: { approval: false, formatting: ["text", "html"], files: false },
    ...(formatRepair === undefined ? {} : { formatRepair }),
    deliver: (delivery) =>
      Effect.andThen(
        Effect.sync(() => tried.push(delivery)),
        judge(delivery)
      )
  }
  yield* (yield* Channels.Channels).register(channel)
  yield* (yield* TestRuntime.TestRuntime).say("go", { channel: "push" })
  const outbox = yield* Outbox
  yield* Fixtures.whileTimePasses(
    Effect.repeat(Effect.andThen(Effect.yieldNow, outbox.pending), { until: (left) => left.length === 0 })
  )
  const sql = yield* SqlClient.SqlClient
  const states = yield* sql<{ readonly state: string }>`SELECT state FROM outbox`
  const requests = yield* (yield* Scripted.ScriptedModel).requests
  return {
    forms: tried.map(({ format, text }) => [format?.kind, text]),
    last: tried.at(-1),
    states: states.map(({ state }) => state),
    asked: requests.slice(2)
  }
})

const twice = { instructions: "Only <b> and <i> are known.", attempts: 2 }

describe("a reply whose format its channel cannot read", () => {
  it.effect("goes out as plain text, word by word as it was, where nobody is to mend it", () =>
    Effect.gen(function* () {
      const { asked, forms, last, states } = yield* sent(undefined)
      assert.deepStrictEqual(forms, [
        ["html", broken],
        ["text", broken]
      ])
      assert.deepStrictEqual(states, ["delivered"])
      assert.deepStrictEqual(last?.repair, { attempts: 0, kind: "html", original: broken, problem: unreadable.reason })
      assert.isFalse(last?.inDoubt)
      assert.deepStrictEqual(asked, [])
    }).pipe(Effect.provide(runtime([])))
  )

  it.effect("is mended by the model, which is told what is wrong and has no tools", () =>
    Effect.gen(function* () {
      const { asked, forms, last, states } = yield* sent(twice)
      assert.deepStrictEqual(forms, [
        ["html", broken],
        ["html", mended]
      ])
      assert.deepStrictEqual(states, ["delivered"])
      assert.deepStrictEqual(last?.repair, { attempts: 1, kind: "html", original: broken })
      assert.strictEqual(asked.length, 1)
      assert.deepStrictEqual(asked[0]?.tools, [])
      const put = JSON.stringify(asked[0]?.prompt.content)
      for (const part of [broken, unreadable.reason, "Only <b> and <i>"]) assert.include(put, part)
    }).pipe(Effect.provide(runtime([[text(mended)]])))
  )

  it.effect("is mended as often as the channel allows, and then goes out as it was", () =>
    Effect.gen(function* () {
      const { asked, forms, last } = yield* sent(twice)
      assert.deepStrictEqual(forms, [
        ["html", broken],
        ["html", "worse"],
        ["html", "worst"],
        ["text", broken]
      ])
      assert.strictEqual(asked.length, 2)
      assert.strictEqual(last?.repair?.problem, unreadable.reason)
    }).pipe(Effect.provide(runtime([[text("worse")], [text("worst")], [text(mended)]])))
  )

  for (const [name, script] of [
    ["fails", [fail(new AiError.AuthenticationError({ kind: "InvalidKey" }))]],
    ["says nothing", [text(" \n")]],
    ["is cut off", [text("<b>do"), Scripted.finish("length")]],
    ["does not come to an end", [Scripted.never]]
  ] as const) {
    it.effect(`goes out as it was when the model ${name}`, () =>
      Effect.gen(function* () {
        const { forms, states } = yield* sent(twice)
        assert.deepStrictEqual(forms, [
          ["html", broken],
          ["text", broken]
        ])
        assert.deepStrictEqual(states, ["delivered"])
      }).pipe(Effect.provide(runtime([script])))
    )
  }

  it.effect("is given up when it cannot be read as plain text either", () =>
    Effect.gen(function* () {
      const { forms, states } = yield* sent(undefined, () => Effect.fail(unreadable))
      assert.deepStrictEqual(
        forms.map(([kind]) => kind),
        ["html", "text"]
      )
      assert.deepStrictEqual(states, ["failed"])
    }).pipe(Effect.provide(runtime([])))
  )

  it.effect("is none that was refused for another reason", () =>
    Effect.gen(function* () {
      let refusals = 1
      const { asked, forms, states } = yield* sent(twice, () =>
        refusals-- > 0 ? Effect.fail(new Channels.DeliveryRefused({ reason: "busy", retryable: true })) : Effect.void
      )
      assert.deepStrictEqual(forms, [
        ["html", broken],
        ["html", broken]
      ])
      assert.deepStrictEqual(states, ["delivered"])
      assert.deepStrictEqual(asked, [])
    }).pipe(Effect.provide(runtime([])))
  )
})
