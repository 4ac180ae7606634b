/**
 * What every language model of ours does, whatever protocol it speaks: the laws that a turn stands on.
 *
 * A rig turns an answer, written down once, into what its model's server would send, and tells what its model has asked.
 */
import { assert, describe, it } from "@effect/vitest"
import type * as LanguageModel from "effect/ai/LanguageModel"
import * as Prompt from "effect/ai/Prompt"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as ModelError from "../../src/model/ModelError.ts"
import { streamStep, type StepPart } from "../../src/model/ToolSchema.ts"
import type * as Entry from "../../src/thread/Entry.ts"
import * as History from "../../src/turn/History.ts"
import * as ResponseParts from "../../src/turn/ResponseParts.ts"
import * as Entries from "../turn/Entries.ts"

/** A piece of an answer. */
export type Move =
  | { readonly think: ReadonlyArray<string> }
  | { readonly say: ReadonlyArray<string> }
  | { readonly call: string; readonly args: ReadonlyArray<string> }

/** How an answer ends. `cut`: the connection breaks; `hang`: nothing more comes. */
export type Ending = "complete" | "length" | "filtered" | "cut" | "hang"

export type Answer =
  | { readonly moves: ReadonlyArray<Move>; readonly ending: Ending }
  | { readonly refused: 400 | 401 | 429 | 500; readonly retryAfterSeconds?: number }

/** A request as the model's server was asked it, in words of no protocol. */
export interface Asked {
  readonly calls: ReadonlyArray<{ readonly id: string; readonly name: string; readonly args: unknown }>
  readonly results: ReadonlyArray<{ readonly id: string; readonly text: string }>
  /** Whether the reasoning of the first answer is in it. */
  readonly reasoning: boolean
}

export interface Model {
  readonly languageModel: LanguageModel.LanguageModel
  readonly asked: Effect.Effect<ReadonlyArray<Asked>>
  /** Completes when the request with this number has been abandoned. */
  readonly abandoned: (index: number) => Effect.Effect<void>
}

export interface Rig {
  readonly provider: string
  readonly model: string
  /** `retries` of failed requests, with hardly a pause between. */
  readonly make: (
    answers: ReadonlyArray<Answer>,
    options: { readonly retries: number }
  ) => Effect.Effect<Model, never, Scope.Scope>
  /** Whether it retries by itself. */
  readonly retries: boolean
}

const tools = ["look", "pay"].map((name) => ({
  name,
  description: `Can ${name}.`,
  parameters: {
    type: "object",
    properties: { text: { type: "string" } },
    required: ["text"],
    additionalProperties: false
  }
}))

const ask = (model: Model, prompt: Prompt.RawInput = "go") =>
  Stream.runCollect(streamStep(model.languageModel, { prompt, tools }))

const types = (parts: ReadonlyArray<StepPart>) => parts.map(({ type }) => type)
const joined = (parts: ReadonlyArray<StepPart>, type: "text-delta" | "reasoning-delta") =>
  parts.map((part) => (part.type === type ? part.delta : "")).join("")
const callsIn = (parts: ReadonlyArray<StepPart>) => parts.flatMap((part) => (part.type === "tool-call" ? [part] : []))
const finishOf = (parts: ReadonlyArray<StepPart>) => parts.flatMap((part) => (part.type === "finish" ? [part] : []))

