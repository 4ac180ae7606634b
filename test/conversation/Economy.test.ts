/** What a turn asks of the store: every look and every write is paid for by every message. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as TestRuntime from "../../layers/testing/TestRuntime.ts"
import type * as Journal from "../../src/conversation/Journal.ts"
import * as EventBus from "../../src/event/EventBus.ts"
import * as ScriptedModel from "../../src/testing/ScriptedModel.ts"
import * as Threads from "../../src/thread/Threads.ts"
import * as Fixtures from "./Fixtures.ts"

const counted = (asked: Array<string>) => ({
  journal: (journal: Journal.Journal["Service"]): Journal.Journal["Service"] => ({
    ...journal,
    accept: noting(asked, "accept", journal.accept),
    claim: noting(asked, "claim", journal.claim),
    owed: noting(asked, "owed", journal.owed),
    startTurn: noting(asked, "startTurn", journal.startTurn),
    append: noting(asked, "append", journal.append),
    endTurn: noting(asked, "endTurn", journal.endTurn)
  }),
  over: Layer.effect(
    Threads.Threads,
    Effect.map(Threads.Threads, (threads) =>
      Threads.Threads.of({
        ...threads,
        get: noting(asked, "thread", threads.get),
        entries: noting(asked, "entries", threads.entries)
      })
    )
  )
})

const noting =
  <Args extends ReadonlyArray<unknown>, A>(asked: Array<string>, name: string, operation: (...args: Args) => A) =>
  (...args: Args): A => {
    asked.push(name)
    return operation(...args)
  }

describe("a turn of a conversation that is in memory", () => {
  const asked: Array<string> = []

  it.effect("looks once at what is owed and once at its thread, reads its message, and writes each step once", () =>
    Effect.gen(function* () {
      const troupe = yield* TestRuntime.TestRuntime
      yield* troupe.say("first")
      const events = yield* (yield* EventBus.EventBus).subscribe
      asked.length = 0
      for (const text of ["second", "third"]) {
        yield* troupe.accept(text)
        yield* events.pipe(
          Stream.filter((event) => event._tag === "TurnCompleted"),
          Stream.runHead
        )
      }
      const turn = ["accept", "owed", "thread", "startTurn", "entries", "append", "append", "endTurn"]
      assert.deepStrictEqual(asked, [...turn, ...turn])
    }).pipe(
      Effect.provide(
        TestRuntime.layer({
          scripts: ({ prompt }) =>
            prompt.content.at(-1)?.role === "tool"
              ? [ScriptedModel.text("done")]
              : [ScriptedModel.toolCall("echo", { text: "x" })],
          tools: Fixtures.tools(({ text }) => Effect.succeed(text)),
          ...counted(asked)
        })
      )
    )
  )
})
