/** Notes without a database, for tests: what `Notes` promises, in the plainest way. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Ids from "../Ids.ts"
import type * as Note from "../memory/Note.ts"
import * as Notes from "../memory/Notes.ts"
import * as Words from "../memory/Words.ts"

/** Empty at first; each use of the layer has notes of its own. */
export const layer = (maxNotes = 10_000): Layer.Layer<Notes.Notes> =>
  Layer.fresh(Layer.sync(Notes.Notes, () => make(maxNotes)))

interface Buried extends Note.Tombstone {
  readonly ownerId: string
}

const make = (maxNotes: number): Notes.Notes["Service"] => {
  // In the order in which they were created.
  const notes = new Map<string, Note.Note>()
  const buried = new Map<string, Buried>()

  const bury = (note: Note.Note, deletedAt: number, deletedBy: Note.Origin | null) => {
    notes.delete(note.id)
    buried.set(note.id, { id: note.id, ownerId: note.ownerId, createdAt: note.createdAt, deletedAt, deletedBy })
  }
  const of = (ownerId: string) =>
    Effect.map(Clock.currentTimeMillis, (now) => {
      for (const note of notes.values()) {
        if (note.expiresAt !== null && note.expiresAt <= now) bury(note, now, null)
      }
      return Array.from(notes.values()).filter((note) => note.ownerId === ownerId)
    })
  const tombstone = (ownerId: string, id: string) =>
    Effect.map(of(ownerId), () => {
      const found = buried.get(id)
      if (found?.ownerId !== ownerId) return undefined
      const { createdAt, deletedAt, deletedBy } = found
      return { id: found.id, createdAt, deletedAt, deletedBy }
    })
  const get = Effect.fnUntraced(function* (ownerId: string, id: string) {
    const note = (yield* of(ownerId)).find((one) => one.id === id)
    if (note !== undefined) return note
    return yield* new Notes.NoteNotFound({ id, deletedAt: (yield* tombstone(ownerId, id))?.deletedAt ?? null })
  })

  return Notes.Notes.of({
    get,
    tombstone,
    create: Effect.fnUntraced(function* (ownerId, draft, origin) {
      const mine = yield* of(ownerId)
      const again = mine.find((note) => note.createdBy.callId === origin.callId)
      if (again !== undefined) return again
      const same = mine.find((note) => Words.titleKey(note.title) === Words.titleKey(draft.title))
      if (same !== undefined) return yield* new Notes.TitleTaken({ id: same.id })
      if (mine.length >= maxNotes) return yield* new Notes.TooManyNotes({ limit: maxNotes })
      const now = yield* Clock.currentTimeMillis
      const who = { createdBy: origin, updatedBy: origin, createdAt: now, updatedAt: now }
      const note: Note.Note = { ...draft, id: yield* Ids.makeNoteId, ownerId, ...who }
      notes.set(note.id, note)
      return note
    }),
    update: Effect.fnUntraced(function* (ownerId, id, change, origin) {
      const before = yield* get(ownerId, id)
      const updatedAt = Math.max(before.updatedAt, yield* Clock.currentTimeMillis)
      const note = { ...before, ...change, updatedAt, updatedBy: origin }
      notes.set(id, note)
      return note
    }),
    remove: Effect.fnUntraced(function* (ownerId, id, origin) {
      if ((yield* tombstone(ownerId, id))?.deletedBy?.callId === origin.callId) return
      bury(yield* get(ownerId, id), yield* Clock.currentTimeMillis, origin)
    }),
    search: (ownerId, { text = "", ...selection }) =>
      Effect.map(of(ownerId), (mine) => {
        const { found, most } = search(newestFirst(mine).filter(fits(selection)), text)
        return page(selection, found, most, wholeBytes)
      }),
    titles: (ownerId, selection) =>
      Effect.map(of(ownerId), (mine) => {
        const found = page(selection, newestFirst(mine).filter(fits(selection)), Infinity, titleBytes)
        const items = found.items.map(({ category, id, source, title, updatedAt }) => ({
          id,
          title,
          category,
          source,
          updatedAt
        }))
        return { ...found, items }
      })
  })
}

