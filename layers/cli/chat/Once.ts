/** One message, one answer: for scripts, and for people in a hurry. */
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as Answer from "../../../src/cli/Answer.ts"
import * as ChatView from "../../../src/cli/ChatView.ts"
import { CommandFailed, exitCodes, unavailable } from "../../../src/cli/CommandFailed.ts"
import { Output } from "../../../src/cli/Output.ts"
import * as Plain from "../../../src/cli/Plain.ts"
import * as Transcript from "../../../src/cli/Transcript.ts"
import * as Held from "../../../src/conversation/Held.ts"
import * as Outcome from "../../../src/conversation/Outcome.ts"
import type { Encoded } from "../../../src/attachment/Attachment.ts"
import { TroupeClient } from "../../../src/client/TroupeClient.ts"
import * as Monotonic from "../../../src/Monotonic.ts"
import type * as TroupeRpcs from "../../../src/rpc/TroupeRpcs.ts"
import type * as Threads from "../../../src/thread/Threads.ts"
import * as Holding from "./Holding.ts"
import * as Questions from "./Questions.ts"

export interface Options {
  readonly json: boolean
  readonly timeoutSeconds: number | undefined
  /** Files to send along. */
  readonly attachments?: ReadonlyArray<Encoded>
}

/**
 * Sends the message and follows it to its end. Fails with the exit code of how it ended, unless it was answered. The time
 * that is allowed covers all of it: finding the daemon, or starting one, sending, and the answer.
 */
export const once = Effect.fnUntraced(function* <E, R>(
  thread: Threads.ThreadKey,
  text: string,
  options: Options,
  session: Layer.Layer<TroupeClient, E, R>
) {
  const { timeoutSeconds } = options
  const began = yield* Monotonic.millis
  const context = yield* timeoutSeconds === undefined
    ? Layer.build(session)
    : within(Layer.build(session), timeoutSeconds * 1000, timeoutSeconds)
  yield* conclude(yield* Effect.provideContext(exchange(thread, text, options, began), context), options)
}, Effect.scoped)

const exchange = Effect.fnUntraced(function* (
  thread: Threads.ThreadKey,
  text: string,
  options: Options,
  began: number
) {
  const client = yield* TroupeClient
  const output = yield* Output
  const { attachments = [] } = options
  const taken = yield* Deferred.make<TroupeRpcs.Accepted>()
  const gone = yield* Deferred.make<never, CommandFailed>()
  const questions = yield* Questions.make(thread)
  let accepted: TroupeRpcs.Accepted | undefined
  let answer: Answer.Answer | undefined
  let outcome: Outcome.Outcome | undefined
  let view = ChatView.empty
  let cutSince: number | undefined

  const take = Effect.fnUntraced(function* (item: TroupeRpcs.SentItem) {
    cutSince = undefined
    if (item._tag === "Accepted") {
      accepted = item
      answer = Answer.start(item.messageId)
      yield* Deferred.succeed(taken, item)
    } else if (answer !== undefined) {
      answer = Answer.next(answer, item)
      if (options.json) yield* output.out(line(item))
      else {
        yield* warn(item)
        if (output.errIsTerminal) view = yield* progress(view, item)
      }
      yield* questions(item, answer)
    }
  })

  const isOver = (item: TroupeRpcs.SentItem) => {
    if (answer === undefined || item._tag === "Accepted") return Effect.succeed(false)
    const receipt = client.MessageState({ messageId: answer.messageId })
    return Effect.map(Outcome.after(item, { turnId: answer.turnId, ended: answer.end }, receipt), (found) => {
      outcome = found
      return found !== undefined
    })
  }

  // A daemon that is restarted goes on with the turn; one that has gone, perhaps with its console, does not.
  const onCut = Effect.fnUntraced(function* () {
    const now = yield* Monotonic.millis
    cutSince ??= now
    if (now - cutSince > longestCut) yield* Deferred.fail(gone, lost(thread))
  })

  const following = client
    .sendAndWatch({ thread, text, ...(attachments.length === 0 ? {} : { attachments }) }, { onCut })
    .pipe(Stream.tap(take), Stream.takeUntilEffect(isOver), Stream.runDrain)

  // What serves another's message as well is not this command's to stop, nor is a turn before this message's.
  const stop = Effect.suspend(() =>
    answer?.alone === true
      ? client.Stop({ thread }).pipe(Effect.timeout("2 seconds"), Effect.ignore)
      : accepted === undefined
        ? Effect.void
        : output.err(`${notStopped(thread)}\n`)
  )

  // Ctrl+C means the turn too; time running out does not.
  yield* Effect.raceFirst(
    following,
    Effect.raceFirst(Deferred.await(gone), tooLong(taken, thread, began, options))
  ).pipe(Effect.onInterrupt(() => stop))
  return accepted === undefined || answer === undefined || outcome === undefined
    ? yield* lost(thread)
    : ({ accepted, answer, outcome } as const)
})

