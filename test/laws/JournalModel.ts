/**
 * The journal against a model of it in plain objects: any sequence of operations by two processes, valid or not, leaves the
 * database in the state that the model says, and an operation that the model refuses is refused and changes nothing.
 */
import { assert, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import type { Claim, ClaimLost } from "../../src/conversation/Journal.ts"
import * as Ids from "../../src/Ids.ts"
import * as Entry from "../../src/thread/Entry.ts"
import type { MessageState } from "../../src/thread/Threads.ts"
import { answered, assistant, guidance, logOf, message, reply } from "./Messages.ts"
import * as Store from "./Store.ts"

const two = Schema.Literals([0, 1])
const three = Schema.Literals([0, 1, 2])
/** Which process acts, on which thread. */
const actor = { process: two, thread: three }

const Command = Schema.TaggedUnion({
  Accept: {
    thread: three,
    external: Schema.Literals([0, 1, 2, 3, 4, 5, 6, 7]),
    source: Entry.Source,
    delivery: Entry.Delivery
  },
  Claim: actor,
  Start: { ...actor, take: three },
  Resume: actor,
  Suspend: actor,
  Fold: { ...actor, take: three },
  Append: { ...actor, kinds: Schema.Array(Schema.Literals(["Guidance", "AssistantMessage", "HistoryTrimmed"])) },
  End: { ...actor, state: Entry.TurnEnd, replies: three }
})
type Command = typeof Command.Type

export const property = (backend: Store.Backend) =>
  it.effect.prop(
    "whatever two processes do in whatever order, the database says what the model says",
    { commands: Arbitrary.array(Arbitrary.schema(Command), { minLength: 20, maxLength: 60 }) },
    ({ commands }) => Effect.provide(Effect.scoped(follow(commands)), backend),
    { arbitrary: { runs: 25, maxShrinks: 200 }, timeout: 120_000 }
  )

interface Message {
  readonly id: Ids.MessageId
  readonly foldable: boolean
  state: MessageState
}

interface Turn {
  readonly id: Ids.TurnId
  readonly taken: Array<Message>
  attempts: number
  steps: number
}

interface Thread {
  readonly id: Ids.ThreadId
  readonly log: Array<Entry.EntryKind>
  readonly messages: Array<Message>
  owner: number | undefined
  running: Turn | undefined
  historyFrom: number
}

interface World {
  readonly processes: ReadonlyArray<Store.Process>
  readonly threads: Map<number, Thread>
  /** Messages by their external id. */
  readonly externals: Map<number, Ids.MessageId>
  replies: number
}

const follow = Effect.fnUntraced(function* (commands: ReadonlyArray<Command>) {
  const processes = [yield* Store.startProcess, yield* Store.startProcess]
  const world: World = { processes, threads: new Map(), externals: new Map(), replies: 0 }
  for (const command of commands) {
    yield* command._tag === "Accept" ? accept(world, command) : act(world, command)
    yield* agrees(world)
  }
})

const accept = Effect.fnUntraced(function* (world: World, command: Extract<Command, { _tag: "Accept" }>) {
  const { delivery, external, source } = command
  const [process] = world.processes
  assert.isDefined(process)
  const inbound = message({ thread: `console:${command.thread}`, externalId: `${external}`, source, delivery })
  const receipt = yield* process.journal.accept(inbound)
  const earlier = world.externals.get(external)
  assert.strictEqual(receipt.duplicate, earlier !== undefined)
  if (earlier !== undefined) return assert.strictEqual(receipt.messageId, earlier)

  const known = world.threads.get(command.thread)
  const thread: Thread = known ?? {
    id: receipt.threadId,
    log: [],
    messages: [],
    // A new thread belongs to the process that accepts its first message.
    owner: 0,
    running: undefined,
    historyFrom: 1
  }
  assert.strictEqual(receipt.threadId, thread.id)
  thread.log.push("UserMessage")
  assert.strictEqual(receipt.seq, thread.log.length)
  const foldable = source === "person" && delivery !== "after-turn"
  thread.messages.push({ id: receipt.messageId, foldable, state: "accepted" })
  world.externals.set(external, receipt.messageId)
  world.threads.set(command.thread, thread)
})

/** An operation on a thread, what the model expects of it, and what it does to the model when it goes through. */
interface Step {
  readonly operation: Effect.Effect<unknown, ClaimLost>
  readonly allowed: boolean
  readonly effect: () => void
}

const act = Effect.fnUntraced(function* (world: World, command: Exclude<Command, { _tag: "Accept" }>) {
  const thread = world.threads.get(command.thread)
  const process = world.processes[command.process]
  if (thread === undefined || process === undefined) return
  if (command._tag === "Claim") {
    yield* process.journal.claim(thread.id)
    thread.owner = command.process
    return
  }
  const claim = { threadId: thread.id, incarnation: process.incarnation }
  const step = plan(world, thread, process, claim, command, yield* Ids.makeTurnId)
  const lost = thread.owner !== command.process
  if (!lost && step.allowed) {
    yield* step.operation
    return step.effect()
  }
  const before = yield* Store.dump
  const exit = yield* Effect.exit(step.operation)
  assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause) === !lost, `${command._tag} must be refused`)
  assert.deepStrictEqual(yield* Store.dump, before)
})

