/** One message, one answer: for scripts, and for people in a hurry. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
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
import type * as Approvals from "../../../src/approval/Approvals.ts"
import { TroupeClient } from "../../../src/client/TroupeClient.ts"
import type { WatchItem } from "../../../src/conversation/Conversations.ts"
import type * as Ids from "../../../src/Ids.ts"
import type * as Threads from "../../../src/thread/Threads.ts"
import * as Keys from "./Keys.ts"

export interface Options {
  readonly json: boolean
  readonly timeoutSeconds: number | undefined
}

/**
 * Sends the message and follows it to its end. Fails with the exit code of how it ended, unless it was answered. The time
 * that is allowed covers all of it: finding the daemon, sending, and the answer.
 */
export const once = Effect.fnUntraced(function* <E, R>(
  thread: Threads.ThreadKey,
  text: string,
  options: Options,
  session: Layer.Layer<TroupeClient, E, R>
) {
  const { timeoutSeconds } = options
  const began = yield* Clock.currentTimeMillis
  const [context, sent] = yield* send(thread, text, session, timeoutSeconds)
  const following = Effect.provideContext(follow(thread, sent.messageId, sent.seq, options), context)
  const waiting =
    timeoutSeconds === undefined
      ? following
      : Effect.timeoutOrElse(following, {
          duration: Duration.millis(began + timeoutSeconds * 1000 - (yield* Clock.currentTimeMillis)),
          orElse: () => Effect.fail(tooLate(timeoutSeconds, thread))
        })
  // Ctrl+C means the turn too; time running out does not.
  const answer = yield* Effect.onInterrupt(waiting, () =>
    Context.get(context, TroupeClient).Stop({ thread }).pipe(Effect.timeout("2 seconds"), Effect.ignore)
  )
  yield* conclude(answer, sent, options)
}, Effect.scoped)

/** Finds the daemon, or starts one, and has it take the message. Only the second has a limit when none is asked for. */
const send = Effect.fnUntraced(function* <E, R>(
  thread: Threads.ThreadKey,
  text: string,
  session: Layer.Layer<TroupeClient, E, R>,
  timeoutSeconds: number | undefined
) {
  const sending = Effect.gen(function* () {
    const context = yield* Layer.build(session)
    const taking = Context.get(context, TroupeClient).Send({ thread, text })
    const sent = yield* timeoutSeconds === undefined ? within(taking, longestSend) : taking
    return [context, sent] as const
  })
  return yield* timeoutSeconds === undefined ? sending : within(sending, timeoutSeconds)
})

const within = <A, E, R>(effect: Effect.Effect<A, E, R>, seconds: number) =>
  Effect.timeoutOrElse(effect, {
    duration: Duration.seconds(seconds),
    orElse: () => Effect.fail(notTaken(seconds))
  })

/** How long a daemon that was just found may take to accept a message, in seconds. */
const longestSend = 10

const notTaken = (seconds: number) =>
  unavailable(
    `The daemon did not say within ${seconds} s that it has the message. Is its process stopped? \`troupe status\` asks it.`
  )

const follow = Effect.fnUntraced(function* (
  thread: Threads.ThreadKey,
  messageId: Ids.MessageId,
  from: number,
  options: Options
) {
  const client = yield* TroupeClient
  const output = yield* Output
  let answer = Answer.start(messageId)
  let view = ChatView.empty
  let cutSince: number | undefined
  const gone = yield* Deferred.make<never, CommandFailed>()
  const asked = new Set<string>()

  const decide = Effect.fnUntraced(function* (request: Approvals.ApprovalRequest) {
    if (asked.has(request.approvalId)) return
    asked.add(request.approvalId)
    const decision = (yield* ask(request)) ? "approved" : "denied"
    yield* client.Decide({ thread, approvalId: request.approvalId, decision }).pipe(
      // Its time ran out, or somebody else answered.
      Effect.catchTag("ApprovalNotFound", (error) => output.err(`${error.message}\n`))
    )
  })

  const questions = (item: WatchItem) =>
    item._tag === "Live" && item.event._tag === "ApprovalRequested"
      ? decide(item.event.request)
      : item._tag === "CaughtUp"
        ? Effect.flatMap(client.Inspect({ thread }), ({ approvals }) => Effect.forEach(approvals, decide))
        : Effect.void

  // A stop ends messages that no turn has taken up.
  const isOver = (item: WatchItem) =>
    answer.end !== undefined
      ? Effect.succeed(true)
      : item._tag === "Entry" && item.stored.entry._tag === "TurnEnded" && answer.turnId === undefined
        ? Effect.map(client.MessageState({ messageId }), ({ state }) => state !== "accepted" && state !== "running")
        : Effect.succeed(false)

  // A daemon that is restarted goes on with the turn; one that has gone, perhaps with its console, does not.
  const onCut = Effect.fnUntraced(function* () {
    const now = yield* Clock.currentTimeMillis
    cutSince ??= now
    if (now - cutSince > longestCut) yield* Deferred.fail(gone, lost(thread))
  })

  const following = client.watch({ thread, from, onCut }).pipe(
    Stream.tap((item) =>
      Effect.gen(function* () {
        cutSince = undefined
        answer = Answer.next(answer, item)
        if (options.json) yield* output.out(line(item))
        else if (output.errIsTerminal) view = yield* progress(view, item)
        yield* questions(item)
      })
    ),
    Stream.takeUntilEffect(isOver),
    Stream.runDrain
  )
  yield* Effect.raceFirst(following, Deferred.await(gone))
  return answer
})

