/**
 * Files of messages as managed files, so that tools can work with them: written when a turn has taken their message up and before
 * its model is asked, under names that another life of the process would give them too.
 */
import * as Effect from "effect/Effect"
import type { Attachments } from "../../src/attachment/Attachments.ts"
import type { Settings } from "../../src/config/Settings.ts"
import type * as Journal from "../../src/conversation/Journal.ts"
import * as UploadName from "../../src/file/UploadName.ts"
import type { Workspace } from "../../src/file/Workspace.ts"
import type * as Entry from "../../src/thread/Entry.ts"
import * as TurnEntries from "../../src/turn/TurnEntries.ts"
import type * as Session from "./Session.ts"

export interface Surroundings {
  readonly attachments: Attachments["Service"]
  readonly files: Workspace["Service"]
  readonly settings: Settings["Service"]["tools"]["file_storage"]
}

export interface Uploads {
  /** Writes those that are not written yet, and has the log say where they are. */
  readonly save: (session: Session.Session) => Effect.Effect<void, Journal.ClaimLost>
}

type UserEntry = Extract<Entry.Entry, { _tag: "UserMessage" }>

export const make = ({ attachments, files, settings }: Surroundings): Uploads => {
  const folder = settings.save_incoming_uploads ? settings.uploads_subdir : settings.incoming_temp_subdir
  const { write } = files.writingAs({ _tag: "Runtime", purpose: "upload" })

  const saveOne = ({ messageId }: UserEntry, contents: ReadonlyMap<string, Uint8Array>) =>
    Effect.fnUntraced(function* ({ name, sha256 }: Entry.Attachment, index: number) {
      const content = contents.get(sha256)
      if (content === undefined) return null
      const path = `${folder}/${UploadName.make(name, messageId, index)}`
      return yield* write(path, content, { overwrite: false, most: content.byteLength }).pipe(
        Effect.as(path),
        Effect.catchTag("FileError", ({ code, reason }) =>
          // Somebody has worked on it already.
          reason === "already_exists"
            ? Effect.succeed(path)
            : Effect.as(Effect.logWarning("A file of a message could not be kept as a managed file", { code }), null)
        )
      )
    })

  const saveAll = Effect.fnUntraced(function* (session: Session.Session, message: UserEntry) {
    const contents = yield* attachments.contents(message.attachments.map(({ sha256 }) => sha256))
    const paths = yield* Effect.forEach(message.attachments, saveOne(message, contents))
    const { turnId } = session.run
    yield* session.append([{ _tag: "FilesSaved", turnId, messageId: message.messageId, paths }])
  })

  return {
    save: (session) =>
      settings.enabled
        ? Effect.forEach(unsaved(session), (message) => saveAll(session, message), { discard: true })
        : Effect.void
  }
}

/** Messages with files that the turn has taken up, and of which the log does not say where the files are. */
const unsaved = (session: Session.Session): ReadonlyArray<UserEntry> => {
  const log = session.entries()
  const withFiles = TurnEntries.takenWithFiles(log, session.run.turnId)
  if (withFiles.length === 0) return []
  const saved = new Set(log.flatMap(({ entry }) => (entry._tag === "FilesSaved" ? [entry.messageId] : [])))
  return withFiles.filter(({ messageId }) => !saved.has(messageId))
}
