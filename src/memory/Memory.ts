/** The capability to use the notes of the owner that a turn belongs to, and of nobody else. */
import type * as Effect from "effect/Effect"
import * as Capability from "../tool/Capability.ts"
import type * as Note from "./Note.ts"
import type * as Notes from "./Notes.ts"

type Repository = Notes.Notes["Service"]

/** `Notes` without the choice of an owner. */
export interface Owned {
  readonly ownerId: string
  readonly create: (draft: Note.Draft, origin: Note.Origin) => ReturnType<Repository["create"]>
  readonly update: (id: string, change: Note.Change, origin: Note.Origin) => ReturnType<Repository["update"]>
  readonly get: (id: string) => ReturnType<Repository["get"]>
  readonly remove: (id: string, origin: Note.Origin) => ReturnType<Repository["remove"]>
  readonly search: (
    selection: Notes.Selection & { readonly text?: string | undefined }
  ) => Effect.Effect<Notes.Page<Note.Note>>
  readonly titles: (selection: Notes.Selection) => Effect.Effect<Notes.Page<Notes.Title>>
}

export class Memory extends Capability.Service<Memory, Owned>()("Memory") {}

/** The notes of one owner. */
export const ownedBy = (notes: Repository, ownerId: string): Owned => ({
  ownerId,
  create: (draft, origin) => notes.create(ownerId, draft, origin),
  update: (id, change, origin) => notes.update(ownerId, id, change, origin),
  get: (id) => notes.get(ownerId, id),
  remove: (id, origin) => notes.remove(ownerId, id, origin),
  search: (selection) => notes.search(ownerId, selection),
  titles: (selection) => notes.titles(ownerId, selection)
})
