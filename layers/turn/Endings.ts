/** How a turn ends: its last entries, the outcome of its messages and the replies, in one write. */
import * as Effect from "effect/Effect"
import type { Approvals } from "../../src/approval/Approvals.ts"
import type * as Channels from "../../src/channel/Channels.ts"
import type * as Deliveries from "../../src/channel/Deliveries.ts"
import type * as Journal from "../../src/conversation/Journal.ts"
import type * as Entry from "../../src/thread/Entry.ts"
import type * as ToolCalls from "../../src/tool/ToolCalls.ts"
import type * as ToolContext from "../../src/tool/ToolContext.ts"
import * as TurnEntries from "../../src/turn/TurnEntries.ts"
import * as TurnState from "../../src/turn/TurnState.ts"
import * as TurnScope from "./TurnScope.ts"
import type * as Session from "./Session.ts"
import type * as Steering from "./Steering.ts"
import { doubtOf } from "./ToolStep.ts"

export interface Endings {
  /** With an answer, which is the given entry, or in the journal already. */
  readonly answered: (session: Session.Session, answer?: Entry.Entry) => Effect.Effect<void, Journal.ClaimLost>
  /** Without one: a limit or a failure ended it. The person is told in the given words. */
  readonly failed: (session: Session.Session, failure: Failure) => Effect.Effect<void, Journal.ClaimLost>
  readonly parked: (session: Session.Session) => Effect.Effect<void, Journal.ClaimLost>
  /** By interruption: a person's stop ends it, the process going away does not. */
  readonly interrupted: (session: Session.Session) => Effect.Effect<void, Journal.ClaimLost>
}

export interface Failure extends Entry.Failure {
  readonly reason?: string
  readonly notice: string
  /** The last answer is not given to the person. */
  readonly insteadOfAnswer?: boolean
}

interface Ending {
  readonly state: Entry.TurnEnd
  readonly reason?: string | undefined
  readonly failure?: Entry.Failure
  readonly insteadOfAnswer?: boolean
  readonly entries: ReadonlyArray<Entry.Entry>
}

export interface Surroundings {
  readonly channels: Channels.Channels["Service"]
  readonly deliveries: Deliveries.Deliveries["Service"]
  readonly steering: Steering.Steering
  readonly toolCalls: ToolCalls.ToolCalls["Service"]
  readonly approvals: Approvals["Service"]
  readonly ownerId: string
  /** What people are told of compactions. */
  readonly notify: "off" | "brief" | "full"
}

