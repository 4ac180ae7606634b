/**
 * What was remembered, and for whom. Every operation is for one owner, who sees none of the others' notes; a note that has
 * expired or was deleted is in none of the answers.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Ids from "../Ids.ts"
import type * as Note from "./Note.ts"

/** No note of the owner has this id. `deletedAt` (unix ms) says that one had. */
export class NoteNotFound extends Schema.TaggedError<NoteNotFound>()("NoteNotFound", {
  id: Schema.String,
  deletedAt: Schema.NullOr(Schema.Int)
}) {}

/** The owner has a note of this title already. */
export class TitleTaken extends Schema.TaggedError<TitleTaken>()("TitleTaken", { id: Ids.NoteId }) {}

/** The owner has as many notes as one may have. */
export class TooManyNotes extends Schema.TaggedError<TooManyNotes>()("TooManyNotes", { limit: Schema.Int }) {}

/** Which notes, and which part of them. Bounds of time are inclusive, in unix milliseconds. */
export interface Selection {
  readonly category?: string | undefined
  readonly source?: string | undefined
  readonly updatedAfter?: number | undefined
  readonly updatedBefore?: number | undefined
  readonly limit: number
  readonly offset: number
}

/** A part of what was found. It holds fewer than were asked for when they are large, but at least one. */
export interface Page<A> {
  readonly items: ReadonlyArray<A>
  /** How many there are in all. */
  readonly total: number
  /** Whether there may be more than `total`: so many have the words that only the latest of them were looked at. */
  readonly more: boolean
  /** The offset of the next page; null on the last one. */
  readonly next: number | null
}

/** Of how many notes with the words of a query the best are looked for: those that were created last. */
export const mostRanked = 500

/** In how many notes a part of a word, or a sign that belongs to no word, is looked for: those that were changed last. */
export const mostScanned = 2000

/** The most a page holds, in bytes of what its notes say, unless one alone is larger. */
export const pageBytes = 16_384

export class Notes extends Context.Service<
  Notes,
  {
    /** Writes a note. The same call that comes again, after a crash, is given what it has written. */
    readonly create: (
      ownerId: string,
      draft: Note.Draft,
      origin: Note.Origin
    ) => Effect.Effect<Note.Note, TitleTaken | TooManyNotes>
    readonly update: (
      ownerId: string,
      id: string,
      change: Note.Change,
      origin: Note.Origin
    ) => Effect.Effect<Note.Note, NoteNotFound>
    readonly get: (ownerId: string, id: string) => Effect.Effect<Note.Note, NoteNotFound>
    /**
     * Removes a note from the store and from the index, and overwrites what it said; a tombstone stays. The same call that
     * comes again succeeds again.
     */
    readonly remove: (ownerId: string, id: string, origin: Note.Origin) => Effect.Effect<void, NoteNotFound>
    /**
     * Notes with all words of the text, in whatever order: those with the words in their title, and with rarer ones, first.
     * If none has all, those with some. If none has any, those that contain the text as it is. The last word may be the
     * beginning of one. Without a text, or with a blank one, all notes, changed last first.
     */
    readonly search: (
      ownerId: string,
      selection: Selection & { readonly text?: string | undefined }
    ) => Effect.Effect<Page<Note.Note>>
    /** All notes without what they say, changed last first. */
    readonly titles: (ownerId: string, selection: Selection) => Effect.Effect<Page<Title>>
    readonly tombstone: (ownerId: string, id: string) => Effect.Effect<Note.Tombstone | undefined>
  }
>()("troupe/memory/Notes") {}

export type Title = Pick<Note.Note, "id" | "title" | "category" | "source" | "updatedAt">
