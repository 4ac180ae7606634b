import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import * as TestRuntime from "../../layers/testing/TestRuntime.ts"
import * as Ids from "../../src/Ids.ts"
import { text } from "../../src/testing/ScriptedModel.ts"
import type * as Entry from "../../src/thread/Entry.ts"
import { Threads } from "../../src/thread/Threads.ts"
import * as ThreadLog from "../../src/turn/ThreadLog.ts"
import { compacted, turn, user } from "./Entries.ts"

const { TestRuntime: Troupe } = TestRuntime

const thread = (n: number) => Ids.ThreadId.make(`thr_${String(n).padStart(26, "0")}`)

/** A log of entries that hold about so many characters each. */
const logOf = (...texts: ReadonlyArray<number>): ThreadLog.ThreadLog => {
  const log = ThreadLog.make(1)
  for (const [index, chars] of texts.entries()) {
    log.take({ seq: index + 1, at: 0, entry: user(index + 1, { text: "x".repeat(chars) }) })
  }
  return log
}

const seqs = (log: ThreadLog.ThreadLog | undefined) => log?.entries().map(({ seq }) => seq)

describe("the log of a thread in memory", () => {
  const hiding: Readonly<Record<string, Entry.Entry>> = {
    trim: { _tag: "HistoryTrimmed", turnId: turn(1), keepFrom: 2, removedMessages: 1 },
    summary: compacted(3, { readFrom: 2 })
  }
  for (const [what, entry] of Object.entries(hiding)) {
    it(`reads on after its last entry, and lets go of what a ${what} hides`, () => {
      const log = logOf(5000, 10, 10)
      assert.strictEqual(log.nextSeq(), 4)
      const before = log.chars()
      log.take({ seq: 4, at: 0, entry })
      assert.strictEqual(log.nextSeq(), 5)
      assert.deepStrictEqual(seqs(log), [2, 3, 4])
      assert.isBelow(log.chars(), before - 4000)
    })
  }

  it("is kept as long as all together are not too long; those used last are kept", () => {
    const kept = ThreadLog.keeping(30_000)
    for (const n of [1, 2]) kept.keep(thread(n), logOf(10_000))
    const first = kept.take(thread(1))
    assert(first !== undefined)
    assert.isUndefined(kept.take(thread(1)), "one log was given to two")
    kept.keep(thread(1), first)
    kept.keep(thread(3), logOf(10_000))
    assert.isUndefined(kept.take(thread(2)))
    assert.deepStrictEqual([seqs(kept.take(thread(1))), seqs(kept.take(thread(3)))], [[1], [1]])
    kept.keep(thread(4), logOf(40_000))
    assert.isUndefined(kept.take(thread(4)))
    kept.keep(thread(5), logOf(10_000))
    kept.drop(thread(5))
    assert.isUndefined(kept.take(thread(5)))
  })

  it.effect("is read by a turn from where the turn before ended, and whole after the thread left memory", () => {
    const turnPages: Array<number> = []
    const over = Layer.effect(
      Threads,
      Effect.map(Threads, (threads) => ({
        ...threads,
        entries: (id: Ids.ThreadId, page: { readonly from: number; readonly limit: number }) => {
          // A watcher reads smaller pages than a turn.
          if (page.limit >= 500) turnPages.push(page.from)
          return threads.entries(id, page)
        }
      }))
    )
    const firstOf = (turn: { readonly entries: ReadonlyArray<Entry.Entry> }) => {
      const pages = turnPages.splice(0)
      return [pages[0], turn.entries.length]
    }
    const heard: Array<number> = []
    const scripts: TestRuntime.Options["scripts"] = ({ prompt }) => {
      heard.push(prompt.content.filter(({ role }) => role === "user").length)
      return [text("fine")]
    }
    return Effect.gen(function* () {
      const troupe = yield* Troupe
      const [one, length] = firstOf(yield* troupe.say("one"))
      assert.strictEqual(one, 1)
      const [two, longer] = firstOf(yield* troupe.say("two"))
      assert.strictEqual(two, (length ?? 0) + 1)
      assert.strictEqual(firstOf(yield* troupe.say("three"))[0], (longer ?? 0) + 1)
      yield* TestClock.adjust("2 minutes")
      assert.strictEqual(firstOf(yield* troupe.say("four"))[0], 1)
      assert.deepStrictEqual(heard, [1, 2, 3, 4])
    }).pipe(Effect.provide(TestRuntime.layer({ scripts, over })))
  })
})