export const make = ({
  approvals,
  channels,
  deliveries,
  notify,
  ownerId,
  steering,
  toolCalls
}: Surroundings): Endings => {
  /** What goes to the outbox: nothing where the client reads the thread itself. A channel that is down still gets it. */
  const repliesOf = Effect.fnUntraced(function* (
    { channel, chat, turnId }: ToolContext.TurnScope,
    answers: ReadonlyArray<TurnState.Answer>,
    entries: ReadonlyArray<Entry.Entry>,
    session: Session.Session
  ) {
    // Whatever is wrong with the channels, the turn must be able to end.
    const way = yield* Effect.catchDefect(channels.find(channel), (defect) =>
      Effect.as(Effect.logError(`The channel ${channel} could not be looked up`, defect), undefined)
    )
    if (way !== undefined && way.deliver === undefined) return []
    const notices = entries.flatMap((entry) =>
      entry._tag === "Notice" ? [{ text: entry.text, format: undefined }] : []
    )
    const compactions =
      notify === "off"
        ? []
        : TurnEntries.compactions(session.entries(), turnId).map(({ summary }) => ({
            text: notify === "full" ? `${compactedText}\n\n${summary}` : compactedText,
            format: undefined
          }))
    const remarks = session.remarks.map((text) => ({ text, format: undefined }))
    return [...answers, ...notices, ...compactions, ...remarks].map(({ format, text }): Journal.Reply => ({
      channel,
      chat,
      text,
      ...(format === undefined ? {} : { format })
    }))
  })

  /** A result for every call that has none, so that the history stays valid. */
  const settled = (session: Session.Session): Effect.Effect<ReadonlyArray<Entry.Entry>> => {
    const { doubt, pending, turnId } = session.state()
    return Effect.forEach(pending, (call, index) =>
      Effect.gen(function* () {
        const heldBack = session.unsettled.get(call.callId)
        if (heldBack !== undefined) return heldBack
        const replay = yield* toolCalls.replay(call)
        const own = index === 0 ? yield* doubtOf(approvals, call, doubt) : "none"
        const begun = session.unsettled.has(call.callId) || TurnState.mayHaveRun(own, replay)
        return TurnEntries.refused(turnId, call, begun ? TurnEntries.unknownOutcome : TurnEntries.turnEnded)
      })
    )
  }

  const end = Effect.fnUntraced(function* (session: Session.Session, ending: Ending) {
    if (session.state().ended !== undefined) return
    const scope = TurnScope.of(session, ownerId)
    const entries = [...(yield* settled(session)), ...ending.entries]
    const folded = entries.reduce(TurnState.apply, session.state())
    const { failure, reason, state } = ending
    const answers = ending.insteadOfAnswer === true ? folded.answers.slice(0, -1) : folded.answers
    const replies = yield* repliesOf(scope, answers, entries, session)
    yield* session.end({
      state,
      ...(reason === undefined ? {} : { reason }),
      ...(failure === undefined ? {} : { failure }),
      entries,
      replies
    })
    yield* session.run.ended(state)
    // Nobody can use an answer any more. What cannot be withdrawn now runs out of time.
    yield* Effect.catchCause(withdraw(session), (cause) =>
      Effect.logWarning("Questions of a turn that has ended could not be withdrawn", cause)
    )
    if (replies.length > 0) yield* deliveries.wake
    const about = TurnScope.about(scope)
    // No end is told without a beginning, even if it came before the turn was ready to begin.
    if (!session.announced()) yield* session.publish({ _tag: "TurnStarted", ...about, availableTools: [] })
    yield* session.publish(
      state === "answered"
        ? {
            _tag: "TurnCompleted",
            ...about,
            ...TurnEntries.lastModel(session.entries()),
            steps: folded.steps,
            usage: folded.usage,
            toolsUsed: folded.toolsUsed,
            shouldReply: true,
            compactionPerformed: folded.compactions > 0,
            tokenTrace: TurnEntries.tokenTrace(session.entries(), scope.turnId, folded.usage)
          }
        : {
            _tag: "TurnFailed",
            ...about,
            state,
            failure: failure ?? { code: `turn:${state}`, message: stoppedText }
          }
    )
  }, Effect.uninterruptible)

  /** An earlier life may have asked what this one has not come to. */
  const withdraw = ({ run: { begin, turnId } }: Session.Session) =>
    Effect.andThen(begin._tag === "Resume" ? approvals.withdraw(turnId, []) : Effect.void, approvals.withdraw(turnId))

  const failed = Effect.fnUntraced(function* (session: Session.Session, failure: Failure) {
    yield* catchUp(session)
    if (session.state().ended !== undefined) return
    yield* end(session, {
      state: "failed",
      reason: failure.reason,
      failure: { code: failure.code, message: failure.message },
      insteadOfAnswer: failure.insteadOfAnswer === true,
      entries: [TurnEntries.notice(session.run.turnId, failure.notice)]
    })
  }, Effect.uninterruptible)

  const stopped = Effect.fnUntraced(function* (session: Session.Session) {
    yield* catchUp(session)
    if (session.state().ended !== undefined) return
    // What would have joined ends with it, and the next turn sees that it was said.
    const joining = yield* steering.waiting(session)
    if (joining.length > 0) yield* session.fold(joining)
    yield* end(session, { state: "stopped", entries: [TurnEntries.notice(session.run.turnId, stoppedText)] })
  })

  return {
    answered: (session, answer) => end(session, { state: "answered", entries: answer === undefined ? [] : [answer] }),
    failed,
    parked: (session) =>
      end(session, {
        state: "parked",
        failure: { code: "turn:parked", message: parkedText },
        entries: [TurnEntries.notice(session.run.turnId, parkedText)]
      }),
    interrupted: (session) =>
      Effect.uninterruptible(
        Effect.flatMap(session.run.stopRequested, (stop) => (stop ? stopped(session) : session.leave))
      )
  }
}

/**
 * Takes the turn up if that has not been done, so that what it takes up gets its outcome and a call of another life of the
 * process its doubt, and reads what is new. A log that cannot be read must not keep the messages from their outcome.
 */
const catchUp = ({ begin, refresh }: Session.Session) =>
  Effect.catchDefect(Effect.andThen(begin, refresh), (defect) => Effect.logError("A thread could not be read", defect))

const compactedText = "I have summarised the older part of our conversation for myself, so that there is room to go on."
const stoppedText = "Stopped at your request."
const parkedText =
  "I gave up on this: working on it ended the process several times. It is parked and will not be tried again by itself."