/** Tool calls as they happen, for whoever looks at the terminal; the words come at the end, on standard output. */
const progress = Effect.fnUntraced(function* (view: ChatView.View, item: WatchItem) {
  const output = yield* Output
  const [next, text] = ChatView.next(view, item, output.errStyle)
  if (item._tag === "Entry" && item.stored.entry._tag === "ToolResult") yield* output.err(text)
  return next
})

const ask = Effect.fnUntraced(function* (request: Approvals.ApprovalRequest) {
  const output = yield* Output
  if (!output.inIsTerminal || !output.errIsTerminal) {
    const call = `${Plain.clipped(request.tool, 64)} ${Plain.clipped(request.detail, 200)}`
    yield* output.err(`Denied, since nobody can be asked here: ${call}\n`)
    return false
  }
  yield* output.err(`${ChatView.question(request, output.errStyle)} [y/n] `)
  const yes = yield* Keys.yesOrNo
  yield* output.err(yes ? "yes\n" : "no\n")
  return yes
})

const conclude = Effect.fnUntraced(function* (
  answer: Answer.Answer,
  sent: { readonly threadId: Ids.ThreadId },
  options: Options
) {
  const output = yield* Output
  const state = answer.end?.state ?? "stopped"
  if (options.json) {
    const { messageId, steps, text, turnId, usage } = answer
    const failure = answer.end?.failure
    const result = {
      type: "result",
      state,
      text,
      threadId: sent.threadId,
      messageId,
      turnId: turnId ?? null,
      steps,
      usage
    }
    yield* output.out(`${JSON.stringify(failure === undefined ? result : { ...result, failure })}\n`)
  }
  if (state === "answered") return yield* options.json ? Effect.void : output.out(`${Plain.lines(answer.text)}\n`)
  const code = state === "stopped" ? exitCodes.interrupted : exitCodes.failed
  const why = answer.end?.failure?.message ?? answer.end?.reason ?? (answer.text === "" ? undefined : answer.text)
  return yield* new CommandFailed({ code, text: Plain.lines(`${ended[state]}${why === undefined ? "" : `: ${why}`}`) })
})

const ended = { failed: "The turn failed", stopped: "The turn was stopped", parked: "The turn was given up" } as const

/** How long the daemon may be away, in milliseconds. */
const longestCut = 15_000

const lost = (thread: Threads.ThreadKey) =>
  unavailable(`The daemon went away before it answered. The message is kept: \`troupe history ${thread}\` shows it.`)

const tooLate = (seconds: number, thread: Threads.ThreadKey) =>
  new CommandFailed({
    code: exitCodes.failed,
    text: `No answer within ${seconds} s. The message is kept and may still be answered: \`troupe history ${thread}\` shows it.`
  })

/** One item of the watch as one line. The shape is documented in docs/console.md and kept. */
const line = (item: WatchItem): string => {
  switch (item._tag) {
    case "Entry":
      return `${JSON.stringify({ type: "entry", ...item.stored })}\n`
    case "Live":
      return `${JSON.stringify({ type: "event", event: item.event })}\n`
    case "CaughtUp":
      return ""
  }
}