/** Fails when the time that is allowed is over. A daemon that was just found has a limit also when none is asked for. */
const tooLong = Effect.fnUntraced(function* (
  taken: Deferred.Deferred<TroupeRpcs.Accepted>,
  thread: Threads.ThreadKey,
  began: number,
  { timeoutSeconds }: Options
) {
  const left = (seconds: number) => Effect.map(Monotonic.millis, (now) => began + seconds * 1000 - now)
  const { threadId } = yield* timeoutSeconds === undefined
    ? within(Deferred.await(taken), longestSend * 1000, longestSend)
    : within(Deferred.await(taken), yield* left(timeoutSeconds), timeoutSeconds)
  if (yield* Holding.holds(threadId)) yield* (yield* Output).err(`The message waits. ${Held.why}\n`)
  if (timeoutSeconds === undefined) return yield* Effect.never
  yield* Effect.sleep(yield* left(timeoutSeconds))
  return yield* tooLate(timeoutSeconds, thread)
})

const within = <A, E, R>(effect: Effect.Effect<A, E, R>, millis: number, seconds: number) =>
  Effect.timeoutOrElse(effect, {
    duration: Duration.millis(millis),
    orElse: () => Effect.fail(notTaken(seconds))
  })

/** How long a daemon that was just found may take to accept a message, in seconds. */
const longestSend = 10

const notTaken = (seconds: number) =>
  unavailable(
    `The daemon did not say within ${seconds} s that it has the message. Is its process stopped? \`troupe status\` asks it.`
  )

/**
 * That another model answers than the one of the settings, and that there is a file, must not be hidden from whoever reads the
 * answer only.
 */
const warn = Effect.fnUntraced(function* (item: Exclude<TroupeRpcs.SentItem, TroupeRpcs.Accepted>) {
  if (item._tag !== "Entry") return
  const { entry } = item.stored
  const output = yield* Output
  if (entry._tag === "ModelSwitched") yield* output.err(`${Transcript.switched(entry, output.errStyle)}\n`)
  if (entry._tag === "FileSent") yield* output.err(`${Transcript.fileSent(entry, output.errStyle)}\n`)
})

/** Tool calls as they happen, for whoever looks at the terminal; the words come at the end, on standard output. */
const progress = Effect.fnUntraced(function* (
  view: ChatView.View,
  item: Exclude<TroupeRpcs.SentItem, TroupeRpcs.Accepted>
) {
  const output = yield* Output
  const [next, text] = ChatView.next(view, item, output.errStyle)
  if (item._tag === "Entry" && item.stored.entry._tag === "ToolResult") yield* output.err(text)
  if (item._tag === "Live" && item.event._tag === "ModelRetry") {
    yield* output.err(`${output.errStyle.dim(`  … ${ChatView.retryOf(item.event)}`)}\n`)
  }
  return next
})

const conclude = Effect.fnUntraced(function* (
  { accepted, answer, outcome }: Effect.Success<ReturnType<typeof exchange>>,
  options: Options
) {
  const output = yield* Output
  const { failure, state } = outcome
  if (options.json) {
    const { messageId, steps, text, turnId, usage } = answer
    const result = {
      type: "result",
      state,
      text,
      threadId: accepted.threadId,
      messageId,
      turnId: turnId ?? null,
      steps,
      usage
    }
    yield* output.out(Plain.json(failure === undefined ? result : { ...result, failure }))
  }
  if (state === "answered") return yield* options.json ? Effect.void : output.out(`${Plain.lines(answer.text)}\n`)
  const code = state === "stopped" ? exitCodes.interrupted : exitCodes.failed
  const why = failure?.message ?? answer.end?.reason ?? (answer.text === "" ? undefined : answer.text)
  return yield* new CommandFailed({ code, text: Plain.lines(`${ended[state]}${why === undefined ? "" : `: ${why}`}`) })
})

const ended = { failed: "The turn failed", stopped: "The turn was stopped", parked: "The turn was given up" } as const

/** How long the daemon may be away, in milliseconds. */
const longestCut = 15_000

const lost = (thread: Threads.ThreadKey) =>
  new CommandFailed({
    code: exitCodes.failed,
    text: `The daemon went away before it answered. The message is kept: \`troupe history ${thread}\` shows it.`
  })

const tooLate = (seconds: number, thread: Threads.ThreadKey) =>
  new CommandFailed({
    code: exitCodes.failed,
    text: `No answer within ${seconds} s. The message is kept and may still be answered: \`troupe history ${thread}\` shows it.`
  })

const notStopped = (thread: Threads.ThreadKey) =>
  `Not stopped: the turn serves others as well, or has not come to this message. It may still be answered: \`troupe history ${thread}\` shows it.`

/** One item of the watch as one line. The shape is documented in docs/console.md and kept. */
const line = (item: Exclude<TroupeRpcs.SentItem, TroupeRpcs.Accepted>): string => {
  switch (item._tag) {
    case "Entry":
      return Plain.json({ type: "entry", ...item.stored })
    case "Live":
      return Plain.json({ type: "event", event: item.event })
    case "CaughtUp":
      return ""
  }
}
