/** What whoever keeps the requests of the OpenAI-compatible endpoint must hold, whatever database is under it. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type * as SqlClient from "effect/sql/SqlClient"
import * as TestClock from "effect/testing/TestClock"
import * as RequestsLive from "../../layers/openai/Requests.ts"
import { Requests } from "../../src/openai/Requests.ts"
import type { Request } from "../../src/openai/Requests.ts"
import { message } from "./Messages.ts"
import * as Store from "./Store.ts"

export const laws = (name: string, backend: Store.Backend) =>
  describe(`Requests: ${name}`, () => {
    const law = <E>(title: string, body: Effect.Effect<void, E, SqlClient.SqlClient | Scope.Scope | Requests>) =>
      it.effect(title, () => Effect.provide(Effect.scoped(body), Layer.provideMerge(RequestsLive.layer, backend)))

    law(
      "a request is found by its digest, its conversation and its thread, the newest first",
      Effect.gen(function* () {
        const requests = yield* Requests
        const first = yield* accepted({ digest: "d", conversation: "c" })
        yield* TestClock.adjust("1 minute")
        const second = yield* accepted({ digest: "d", conversation: "c" })
        yield* accepted({ digest: "other", conversation: null })
        assert.deepStrictEqual(Option.getOrUndefined(yield* requests.byDigest("d", 0)), second)
        assert.deepStrictEqual(yield* requests.byConversation("c", 10), [second, first])
        assert.deepStrictEqual(yield* requests.byConversation("c", 1), [second])
        assert.deepStrictEqual(yield* requests.byConversation("nothing", 10), [])
        assert.strictEqual(Option.getOrUndefined(yield* requests.latest(first.threadId))?.digest, "other")
        assert.isTrue((yield* requests.byDigest("d", 60_001))._tag === "None")
        assert.isTrue((yield* requests.byDigest("nothing", 0))._tag === "None")
      })
    )

    law(
      "an external id leads to its message, recorded or not, of this channel alone",
      Effect.gen(function* () {
        const requests = yield* Requests
        const { journal } = yield* Store.startProcess
        const quiet = yield* journal.accept(message({ channel: "openai", externalId: "key", thread: "openai:x" }))
        yield* journal.accept(message({ channel: "rpc", externalId: "foreign", thread: "openai:x" }))
        const { messageId, seq, threadId } = quiet
        const place = { messageId, threadId, seq }
        assert.deepStrictEqual(Option.getOrUndefined(yield* requests.byExternalId("key")), { ...place, digest: null })
        const request = { ...place, digest: "d", conversation: null, instructions: "" }
        yield* requests.record(request)
        yield* requests.record({ ...request, digest: "again" })
        assert.strictEqual(Option.getOrUndefined(yield* requests.byExternalId("key"))?.digest, "d")
        assert.isTrue((yield* requests.byExternalId("foreign"))._tag === "None")
      })
    )
  })

let number = 0

const accepted = Effect.fnUntraced(function* (fields: Pick<Request, "digest" | "conversation">) {
  const { journal } = yield* Store.startProcess
  const { messageId, seq, threadId } = yield* journal.accept(
    message({ channel: "openai", externalId: `law-${++number}`, thread: "openai:law" })
  )
  const request: Request = { messageId, threadId, seq, instructions: "i", ...fields }
  yield* (yield* Requests).record(request)
  return request
})