/** An answer as the journal keeps it. */
const journaled = (
  parts: ReadonlyArray<StepPart>,
  by: { readonly provider: string; readonly model: string }
): Extract<Entry.Entry, { _tag: "AssistantMessage" }> => {
  const gatherer = ResponseParts.gather()
  for (const part of parts) {
    switch (part.type) {
      case "text-start":
      case "text-end":
        gatherer.add("text", part.id, "", part.metadata)
        break
      case "reasoning-start":
      case "reasoning-end":
        gatherer.add("reasoning", part.id, "", part.metadata)
        break
      case "text-delta":
        gatherer.add("text", part.id, part.delta, part.metadata)
        break
      case "reasoning-delta":
        gatherer.add("reasoning", part.id, part.delta, part.metadata)
        break
      case "tool-call":
        gatherer.call(part.metadata)
        break
      case "finish":
        gatherer.whole(part.metadata)
        break
    }
  }
  const calls = callsIn(parts).map(({ name, params }, index) =>
    Entries.request(index + 1, { name, arguments: typeof params === "string" ? params : JSON.stringify(params) })
  )
  return Entries.response(1, calls, { ...gatherer.kept(), ...by })
}

/** The history after an answer whose calls have their results, as `reader` is shown it. */
const after = (
  answer: Extract<Entry.Entry, { _tag: "AssistantMessage" }>,
  reader: { readonly provider: string; readonly model: string }
) =>
  History.render(
    Entries.stored([
      Entries.user(1),
      Entries.started([1]),
      answer,
      ...answer.calls.map((call, index) => Entries.result(index + 1, { name: call.name }))
    ]),
    { system: "Be brief.", turnId: Entries.turn(1), reader }
  )

const oneCall: Move = { call: "look", args: ['{"text":', ' "a"}'] }

