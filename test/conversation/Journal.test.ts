import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Ids from "../../src/Ids.ts"
import * as Journal from "../laws/Journal.ts"
import { answered, assistant, beginTurn, guidance, message, reply } from "../laws/Messages.ts"
import * as Store from "../laws/Store.ts"

for (const { layer, name } of Store.backends) Journal.laws(name, layer)

it.effect("the hot path sends few statements", () =>
  Effect.gen(function* () {
    const process = yield* Store.startProcess
    const { journal } = process
    const count = Store.countStatements
    assert.strictEqual(yield* count(journal.accept(message({ thread: "console:new" }))), 3)
    assert.strictEqual(yield* count(journal.accept(message({ thread: "console:new", cursor: "1" }))), 4)
    const { claim, messageId, threadId, turnId } = yield* beginTurn(process)
    assert.strictEqual(yield* count(journal.claim(threadId)), 1)
    assert.strictEqual(yield* count(journal.owed(threadId)), 2)
    assert.strictEqual(yield* count(journal.append(claim, [guidance(turnId)])), 2)
    assert.strictEqual(yield* count(journal.append(claim, [assistant(turnId, 1), guidance(turnId)])), 3)
    const waiting = yield* journal.accept(message())
    assert.strictEqual(yield* count(journal.fold(claim, turnId, [waiting.messageId])), 3)
    assert.strictEqual(yield* count(journal.resumeTurn(claim, turnId)), 3)
    assert.strictEqual(yield* count(journal.endTurn(claim, answered(turnId, { replies: [reply("hi")] }))), 5)
    const other = yield* journal.accept(message())
    const turn = { turnId: yield* Ids.makeTurnId, messageIds: [other.messageId], agent: "main", tools: [] }
    assert.strictEqual(yield* count(journal.startTurn(claim, turn)), 4)
    assert.strictEqual((yield* process.threads.receipt(messageId)).state, "answered")
  }).pipe(Effect.scoped, Effect.provide(Store.sqliteMemory))
)
