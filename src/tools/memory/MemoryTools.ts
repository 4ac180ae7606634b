/** The tools for notes, one for each operation. They are made for the categories that the settings allow. */
import * as Schema from "effect/Schema"
import * as Categories from "../../memory/Categories.ts"
import { Memory } from "../../memory/Memory.ts"
import * as Tool from "../../tool/Tool.ts"
import * as Fields from "./Fields.ts"
import * as Failures from "./MemoryFailures.ts"

const limits = { timeout: "10 seconds", output: { maxChars: Fields.maxChars } } as const

const text = (description: string) => Schema.String.annotate({ description })
const optional = (description: string) => Schema.optionalKey(text(description))

/** Nobody looks for more words than this, and the store refuses patterns that are very long. */
const query = Schema.String.check(Schema.isMaxLength(1_000)).annotate({ description: "Words; signs have no meaning." })

const entryId = text("The id of the note.")
const source = "Where it is known from, such as user."
const metadata = "A JSON object as text, for whatever else there is to say of it."
const expires = "When it stops being there, in ISO 8601; UTC where no zone is given."

/** Which of them: what `memory_search` and `memory_list_titles` have in common. */
const selection = {
  category: optional("Only of this category."),
  source: optional("Only from this source."),
  updated_after: optional("Only changed then or later, in ISO 8601."),
  updated_before: optional("Only changed then or earlier, in ISO 8601."),
  limit: Schema.optionalKey(Schema.Int.annotate({ description: "How many, at most." })),
  offset: Schema.optionalKey(
    Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)).annotate({ description: "How many to leave out before." })
  )
}

/** Which part of how many an answer holds. */
const page = {
  owner_id: Schema.String,
  total: Schema.Int,
  /** There may be more than `total`: the query has so common words that only the latest notes were looked at. */
  total_at_least: Schema.optionalKey(Schema.Boolean),
  limit: Schema.Int,
  offset: Schema.Int,
  /** The offset of what comes next; null at the end. */
  next_offset: Schema.NullOr(Schema.Int)
}

/** The tools, with these categories in their descriptions. */
export const make = (categories: ReadonlyArray<string>) => {
  const category = `One of: ${categories.join(", ")}.`
  return {
    create: Tool.make("memory_create", {
      description:
        "Saves a lasting note for the user, found again in all conversations. The title must be new; to change a note use memory_update.",
      parameters: Schema.Struct({
        title: text("Short and telling."),
        data: text("What is to be remembered."),
        category: text(category),
        metadata: optional(metadata),
        source: optional(source),
        expires_at: optional(expires)
      }),
      success: Schema.Struct({ created: Schema.Boolean, ...Fields.Whole.fields }),
      failure: Schema.Union([Failures.InvalidNote, Failures.DuplicateTitle, Failures.NotesFull]),
      limits,
      cancellation: "interruptible",
      // The same call that comes again is given the note that it wrote.
      replay: "idempotent",
      capabilities: [Memory],
      identifiedBy: ["title"]
    }),
    update: Tool.make("memory_update", {
      description: "Changes a note: what is given replaces what was there. The title stays.",
      parameters: Schema.Struct({
        entry_id: entryId,
        data: optional("The whole new text."),
        category: optional(category),
        metadata: optional(metadata),
        source: optional(source),
        expires_at: optional(`${expires} "never" takes it away.`)
      }),
      success: Schema.Struct({ updated: Schema.Boolean, ...Fields.Whole.fields }),
      failure: Schema.Union([Failures.InvalidNote, Failures.NoNote]),
      limits,
      cancellation: "interruptible",
      // What is given is written as it is, not added.
      replay: "idempotent",
      capabilities: [Memory],
      identifiedBy: ["entry_id"]
    }),
    get: Tool.make("memory_get", {
      description: "Gives one note whole, with when and where it was written.",
      parameters: Schema.Struct({ entry_id: entryId }),
      success: Fields.Whole,
      failure: Schema.Union([Failures.InvalidNote, Failures.NoNote]),
      limits,
      cancellation: "interruptible",
      replay: "safe",
      capabilities: [Memory],
      identifiedBy: ["entry_id"]
    }),
    search: Tool.make("memory_search", {
      description:
        "Searches the saved notes by words, best first; the last word may be the beginning of one. Without a query, the latest.",
      parameters: Schema.Struct({ query: Schema.optionalKey(query), ...selection }),
      success: Schema.Struct({ ...page, entries: Schema.Array(Fields.Entry) }),
      failure: Failures.InvalidNote,
      limits,
      cancellation: "interruptible",
      replay: "safe",
      capabilities: [Memory],
      identifiedBy: ["query", "category"]
    }),
    remove: Tool.make("memory_delete", {
      description: "Deletes a note for good.",
      parameters: Schema.Struct({ entry_id: entryId }),
      success: Schema.Struct({ owner_id: Schema.String, deleted: Schema.Boolean, entry_id: Schema.String }),
      failure: Schema.Union([Failures.InvalidNote, Failures.NoNote]),
      limits,
      cancellation: "interruptible",
      // The same call that comes again finds its own tombstone.
      replay: "idempotent",
      capabilities: [Memory],
      identifiedBy: ["entry_id"]
    }),
    titles: Tool.make("memory_list_titles", {
      description: "Lists the titles of the saved notes, changed last first.",
      parameters: Schema.Struct(selection),
      success: Schema.Struct({
        ...page,
        titles: Schema.Array(
          Schema.Struct({
            id: Schema.String,
            title: Schema.String,
            category: Schema.String,
            updated_at: Schema.String,
            source: Schema.NullOr(Schema.String)
          })
        ),
        hint: Schema.optionalKey(Schema.String)
      }),
      failure: Failures.InvalidNote,
      limits,
      cancellation: "interruptible",
      replay: "safe",
      capabilities: [Memory],
      identifiedBy: ["category"]
    })
  } as const
}

/** The tools as they are where the settings name no categories. */
export const standard = make(Categories.defaults)
