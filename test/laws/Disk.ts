/** What every operation on the store must hold when the disk fails under it, at whichever of its statements. */
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as SqlClient from "effect/sql/SqlClient"
import * as HeldLive from "../../layers/conversation/Held.ts"
import { Held } from "../../src/conversation/Held.ts"
import { type ClaimLost, Journal } from "../../src/conversation/Journal.ts"
import * as Ids from "../../src/Ids.ts"
import { type StorageUnavailable, unavailableIn } from "../../src/storage/StorageError.ts"
import { type ThreadNotFound, Threads } from "../../src/thread/Threads.ts"
import { DiskRig, kinds, type Kind } from "../rigs/DiskRig.ts"
import * as DiskRigs from "../rigs/DiskRig.ts"
import { answerWith, answered, assistant, beginTurn, guidance, message, reply } from "./Messages.ts"
import * as Store from "./Store.ts"

type Operation = Effect.Effect<unknown, ClaimLost | StorageUnavailable | ThreadNotFound>

/** An operation in a state of the store where it can be done, told apart by whether its failure is a typed one. */
interface Prepared {
  readonly typed: boolean
  readonly operation: Operation
}

type Prepare = (process: Store.Process) => Effect.Effect<Prepared, never, SqlClient.SqlClient>

const defect = (operation: Operation): Prepared => ({ typed: false, operation })
const typed = (operation: Operation): Prepared => ({ typed: true, operation })

const operations: Readonly<Record<string, Prepare>> = {
  "accept in a new thread": ({ journal }) =>
    Effect.sync(() => typed(journal.accept(message({ thread: "console:new", cursor: "9" })))),
  "accept in a known thread": (process) =>
    Effect.as(Effect.orDie(beginTurn(process)), typed(process.journal.accept(message()))),
  claim: ({ journal }) =>
    Effect.map(Effect.orDie(journal.accept(message())), ({ threadId }) => defect(journal.claim(threadId))),
  startTurn: ({ journal }) =>
    Effect.gen(function* () {
      const { messageId, threadId } = yield* journal.accept(message())
      const claim = yield* journal.claim(threadId)
      const turnId = yield* Ids.makeTurnId
      return defect(journal.startTurn(claim, { turnId, messageIds: [messageId], agent: "main" }))
    }).pipe(Effect.orDie),
  resumeTurn: (process) => turn(process, ({ claim, turnId }) => process.journal.resumeTurn(claim, turnId)),
  suspendTurn: (process) => turn(process, ({ claim, turnId }) => process.journal.suspendTurn(claim, turnId)),
  fold: (process) => turn(process, ({ claim, turnId, waiting }) => process.journal.fold(claim, turnId, [waiting])),
  append: (process) =>
    turn(process, ({ claim, turnId }) => process.journal.append(claim, [assistant(turnId, 1), guidance(turnId)])),
  endTurn: (process) =>
    turn(process, ({ claim, turnId }) => process.journal.endTurn(claim, answered(turnId, { replies: [reply("hi")] }))),
  owed: (process) => turn(process, ({ threadId }) => process.journal.owed(threadId)),
  "take a delivery": (process) =>
    Effect.as(Effect.orDie(answerWith(process, [reply("hi")])), defect(process.outbox.take("push", 5))),
  "note a delivery": (process) => delivery(process, (id) => process.outbox.delivered(id)),
  "note a refusal": (process) => delivery(process, (id) => process.outbox.retry(id, 9, "busy")),
  "rewrite a delivery": (process) =>
    delivery(process, (id) =>
      process.outbox.rewrite(id, {
        text: "hi",
        format: { kind: "text" },
        repair: { attempts: 0, kind: "html", original: "hi" }
      })
    ),
  "give a delivery up": (process) => delivery(process, (id) => process.outbox.failed(id, "no")),
  "release held work": (process) => held(process, "resume"),
  "drop held work": (process) => held(process, "drop")
}

const turn = (
  process: Store.Process,
  operation: (at: Effect.Success<ReturnType<typeof beginTurn>> & { readonly waiting: Ids.MessageId }) => Operation
) =>
  Effect.gen(function* () {
    const begun = yield* beginTurn(process)
    const waiting = yield* process.journal.accept(message())
    return defect(operation({ ...begun, waiting: waiting.messageId }))
  }).pipe(Effect.orDie)

const delivery = (process: Store.Process, operation: (id: Ids.DeliveryId) => Operation) =>
  Effect.gen(function* () {
    yield* answerWith(process, [reply("hi")])
    const [taken] = yield* process.outbox.take("push", 1)
    assert(taken !== undefined)
    return defect(operation(taken.id))
  }).pipe(Effect.orDie)

const held = (process: Store.Process, how: "resume" | "drop") =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* answerWith(process, [reply("hi")])
    yield* beginTurn(process)
    yield* process.journal.accept(message())
    yield* sql`UPDATE threads SET held = 1 WHERE key = 'console:main'`
    yield* sql`UPDATE outbox SET held = 1`
    const services = Layer.mergeAll(
      Layer.succeed(Journal, process.journal),
      Layer.succeed(Threads, process.threads),
      Layer.succeed(SqlClient.SqlClient, sql)
    )
    const { release } = yield* Effect.provide(Held, HeldLive.layer.pipe(Layer.provide(services)))
    return typed(release(how))
  }).pipe(Effect.orDie)

/** Fails the operation at each of its statements in turn, until there is none left and it goes through. */
const everyStatement = (prepared: Prepared, kind: Kind) =>
  Effect.gen(function* () {
    const rig = yield* DiskRig
    for (let nth = 1; ; nth++) {
      const before = yield* Store.dump
      const failed = rig.failFrom(nth, kind)
      const exit = yield* Effect.exit(prepared.operation)
      const hit = failed()
      rig.heal()
      if (!hit) {
        assert.isTrue(Exit.isSuccess(exit), `statement ${nth} was not reached, and yet it failed`)
        assert.isAbove(nth, 1)
        return
      }
      assert(Exit.isFailure(exit), `statement ${nth} failed and nobody was told`)
      assert.strictEqual(unavailableIn(exit.cause)?.reason, kind.reason, Cause.pretty(exit.cause))
      assert.strictEqual(Cause.hasFails(exit.cause), prepared.typed, Cause.pretty(exit.cause))
      assert.deepStrictEqual(yield* Store.dump, before, `statement ${nth} left something behind`)
    }
  })

/** `backend` must wait for no lock for long: the rig holds one for ever. */
export const laws = (name: string, backend: Store.Backend) =>
  describe(`A failing disk: ${name}`, () => {
    const layer = DiskRigs.over(backend)
    for (const [title, prepare] of Object.entries(operations)) {
      it.live(`${title}: all of it or nothing, a reason, and the next attempt goes through`, () =>
        Effect.forEach(
          kinds,
          (kind) =>
            Effect.gen(function* () {
              const process = yield* Store.startProcess
              yield* everyStatement(yield* prepare(process), kind)
            }).pipe(Effect.scoped, Effect.provide(layer), Effect.annotateLogs({ kind: kind.name })),
          { discard: true }
        )
      )
    }
  })
