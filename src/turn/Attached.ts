/**
 * Which of the files that came with messages, or that calls have put before it, a model is shown as they are. The others stand as a note in the text: those of long
 * ago, since all of it is sent with every request, and those that a provider may have refused, which it would do again. Pure.
 */
import * as Attachment from "../attachment/Attachment.ts"
import type * as Ids from "../Ids.ts"
import type * as Models from "../model/Models.ts"
import type * as Entry from "../thread/Entry.ts"
import * as Compaction from "./Compaction.ts"

type Log = ReadonlyArray<Entry.StoredEntry>

/** The files to show, by `keyOf`. */
export type Shown = ReadonlyMap<string, Uint8Array>

export interface Wanted {
  readonly key: string
  readonly file: Entry.Attachment
}

/** A file by the message, or the call, that it came with, and its place there. */
export const keyOf = (cameWith: Ids.MessageId | Ids.CallId, index: number): string => `${cameWith}/${index}`

/** Bytes as base64, and files, of one request. */
const mostEncodedBytes = 16_000_000
const mostFiles = 20

/** The latest ones that one request may hold, of messages that the model sees. */
export const wanted = (log: Log): ReadonlyArray<Wanted> => {
  // Of nearly all threads there is nothing to find out.
  if (!log.some(({ entry }) => hasFiles(entry))) return []
  const standing = Compaction.standing(log)
  const refusal = log.findLastIndex(({ entry }) => isRefusal(entry))
  const taken = new Set(
    log.flatMap((stored, index) =>
      index > refusal && Compaction.takesUp(stored.entry) && !Compaction.hides(standing, stored)
        ? stored.entry.messageIds
        : []
    )
  )
  const files = log.flatMap((stored, at): ReadonlyArray<Wanted> => {
    const { entry } = stored
    if (entry._tag === "FileInserted") {
      const isShown = at > refusal && !Compaction.hides(standing, stored)
      return isShown ? [{ key: keyOf(entry.callId, 0), file: entry.file }] : []
    }
    if (entry._tag !== "UserMessage" || !taken.has(entry.messageId)) return []
    return entry.attachments.map((file, index) => ({ key: keyOf(entry.messageId, index), file }))
  })
  let left = mostEncodedBytes
  const cut = files.findLastIndex(({ file }) => (left -= Attachment.encodedSize(file.bytes)) < 0)
  return files.slice(cut + 1).slice(-mostFiles)
}

const hasFiles = (entry: Entry.Entry): boolean =>
  entry._tag === "FileInserted" || (entry._tag === "UserMessage" && entry.attachments.length > 0)

/** A request that was refused for what it says: perhaps for a file. */
const isRefusal = (entry: Entry.Entry): boolean =>
  entry._tag === "TurnEnded" && entry.failure !== undefined && refusals.has(entry.failure.code)

const refusals: ReadonlySet<string> = new Set(["model:invalid-request", "model:content-policy"])

/** Whether a model takes a file as it is. What is not known to see anything is not shown images: its server may refuse them. */
export const takes = (
  reader: Pick<Models.ModelHandle, "info"> | undefined,
  { mediaType }: Pick<Entry.Attachment, "mediaType">
): boolean =>
  mediaType === Attachment.plainText || (reader?.info?.images === true && !Attachment.isRecording(mediaType))

/** About how many tokens the shown files take. */
export const estimate = (log: Log, reader: Pick<Models.ModelHandle, "info">): number =>
  wanted(log).reduce((sum, { file }) => sum + (takes(reader, file) ? Attachment.tokensOf(file) : 0), 0)