const newestFirst = (notes: ReadonlyArray<Note.Note>): ReadonlyArray<Note.Note> =>
  notes.toReversed().toSorted((one, other) => other.updatedAt - one.updatedAt)

const fits =
  ({ category, source, updatedAfter = -Infinity, updatedBefore = Infinity }: Notes.Selection) =>
  (note: Note.Note): boolean =>
    (category === undefined || note.category === category) &&
    (source === undefined || note.source === source) &&
    note.updatedAt >= updatedAfter &&
    note.updatedAt <= updatedBefore

const search = (notes: ReadonlyArray<Note.Note>, text: string) => {
  const sought = Words.oneLine(text)
  if (sought === "") return { found: notes, most: Infinity }
  const { all, some } = Words.query(sought)
  for (const [terms, needed] of [[all, all.length] as const, [some, 1] as const]) {
    const found = terms.length === 0 ? [] : ranked(notes, terms, needed)
    if (found.length > 0) return { found, most: Notes.mostRanked }
  }
  const part = sought.toLowerCase()
  const holds = (field: string) => field.toLowerCase().includes(part)
  return { found: notes.filter(({ data, title }) => holds(title) || holds(data)), most: Infinity }
}

/** Those with as many of the terms as needed, best first: by how rare the terms are, and whether they are in the title. */
const ranked = (notes: ReadonlyArray<Note.Note>, terms: ReadonlyArray<Words.Term>, needed: number) => {
  const split = notes.map((note) => ({ note, title: Words.words(note.title), data: Words.words(note.data) }))
  const rarity = terms.map((term) => {
    const having = split.filter(({ data, title }) => has(title, term) || has(data, term)).length
    return Math.log(1 + notes.length / Math.max(1, having))
  })
  return split
    .flatMap(({ data, note, title }) => {
      const scores = terms.map((term, index) => {
        const weight = (has(title, term) ? 10 : 0) + (has(data, term) ? 1 : 0)
        // A rare word anywhere says more than a common one in the title.
        return (weight / (weight + 1)) * (rarity[index] ?? 0)
      })
      const matching = scores.filter((score) => score > 0).length
      return matching < needed ? [] : [{ note, score: scores.reduce((sum, score) => sum + score, 0) }]
    })
    .toSorted((one, other) => other.score - one.score)
    .map(({ note }) => note)
}

/** Whether the words of the term stand next to each other. */
const has = (words: ReadonlyArray<string>, { prefix, words: sought }: Words.Term): boolean =>
  words.some((_, at) =>
    sought.every((one, index) => {
      const word = words[at + index] ?? ""
      return prefix && index === sought.length - 1 ? word.startsWith(one) : word === one
    })
  )

const page = (
  { limit, offset }: Notes.Selection,
  found: ReadonlyArray<Note.Note>,
  most: number,
  size: (note: Note.Note) => number
): Notes.Page<Note.Note> => {
  const reached = found.slice(0, most)
  const asked = reached.slice(offset, offset + limit)
  let bytes = 0
  const items = asked.filter((note, index) => (bytes += size(note)) <= Notes.pageBytes || index === 0)
  const end = offset + items.length
  return {
    items,
    total: reached.length,
    more: reached.length >= most,
    next: items.length > 0 && end < reached.length ? end : null
  }
}

const bytesOf = (text: string): number => new TextEncoder().encode(text).length

const titleBytes = ({ category, source, title }: Note.Note): number =>
  bytesOf(title) + bytesOf(category) + bytesOf(source ?? "")

const wholeBytes = ({ data, metadata, source, title }: Note.Note): number =>
  bytesOf(title) + bytesOf(data) + bytesOf(JSON.stringify(metadata)) + bytesOf(source ?? "")
