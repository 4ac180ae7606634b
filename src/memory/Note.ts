/** A note: something that an agent was asked to remember, under a title, for its owner. */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Ids from "../Ids.ts"
import type * as ToolContext from "../tool/ToolContext.ts"
import * as Words from "./Words.ts"

/** The longest title, in characters. */
export const titleChars = 100

/** The longest source, in characters. */
export const sourceChars = 256

/** The most metadata, in bytes of JSON. */
export const metadataBytes = 4096

/** No setting lets a note be larger than this, in bytes: it is always given whole. */
export const largestData = 65_536

/** Which call of a tool wrote or removed a note, where, and for whom. */
export const Origin = Schema.Struct({
  threadId: Ids.ThreadId,
  callId: Ids.CallId,
  agent: Schema.String,
  /** Who sent the message that was being answered, as the channel knows them. */
  senderId: Schema.optionalKey(Schema.String)
})
export type Origin = typeof Origin.Type

/** The origin of what a call does. */
export const originOf = ({ agent, callId, senderId, threadId }: ToolContext.ToolCallContext["Service"]): Origin => ({
  threadId,
  callId,
  agent,
  ...(senderId === undefined ? {} : { senderId })
})

export const Metadata = Schema.Record(Schema.String, Schema.Json)
export type Metadata = typeof Metadata.Type

/** Times are unix milliseconds. */
export interface Note extends Draft {
  readonly id: Ids.NoteId
  readonly ownerId: string
  readonly createdAt: number
  readonly updatedAt: number
  readonly createdBy: Origin
  readonly updatedBy: Origin
}

/** What a new note says. */
export interface Draft {
  readonly title: string
  readonly data: string
  readonly category: string
  readonly metadata: Metadata
  /** Where it is known from; null when nobody said. */
  readonly source: string | null
  /** When it stops being there; null for never. */
  readonly expiresAt: number | null
}

/** What of a note is to become different. A title stays. */
export type Change = Partial<Omit<Draft, "title">>

/** What is left of a note that is gone: that it was, and who removed it when. Nothing of what it said. */
export interface Tombstone {
  readonly id: Ids.NoteId
  readonly createdAt: number
  readonly deletedAt: number
  /** Null when it had come to its end by itself. */
  readonly deletedBy: Origin | null
}

/** What is wrong with a note that is to be written. */
export type Problem =
  | "title_required"
  | "title_too_long"
  | "data_required"
  | "data_too_large"
  | "category_required"
  | "invalid_category"
  | "category_in_metadata"
  | "metadata_too_large"
  | "source_too_long"
  | "already_expired"

/** What notes have to keep to. */
export interface Rules {
  readonly categories: ReadonlyArray<string>
  /** In bytes of UTF-8. */
  readonly maxDataBytes: number
  /** Unix milliseconds: a note that has expired before it is written is a mistake. */
  readonly now: number
}

/** The draft in the form that is kept, or the first thing that is wrong with it. */
export const checkDraft = (rules: Rules, { title, ...draft }: Draft): Result.Result<Draft, Problem> => {
  const shown = Words.oneLine(title)
  if (shown === "") return Result.fail("title_required")
  if (Array.from(shown).length > titleChars) return Result.fail("title_too_long")
  return Result.map(checkChange(rules, draft), (checked) => ({ ...draft, ...checked, title: shown }))
}

/** The same for what is to become different. */
export const checkChange = (rules: Rules, change: Change): Result.Result<Change, Problem> => {
  const { category, data, expiresAt, metadata, source } = change
  if (data !== undefined && data.trim() === "") return Result.fail("data_required")
  if (data !== undefined && bytesOf(data) > rules.maxDataBytes) return Result.fail("data_too_large")
  if (category !== undefined && category.trim() === "") return Result.fail("category_required")
  const known = category === undefined ? undefined : findCategory(rules.categories, category)
  if (category !== undefined && known === undefined) return Result.fail("invalid_category")
  if (metadata !== undefined && Object.hasOwn(metadata, "category")) return Result.fail("category_in_metadata")
  if (metadata !== undefined && bytesOf(JSON.stringify(metadata)) > metadataBytes)
    return Result.fail("metadata_too_large")
  if (typeof source === "string" && Array.from(source).length > sourceChars) return Result.fail("source_too_long")
  if (typeof expiresAt === "number" && expiresAt <= rules.now) return Result.fail("already_expired")
  return Result.succeed(known === undefined ? change : { ...change, category: known })
}

/** The category that is meant, as it is kept. */
export const findCategory = (categories: ReadonlyArray<string>, written: string): string | undefined =>
  categories.find((category) => category === written.trim().toLowerCase())

const bytesOf = (text: string): number => new TextEncoder().encode(text).length
