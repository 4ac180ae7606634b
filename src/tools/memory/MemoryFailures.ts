/** How the tools for notes fail. */
import * as Schema from "effect/Schema"
import { sourceChars, titleChars, metadataBytes } from "../../memory/Note.ts"
import { Entry } from "./Fields.ts"

/** Something about the arguments that their schema cannot say. */
export class InvalidNote extends Schema.TaggedError<InvalidNote>()("InvalidNote", {
  reason: Schema.Literals([
    "title_required",
    "title_too_long",
    "data_required",
    "data_too_large",
    "category_required",
    "invalid_category",
    "category_in_metadata",
    "invalid_metadata",
    "metadata_too_large",
    "source_too_long",
    "invalid_date",
    "already_expired",
    "entry_id_required",
    "nothing_to_update"
  ]),
  /** What the sentence ends with: a limit, the categories, or the parameter that holds no date. */
  detail: Schema.optionalKey(Schema.String)
}) {
  get code() {
    return `memory:invalid_arguments:${this.reason}`
  }
  override get message() {
    return `${explanations[this.reason]}${this.detail === undefined ? "" : ` ${this.detail}`}.`
  }
}

const explanations: Readonly<Record<InvalidNote["reason"], string>> = {
  title_required: "title is blank: give the note a title by which it can be told from others",
  title_too_long: `title is longer than ${titleChars} characters: put the rest into data`,
  data_required: "data is blank: say what is to be remembered",
  data_too_large: "data is too long: split it into several notes. The most is, in bytes:",
  category_required: "category is blank: give one of",
  invalid_category: "category is none that notes can have: give one of",
  category_in_metadata: "metadata has the key category: give it as the parameter category instead",
  invalid_metadata: 'metadata is not the text of a JSON object: write it as in {"key": "value"}',
  metadata_too_large: `metadata is larger than ${metadataBytes} bytes of JSON: put the rest into data`,
  source_too_long: `source is longer than ${sourceChars} characters: shorten it`,
  invalid_date: "a time is not in ISO 8601, as 2027-01-31 or 2027-01-31T09:30:00+01:00 are: see the parameter",
  already_expired: "expires_at is not in the future: give a later time, or leave it out",
  entry_id_required: "entry_id is blank: give the id of a note, as memory_search shows it",
  nothing_to_update: "there is nothing to update: give data, category, metadata, source or expires_at"
}

/** There is no note of this id, or not any more. */
export class NoNote extends Schema.TaggedError<NoNote>()("NoNote", {
  operation: Schema.Literals(["get", "update", "delete"]),
  entry_id: Schema.String,
  /** When it was deleted or had expired; null for one that is not known. */
  deleted_at: Schema.NullOr(Schema.String)
}) {
  get code() {
    return `memory:${this.operation}:not_found`
  }
  override get message() {
    return this.deleted_at === null
      ? "There is no note with this entry_id: look for it with memory_search."
      : `The note was deleted or had expired at ${this.deleted_at}, and what it said is gone.`
  }
}

/** There is a note of this title already. */
export class DuplicateTitle extends Schema.TaggedError<DuplicateTitle>()("DuplicateTitle", { existing_entry: Entry }) {
  readonly code = "memory:create:duplicate_title"
  override get message() {
    return "There is a note of this title: change that one with memory_update, or choose another title."
  }
}

/** No more notes fit. */
export class NotesFull extends Schema.TaggedError<NotesFull>()("NotesFull", { limit: Schema.Int }) {
  readonly code = "memory:create:too_many_notes"
  override get message() {
    return `There are ${this.limit} notes, as many as [tools.kv_memory].max_notes allows: delete what is not needed.`
  }
}
