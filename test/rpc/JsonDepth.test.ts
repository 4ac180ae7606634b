/** Depth of JSON texts, and what the entrances of the daemon say of one that is too deep. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as JsonDepth from "../../src/JsonDepth.ts"
import * as Message from "../../src/rpc/Message.ts"
import * as RawHttp from "./RawHttp.ts"
import * as TestServer from "./TestServer.ts"

const depthOf = (value: unknown): number =>
  typeof value === "object" && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0

const Tangle = Schema.Union([
  Schema.Array(Schema.Union([Schema.String, Schema.Array(Schema.Record(Schema.String, Schema.String))])),
  Schema.Record(Schema.String, Schema.Array(Schema.Array(Schema.String)))
])

const nested = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`

describe("the depth of a JSON text", () => {
  it.effect.prop("is that of its value, whatever its strings hold", { value: Tangle }, ({ value }) =>
    Effect.sync(() => {
      const depth = depthOf(value)
      for (const text of [JSON.stringify(value), JSON.stringify(value, null, 2)]) {
        assert.isFalse(JsonDepth.exceeds(text, depth), text)
        if (depth > 0) assert.isTrue(JsonDepth.exceeds(text, depth - 1), text)
      }
    })
  )

  it.effect("counts no brackets of strings, which escapes do not end", () =>
    Effect.sync(() => {
      for (const string of ["[[[", '\\"[[[', "\\\\", '"[', '\\\\"[[']) {
        const text = JSON.stringify([string, [string]])
        assert.isFalse(JsonDepth.exceeds(text, 2), text)
        assert.isTrue(JsonDepth.exceeds(text, 1), text)
      }
      for (const broken of ['"[[[', "]]]", '"\\', ""]) assert.isFalse(JsonDepth.exceeds(broken, 1), broken)
    })
  )
})

describe("a message that is too deep", () => {
  it.effect("is refused with the limit, by what every message is read with", () =>
    Effect.sync(() => {
      const call = (levels: number) =>
        `{"_tag":"Request","id":"7","tag":"Status","payload":${nested(levels)},"headers":[]}`
      assert.isFalse(Message.isMalformed(Message.read(call(63))))
      const refused = Message.read(call(64))
      assert.isTrue(Message.isMalformed(refused) && refused.problem.includes("at most 64"))
    })
  )

  it.live("is status 400 over HTTP, before any of it is parsed", () =>
    Effect.gen(function* () {
      const answer = yield* RawHttp.send(yield* TestServer.url, {
        method: "POST",
        path: "/rpc",
        headers: { authorization: "Bearer a-token-for-tests-0123456789" },
        body: nested(4_000_000)
      })
      assert.strictEqual(answer.status, 400, answer.head)
      assert.include(answer.body, "Line 1 of the body is nested too deeply. Expected at most 64 levels")
    }).pipe(Effect.provide(TestServer.layerWithStage()))
  )
})
