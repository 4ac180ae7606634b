import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Body from "../../layers/model/Body.ts"
import * as ModelError from "../../src/model/ModelError.ts"

const readerWith = (limits: Partial<Body.Reader["limits"]> = {}): Body.Reader => ({
  limits: { total: 1000, line: 500, errorBody: 0, ...limits },
  onBytes: () => {},
  broken: () => ModelError.transportError("stream-cut", "broken"),
  tooLarge: () => ModelError.transportError("response_too_large", "too large"),
  unreadable: () => ModelError.transportError("stream-cut", "unreadable"),
  foreign: () => ModelError.transportError("stream-cut", "foreign")
})

const bytes = (text: string) => new TextEncoder().encode(text)

const inPieces = (pieces: ReadonlyArray<Uint8Array<ArrayBuffer>>) =>
  new Response(
    new ReadableStream({
      start: (controller) => {
        for (const piece of pieces) controller.enqueue(piece)
        controller.close()
      }
    })
  )

/** All batches of events, and the failure that ended them, if one did. */
const batchesOf = (pieces: ReadonlyArray<Uint8Array<ArrayBuffer>>, reader = readerWith()) =>
  Effect.gen(function* () {
    const next = Body.events(inPieces(pieces), reader)
    const batches: Array<ReadonlyArray<unknown>> = []
    while (true) {
      const batch = yield* Effect.result(next)
      if (batch._tag === "Failure") return { batches, failure: ModelError.describe(batch.failure).message }
      if (Option.isNone(batch.success)) return { batches, failure: undefined }
      batches.push(batch.success.value)
    }
  })

const text = `\ufeffdata: {"n":1}\r\n\r\n: alive\n\ndata: {"n":\ndata: "zwölf 🦊"}\n\nevent: named\ndata: 3\n\ndata: [DONE]\n\ndata: 4\n\n`
const values = [{ n: 1 }, { n: "zwölf 🦊" }, 3]

describe("the events of a body", () => {
  it.effect("come together when they came in one piece", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* batchesOf([bytes(text)]), { batches: [values], failure: undefined })
    })
  )

  it.effect("are the same wherever the pieces are cut", () =>
    Effect.gen(function* () {
      const whole = bytes(text)
      for (let cut = 0; cut <= whole.length; cut++) {
        const { batches, failure } = yield* batchesOf([whole.slice(0, cut), whole.slice(cut)])
        assert.deepStrictEqual([batches.flat(), failure], [values, undefined], `cut at ${cut}`)
      }
      const { batches } = yield* batchesOf(Array.from(whole, (byte) => Uint8Array.of(byte)))
      assert.deepStrictEqual(batches, [[values[0]], [values[1]], [values[2]]])
    })
  )

  it.effect("need no empty line after the last", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual((yield* batchesOf([bytes(`data: 1\n\ndata: 2`)])).batches, [[1], [2]])
    })
  )

  it.effect("are handed on before what cannot be read after them", () =>
    Effect.gen(function* () {
      const cut = yield* batchesOf([bytes(`data: 1\n\ndata: {"n":\n\ndata: 2\n\n`)])
      assert.deepStrictEqual(cut, { batches: [[1]], failure: "unreadable" })
    })
  )

  it.effect("named an error are one", () =>
    Effect.gen(function* () {
      const named = `event: error\ndata: {"message":"no"}\n\nevent: error\ndata: {"error":{"message":"no"}}\n\n`
      assert.deepStrictEqual((yield* batchesOf([bytes(named)])).batches, [
        [{ error: { message: "no" } }, { error: { message: "no" } }]
      ])
    })
  )

  it.effect("end at the limits of a line and of the whole", () =>
    Effect.gen(function* () {
      const line = bytes(`data: "${"x".repeat(60)}"\n\n`)
      const within = yield* batchesOf([line, line], readerWith({ line: 70, total: 150 }))
      assert.deepStrictEqual([within.batches.length, within.failure], [2, undefined])
      assert.strictEqual((yield* batchesOf([line, line], readerWith({ total: 139 }))).failure, "too large")
      const unended = [line.slice(0, 40), line.slice(40, 60)]
      assert.strictEqual((yield* batchesOf(unended, readerWith({ line: 59 }))).failure, "too large")
    })
  )
})

describe("a body in one piece", () => {
  it.effect("is its JSON, or unreadable, or too large", () =>
    Effect.gen(function* () {
      const whole = bytes(`{"text":"zwölf 🦊"}`)
      for (let cut = 0; cut <= whole.length; cut++) {
        const read = Body.json(inPieces([whole.slice(0, cut), whole.slice(cut)]), readerWith())
        assert.deepStrictEqual(yield* read, { text: "zwölf 🦊" })
      }
      const failed = Effect.fnUntraced(function* (text: string, reader = readerWith()) {
        const read = yield* Effect.result(Body.json(inPieces([bytes(text)]), reader))
        return read._tag === "Failure" ? ModelError.describe(read.failure).message : undefined
      })
      assert.strictEqual(yield* failed(`{"text":`), "unreadable")
      assert.strictEqual(yield* failed(`{"text":1}`, readerWith({ total: 9 })), "too large")
    })
  )
})
