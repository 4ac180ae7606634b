import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Digest from "effect/crypto/Digest"
import * as FailureSignature from "../../src/tool/FailureSignature.ts"

const make = (change: Partial<Parameters<typeof FailureSignature.make>[0]> = {}) =>
  FailureSignature.make({ tool: "t", arguments: { a: 1, b: [{ c: 1, d: 2 }] }, code: "x:y", message: "no", ...change })

describe("a failure's signature", () => {
  it.effect("is the same for the same call and failure, and another one otherwise", () =>
    Effect.gen(function* () {
      const one = yield* make()
      assert.match(one, /^[0-9a-f]{64}$/)
      assert.strictEqual(yield* make({ arguments: { b: [{ d: 2, c: 1 }], a: 1 }, message: " no\n" }), one)
      for (const change of [
        { tool: "u" },
        { arguments: { a: 2 } },
        { arguments: "a" },
        { code: "x:z" },
        { message: "yes" }
      ]) {
        assert.notStrictEqual(yield* make(change), one)
      }
    }).pipe(Effect.provide(Digest.layerWebCrypto))
  )

  it.prop("does not depend on the order of keys", { value: Schema.Record(Schema.String, Schema.Json) }, ({ value }) => {
    const reversed = Object.fromEntries(Object.entries(value).toReversed())
    assert.strictEqual(FailureSignature.canonical(reversed), FailureSignature.canonical(value))
    // The comparison cannot tell a key of this name from a prototype.
    if (JSON.stringify(value).includes("__proto__")) return
    assert.deepStrictEqual(JSON.parse(FailureSignature.canonical(value)), JSON.parse(JSON.stringify(value)))
  })
})
