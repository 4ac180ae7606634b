/**
 * Short recordings of messages as words: transcribed when a turn has taken their message up and before its model is asked, and
 * written down, so that another life of the process does not do it again. What cannot be transcribed is told, and the turn goes on.
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Attachment from "../../src/attachment/Attachment.ts"
import type { Attachments } from "../../src/attachment/Attachments.ts"
import * as Transcriber from "../../src/audio/Transcriber.ts"
import type { SettingsValue } from "../../src/config/Settings.ts"
import type * as Journal from "../../src/conversation/Journal.ts"
import type * as Entry from "../../src/thread/Entry.ts"
import type * as ToolCalls from "../../src/tool/ToolCalls.ts"
import * as TurnEntries from "../../src/turn/TurnEntries.ts"
import * as HearingTime from "./HearingTime.ts"
import type * as Session from "./Session.ts"

export interface Recordings {
  /** Transcribes those that are not yet, for an agent that has the tool. */
  readonly hear: (session: Session.Session, tools: ToolCalls.TurnTools) => Effect.Effect<void, Journal.ClaimLost>
}

type UserEntry = Extract<Entry.Entry, { _tag: "UserMessage" }>
type Candidate = readonly [index: number, file: Entry.Attachment]

export const make = (
  attachments: Attachments["Service"],
  { runtime, tools: { audio_transcription: settings } }: Pick<SettingsValue, "runtime" | "tools">
): Recordings => {
  const longest = Duration.toSeconds(settings.auto_transcribe_max_duration_seconds)
  // Half of the time of a turn at most, for all of them: the rest is for the answer, which may be that nothing could be heard.
  const time = HearingTime.make({
    whole: Duration.times(runtime.agent_timeout_seconds, 0.5),
    each: settings.timeout_seconds,
    concurrency: settings.concurrency
  })

  const candidates = ({ attachments: files }: UserEntry): ReadonlyArray<Candidate> =>
    files.flatMap((file, index) => {
      const isShort = file.seconds !== undefined && file.seconds <= longest
      return Attachment.isRecording(file.mediaType) && isShort ? [[index, file] as const] : []
    })

  const hearOne = (
    hearing: Transcriber.TranscriberShape,
    contents: ReadonlyMap<string, Uint8Array>,
    next: Effect.Effect<Duration.Duration>
  ) =>
    Effect.fnUntraced(
      function* ([index, { sha256 }]: Candidate): Effect.fn.Return<Entry.Heard, Transcriber.TranscriptionError> {
        const content = contents.get(sha256)
        if (content === undefined) return unheardOf(index, gone)
        const timeout = yield* next
        if (Duration.isZero(timeout)) return unheardOf(index, late)
        const { language, text } = yield* hearing.transcribe({ content, timeout })
        return { index, text, language }
      },
      (effect, [index]) =>
        Effect.catchCause(effect, (cause) => (Cause.hasInterrupts(cause) ? Effect.interrupt : failed(index, cause)))
    )

  const hearMessage = Effect.fnUntraced(function* (
    session: Session.Session,
    hearing: Transcriber.TranscriberShape,
    message: UserEntry,
    next: Effect.Effect<Duration.Duration>
  ) {
    const found = candidates(message)
    const contents = yield* attachments.contents(found.map(([, { sha256 }]) => sha256))
    const heard = yield* Effect.forEach(found, hearOne(hearing, contents, next), { concurrency: settings.concurrency })
    const { turnId } = session.run
    yield* session.append([{ _tag: "RecordingsHeard", turnId, messageId: message.messageId, heard }])
  })

  const hear = Effect.fn("Recordings.hear")(function* (
    session: Session.Session,
    tools: ToolCalls.TurnTools,
    messages: ReadonlyArray<UserEntry>
  ) {
    const granted = yield* Effect.option(tools.granted.pick(tool, [Transcriber.Hearing]))
    if (granted._tag === "None") return
    const hearing = Context.get(granted.value, Transcriber.Hearing)
    const count = messages.reduce((sum, message) => sum + candidates(message).length, 0)
    yield* time.share(session, count, (next) =>
      Effect.forEach(messages, (message) => hearMessage(session, hearing, message, next), { discard: true })
    )
  })

  return {
    hear: (session, tools) => {
      if (!settings.auto_transcribe_short_incoming || !tools.offers.some(({ name }) => name === tool))
        return Effect.void
      const waiting = unheard(session).filter((message) => candidates(message).length > 0)
      return waiting.length === 0 ? Effect.void : hear(session, tools, waiting)
    }
  }
}

const tool = "transcribe_audio"

const gone: Entry.Failure = { code: "audio:gone", message: "What came with the message is not kept any more." }

const late: Entry.Failure = {
  code: "audio:timeout",
  message: "The recordings before it took all of the time that the recordings of a turn have together."
}

const failed = (index: number, cause: Cause.Cause<Transcriber.TranscriptionError>): Effect.Effect<Entry.Heard> => {
  const error = Cause.findErrorOption(cause)
  if (error._tag === "Some")
    return Effect.succeed(unheardOf(index, { code: error.value.code, message: error.value.message }))
  return Effect.as(
    Effect.logError("Transcribing a recording of a message ended in a defect", cause),
    unheardOf(index, defect)
  )
}

const unheardOf = (index: number, failure: Entry.Failure): Entry.Heard => ({
  index,
  text: null,
  language: null,
  failure
})

const defect: Entry.Failure = {
  code: "audio:defect",
  message: "Something went wrong inside the runtime. The log has the details."
}

/** Messages with files that the turn has taken up, and of which the log does not say what is heard in them. */
const unheard = (session: Session.Session): ReadonlyArray<UserEntry> => {
  const log = session.entries()
  const withFiles = TurnEntries.takenWithFiles(log, session.run.turnId)
  if (withFiles.length === 0) return []
  const heard = new Set(log.flatMap(({ entry }) => (entry._tag === "RecordingsHeard" ? [entry.messageId] : [])))
  return withFiles.filter(({ messageId }) => !heard.has(messageId))
}