type Claimed = Exclude<Command, { _tag: "Accept" } | { _tag: "Claim" }>

const plan = (
  world: World,
  thread: Thread,
  process: Store.Process,
  claim: Claim,
  command: Claimed,
  fresh: Ids.TurnId
): Step => {
  const { journal } = process
  const { running } = thread
  const turnId = running?.id ?? fresh
  const waiting = thread.messages.filter((one) => one.state === "accepted")
  switch (command._tag) {
    case "Start": {
      const taken = waiting.slice(0, command.take)
      const messageIds = taken.map((one) => one.id)
      return {
        operation: journal.startTurn(claim, { turnId: fresh, messageIds, agent: "main" }),
        allowed: running === undefined,
        effect: () => {
          thread.running = { id: fresh, taken, attempts: 1, steps: 0 }
          for (const one of taken) one.state = "running"
          thread.log.push("TurnStarted")
        }
      }
    }
    case "Resume":
      return {
        operation: journal.resumeTurn(claim, turnId),
        allowed: running !== undefined,
        effect: () => {
          if (running !== undefined) running.attempts++
          thread.log.push("TurnResumed")
        }
      }
    case "Suspend":
      return {
        operation: journal.suspendTurn(claim, turnId),
        // The database keeps the count from going below zero.
        allowed: running !== undefined && running.attempts > 0,
        effect: () => {
          if (running !== undefined) running.attempts--
        }
      }
    case "Fold": {
      const taken = waiting.slice(0, command.take)
      return {
        operation: journal.fold(
          claim,
          turnId,
          taken.map((one) => one.id)
        ),
        allowed: running !== undefined && taken.every((one) => one.foldable),
        effect: () => {
          running?.taken.push(...taken)
          for (const one of taken) one.state = "running"
          thread.log.push("MessagesFolded")
        }
      }
    }
    case "Append": {
      const keepFrom = thread.log.length
      let steps = running?.steps ?? 0
      const entries = command.kinds.map((kind): Entry.Entry => {
        if (kind === "Guidance") return guidance(turnId)
        if (kind === "AssistantMessage") return assistant(turnId, ++steps)
        return { _tag: "HistoryTrimmed", turnId, keepFrom, removedMessages: 1 }
      })
      return {
        operation: journal.append(claim, entries),
        allowed: running !== undefined || entries.length === 0,
        effect: () => {
          thread.log.push(...command.kinds)
          if (command.kinds.includes("HistoryTrimmed")) thread.historyFrom = keepFrom
          if (running !== undefined) running.steps = steps
        }
      }
    }
    case "End": {
      return {
        operation: journal.endTurn(
          claim,
          answered(turnId, {
            state: command.state,
            replies: Array.from({ length: command.replies }, (_, index) => reply(`${index}`))
          })
        ),
        allowed: running !== undefined,
        effect: () => {
          for (const one of running?.taken ?? []) one.state = command.state === "parked" ? "failed" : command.state
          thread.running = undefined
          thread.log.push("TurnEnded")
          world.replies += command.replies
        }
      }
    }
  }
}

/** The database as the second process sees it is the model. */
const agrees = Effect.fnUntraced(function* (world: World) {
  const [, reader] = world.processes
  assert.isDefined(reader)
  for (const thread of world.threads.values()) {
    const stored = yield* logOf(reader, thread.id)
    assert.deepStrictEqual(
      stored.map((one) => [one.seq, one.entry._tag]),
      thread.log.map((kind, index) => [index + 1, kind])
    )
    assert.deepInclude(yield* reader.threads.get(thread.id), {
      entries: thread.log.length,
      historyFrom: thread.historyFrom
    })
    const owed = yield* reader.journal.owed(thread.id)
    assert.deepStrictEqual(
      owed.running,
      thread.running === undefined
        ? null
        : {
            turnId: thread.running.id,
            attempts: thread.running.attempts,
            steps: thread.running.steps,
            activeMillis: 0,
            startedAt: 0
          }
    )
    assert.deepStrictEqual(
      owed.waiting.map((waiting) => waiting.messageId),
      thread.messages.filter((one) => one.state === "accepted").map((one) => one.id)
    )
    for (const one of thread.messages) assert.strictEqual((yield* reader.threads.receipt(one.id)).state, one.state)
  }
  const indebted = [...world.threads.values()].filter(
    (thread) => thread.running !== undefined || thread.messages.some((one) => one.state === "accepted")
  )
  assert.sameMembers(
    [...(yield* reader.journal.owedThreads(10))],
    indebted.map((thread) => thread.id)
  )
  const pending = yield* reader.outbox.pending
  assert.deepStrictEqual(pending, world.replies === 0 ? [] : [{ channel: "push", count: world.replies }])
})
