/** What the tools for notes have in common: how a note is shown, and how times are. */
import * as DateTime from "effect/DateTime"
import * as Schema from "effect/Schema"
import * as Note from "../../memory/Note.ts"

/** Room for the largest note with every sign of it escaped: what a note says is never moved to a file, which would outlive it. */
export const maxChars = 6 * (Note.largestData + Note.metadataBytes) + 4000

/** A note without who wrote it. */
export const Entry = Schema.Struct({
  id: Schema.String,
  owner_id: Schema.String,
  title: Schema.String,
  data: Schema.String,
  category: Schema.String,
  metadata: Note.Metadata,
  source: Schema.NullOr(Schema.String),
  created_at: Schema.String,
  updated_at: Schema.String,
  expires_at: Schema.NullOr(Schema.String)
})

/** Which call of a tool wrote something, where, and for whom. */
const By = Schema.Struct({
  thread_id: Schema.String,
  call_id: Schema.String,
  agent: Schema.String,
  sender_id: Schema.optionalKey(Schema.String)
})

/** A note with where it comes from. */
export const Whole = Schema.Struct({ ...Entry.fields, created_by: By, updated_by: By })

export const entryOf = (note: Note.Note): typeof Entry.Type => ({
  id: note.id,
  owner_id: note.ownerId,
  title: note.title,
  data: note.data,
  category: note.category,
  metadata: note.metadata,
  source: note.source,
  created_at: timeOf(note.createdAt),
  updated_at: timeOf(note.updatedAt),
  expires_at: note.expiresAt === null ? null : timeOf(note.expiresAt)
})

export const wholeOf = (note: Note.Note): typeof Whole.Type => ({
  ...entryOf(note),
  created_by: byOf(note.createdBy),
  updated_by: byOf(note.updatedBy)
})

const byOf = ({ agent, callId, senderId, threadId }: Note.Origin): typeof By.Type => ({
  thread_id: threadId,
  call_id: callId,
  agent,
  ...(senderId === undefined ? {} : { sender_id: senderId })
})

/** ISO 8601 in UTC. */
export const timeOf = (millis: number): string => DateTime.formatIso(DateTime.makeUnsafe(millis))