export const suite = (name: string, rig: Rig) => {
  const make = (answers: ReadonlyArray<Answer>, retries = 0) => rig.make(answers, { retries })
  const complete = (...moves: ReadonlyArray<Move>): Answer => ({ moves, ending: "complete" })

  describe(`the laws of language models: ${name}`, () => {
    it.live("text comes in order, in a block that is opened and closed, and the finish comes last and once", () =>
      Effect.gen(function* () {
        const parts = yield* ask(yield* make([complete({ say: ["Hel", "lo ", "😀"] })]))
        const seen = types(parts).filter((type) => type !== "response-metadata")
        assert.deepStrictEqual(seen, ["text-start", "text-delta", "text-delta", "text-delta", "text-end", "finish"])
        assert.strictEqual(joined(parts, "text-delta"), "Hello 😀")
        assert.strictEqual(finishOf(parts)[0]?.reason, "stop")
        assert.isAbove(finishOf(parts)[0]?.usage.inputTokens.total ?? 0, 0)
      })
    )

    it.live("reasoning comes in a block of its own before the text", () =>
      Effect.gen(function* () {
        const parts = yield* ask(yield* make([complete({ think: ["Let ", "me see."] }, { say: ["Yes."] })]))
        assert.strictEqual(joined(parts, "reasoning-delta"), "Let me see.")
        assert.strictEqual(joined(parts, "text-delta"), "Yes.")
        assert.isBelow(types(parts).indexOf("reasoning-end"), types(parts).indexOf("text-start"))
      })
    )

    it.live("several calls come after all else, each with its own id and the arguments as they were written", () =>
      Effect.gen(function* () {
        const pay: Move = { call: "pay", args: ['{"text":"b","text":"c"}'] }
        const parts = yield* ask(yield* make([complete({ say: ["I look."] }, oneCall, pay)]))
        const calls = callsIn(parts)
        assert.deepStrictEqual(
          calls.map((call) => [call.name, call.params]),
          [
            ["look", '{"text": "a"}'],
            ["pay", '{"text":"b","text":"c"}']
          ]
        )
        assert.strictEqual(new Set(calls.map(({ id }) => id)).size, 2)
        assert.deepStrictEqual(types(parts).slice(-1), ["finish"])
        assert.strictEqual(finishOf(parts)[0]?.reason, "tool-calls")
      })
    )

    it.live("F078 an id that is in the history is not given to another call", () =>
      Effect.gen(function* () {
        const model = yield* make([complete(oneCall), complete(oneCall)])
        const [first] = callsIn(yield* ask(model))
        const id = first?.id ?? ""
        const history = Prompt.fromMessages([
          Prompt.userMessage({ content: [Prompt.textPart({ text: "go" })] }),
          Prompt.assistantMessage({
            content: [Prompt.toolCallPart({ id, name: "look", params: { text: "a" }, providerExecuted: false })]
          }),
          Prompt.toolMessage({
            content: [
              Prompt.toolResultPart({ id, name: "look", result: "done", isFailure: false, providerExecuted: false })
            ]
          })
        ])
        const [second] = callsIn(yield* ask(model, history))
        assert.notStrictEqual(second?.id, id)
        assert.match(second?.id ?? "", /^[A-Za-z0-9_-]{1,64}$/)
      })
    )

    it.live("F077 a connection that breaks inside a call makes no call, and may be tried again", () =>
      Effect.gen(function* () {
        const half: Move = { call: "look", args: ['{"text": "a'] }
        const model = yield* make([{ moves: [{ say: ["I look."] }, half], ending: "cut" }])
        const seen: Array<StepPart> = []
        const error = yield* Effect.flip(
          Stream.runForEach(streamStep(model.languageModel, { prompt: "go", tools }), (part) =>
            Effect.sync(() => void seen.push(part))
          )
        )
        assert.strictEqual(ModelError.describe(error).code, "model:stream-cut")
        assert.isTrue(error.isRetryable)
        assert.deepStrictEqual(callsIn(seen), [])
        assert.deepStrictEqual(finishOf(seen), [])
      })
    )

    it.live("F077 a call that the limit of the output cut says so with its finish reason", () =>
      Effect.gen(function* () {
        const half: Move = { call: "look", args: ['{"text": "a'] }
        const parts = yield* ask(yield* make([{ moves: [half], ending: "length" }]))
        assert.deepStrictEqual(
          callsIn(parts).map(({ params }) => params),
          ['{"text": "a']
        )
        assert.strictEqual(finishOf(parts)[0]?.reason, "length")
      })
    )

    it.live("an answer that content rules cut says so", () =>
      Effect.gen(function* () {
        const parts = yield* ask(yield* make([{ moves: [{ say: ["Well"] }], ending: "filtered" }]))
        assert.strictEqual(finishOf(parts)[0]?.reason, "content-filter")
        assert.strictEqual(joined(parts, "text-delta"), "Well")
      })
    )

    it.live("F081 an answer of nothing is an answer without text and calls", () =>
      Effect.gen(function* () {
        const parts = yield* ask(yield* make([complete()]))
        assert.strictEqual(joined(parts, "text-delta"), "")
        assert.deepStrictEqual(callsIn(parts), [])
        assert.strictEqual(finishOf(parts).length, 1)
      })
    )

    for (const [refused, code, retryable] of [
      [400, "model:invalid-request", false],
      [401, "model:authentication", false],
      [429, "model:rate-limited", true],
      [500, "model:provider-failed", true]
    ] as const) {
      it.live(`a refusal with ${refused} is ${code}`, () =>
        Effect.gen(function* () {
          const error = yield* Effect.flip(ask(yield* make([{ refused }])))
          assert.strictEqual(ModelError.describe(error).code, code)
          assert.strictEqual(error.isRetryable, retryable)
        })
      )
    }

    it.live("F083 a refusal tells how long its server asks to wait", () =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(ask(yield* make([{ refused: 429, retryAfterSeconds: 3600 }])))
        assert.deepStrictEqual(error.retryAfter, Duration.hours(1))
      })
    )

    if (rig.retries) {
      it.live("a request that was refused for the moment is made again", () =>
        Effect.gen(function* () {
          const model = yield* make([{ refused: 429 }, { refused: 500 }, complete({ say: ["Yes."] })], 2)
          assert.strictEqual(joined(yield* ask(model), "text-delta"), "Yes.")
          assert.strictEqual((yield* model.asked).length, 3)
        })
      )

      it.live("nothing is asked again that has been answered in part", () =>
        Effect.gen(function* () {
          const model = yield* make([{ moves: [{ say: ["Ye"] }], ending: "cut" }, complete({ say: ["Yes."] })], 2)
          assert.strictEqual(ModelError.describe(yield* Effect.flip(ask(model))).code, "model:stream-cut")
          assert.strictEqual((yield* model.asked).length, 1)
        })
      )
    }

    it.live("who stops reading ends the request", () =>
      Effect.gen(function* () {
        const model = yield* make([{ moves: [{ say: ["We"] }], ending: "hang" }])
        const heard = yield* Deferred.make<void>()
        const reading = yield* Effect.forkChild(
          Stream.runForEach(streamStep(model.languageModel, { prompt: "go", tools }), ({ type }) =>
            type === "text-delta" ? Deferred.succeed(heard, undefined) : Effect.void
          )
        )
        yield* Deferred.await(heard)
        yield* Effect.yieldNow
        yield* Fiber.interrupt(reading)
        yield* model.abandoned(0)
      })
    )

    it.live("a caller that does not stream is given the same", () =>
      Effect.gen(function* () {
        const model = yield* make([complete({ think: ["Hm."] }, { say: ["Yes", "."] })])
        const response = yield* model.languageModel.generateText({ prompt: "go" })
        assert.strictEqual(response.text, "Yes.")
        assert.strictEqual(response.reasoningText, "Hm.")
        assert.strictEqual(response.finishReason, "stop")
      })
    )

    it.live("a history with its own answer in it goes back: calls, results under the same ids, reasoning", () =>
      Effect.gen(function* () {
        const pay: Move = { call: "pay", args: ['{"text":"b"}'] }
        const model = yield* make([
          complete({ think: ["Let me see."] }, { say: ["I look."] }, oneCall, pay),
          complete({ say: ["Done."] })
        ])
        const answer = journaled(yield* ask(model), rig)
        assert.strictEqual(joined(yield* ask(model, after(answer, rig)), "text-delta"), "Done.")
        const asked = (yield* model.asked)[1]
        assert.deepStrictEqual(
          asked?.calls.map(({ args, name }) => [name, args]),
          [
            ["look", { text: "a" }],
            ["pay", { text: "b" }]
          ]
        )
        assert.deepStrictEqual(
          asked?.results,
          asked?.calls.map(({ id }, index) => ({ id, text: `result ${index + 1}` }))
        )
        assert.isTrue(asked?.reasoning)
      })
    )

    it.live("F080 what another model wrote goes without its reasoning", () =>
      Effect.gen(function* () {
        const model = yield* make([complete({ think: ["Let me see."] }, oneCall), complete({ say: ["Done."] })])
        const answer = journaled(yield* ask(model), { ...rig, model: "other" })
        yield* ask(model, after(answer, rig))
        const asked = (yield* model.asked)[1]
        assert.strictEqual(asked?.calls.length, 1)
        assert.strictEqual(asked?.results[0]?.id, asked?.calls[0]?.id)
        assert.isFalse(asked?.reasoning)
      })
    )

    it.live("F044 F045 strings that no server takes are clean on the wire", () =>
      Effect.gen(function* () {
        const model = yield* make([complete({ say: ["Yes."] })])
        const dirty = Entries.result(1, { text: "a\0b\ud83dc" })
        const prompt = History.render(
          Entries.stored([Entries.user(1), Entries.started([1]), Entries.response(1, [Entries.request(1)]), dirty]),
          { system: "Be brief.", turnId: Entries.turn(1), reader: rig }
        )
        yield* ask(model, prompt)
        const [asked] = yield* model.asked
        const sent = asked?.results[0]?.text ?? "\0"
        assert.isTrue(sent.isWellFormed())
        assert.notInclude(sent, "\0")
        assert.match(sent, /^a.*b.*c$/)
      })
    )
  })
}
