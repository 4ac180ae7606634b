import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { WatchItem } from "../../src/conversation/Conversations.ts"
import * as Outcome from "../../src/conversation/Outcome.ts"
import * as Ids from "../../src/Ids.ts"
import type * as Entry from "../../src/thread/Entry.ts"
import type { MessageReceipt } from "../../src/thread/Threads.ts"

const [turnId, other] = Effect.runSync(Effect.all([Ids.makeTurnId, Ids.makeTurnId]))
const ended: Extract<Entry.Entry, { _tag: "TurnEnded" }> = { _tag: "TurnEnded", turnId, state: "answered" }
const entry = (entry: Entry.Entry): WatchItem => ({ _tag: "Entry", stored: { seq: 1, at: 0, entry } })
const caughtUp: WatchItem = { _tag: "CaughtUp", seq: 1 }
const unasked = Effect.die("the receipt was asked for")
const untaken = { turnId: undefined, ended: undefined }

it.effect("a message is over with the turn that took it up, and nobody need be asked", () =>
  Effect.gen(function* () {
    const over = yield* Outcome.after(entry(ended), { turnId, ended }, unasked)
    assert.deepStrictEqual(over, { state: "answered", failure: undefined })
    assert.isUndefined(yield* Outcome.after(entry({ ...ended, turnId: other }), { turnId, ended: undefined }, unasked))
    assert.isUndefined(yield* Outcome.after(entry({ _tag: "Notice", turnId, text: "" }), untaken, unasked))
  })
)

it.effect("one that ended without a turn is found out when the log has been read, or another turn has ended", () =>
  Effect.gen(function* () {
    const failure = { code: "storage:restored", message: "gone" }
    for (const item of [caughtUp, entry({ ...ended, turnId: other })]) {
      const of = (receipt: Effect.Effect<Pick<MessageReceipt, "turnId" | "state" | "failure">>) =>
        Outcome.after(item, untaken, receipt)
      const dropped = yield* of(Effect.succeed({ turnId: null, state: "unknown", failure }))
      assert.deepStrictEqual(dropped, { state: "failed", failure })
      assert.isUndefined(yield* of(Effect.succeed({ turnId: null, state: "accepted", failure: null })))
      // Its turn has begun and ended while this was asked for: the entries are still to come.
      assert.isUndefined(yield* of(Effect.succeed({ turnId, state: "answered", failure: null })))
    }
  })
)
