import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { Settings } from "../../../src/config/Settings.ts"
import type { SettingsValue } from "../../../src/config/Settings.ts"
import { Memory as MemoryCapability } from "../../../src/memory/Memory.ts"
import * as Note from "../../../src/memory/Note.ts"
import type * as Notes from "../../../src/memory/Notes.ts"
import * as WellFormed from "../../../src/thread/WellFormed.ts"
import { ToolCallContext } from "../../../src/tool/ToolContext.ts"
import * as ToolRegistry from "../../../src/tool/ToolRegistry.ts"
import * as Fields from "../../../src/tools/memory/Fields.ts"
import * as IsoTime from "../../../src/tools/memory/IsoTime.ts"
import * as Failures from "../../../src/tools/memory/MemoryFailures.ts"
import * as MemoryTools from "../../../src/tools/memory/MemoryTools.ts"

type Limits = SettingsValue["tools"]["kv_memory"]
type Tools = ReturnType<typeof MemoryTools.make>

export const layer = Layer.unwrap(
  Settings.useSync(({ tools: { kv_memory } }) => {
    const tools = MemoryTools.make(kv_memory.categories)
    return ToolRegistry.layer(
      [tools.create, tools.update, tools.get, tools.search, tools.remove, tools.titles],
      { ...writing(kv_memory), ...reading(kv_memory) },
      { offeredWhen: () => kv_memory.enabled }
    )
  })
)

// ---------------------------------------------------------------------------------------------------------------------
// Writing

const writing = (limits: Limits) => ({
  memory_create: Effect.fnUntraced(function* (given: Tools["create"]["parameters"]["Type"]) {
    const memory = yield* MemoryCapability
    const origin = Note.originOf(yield* ToolCallContext)
    const draft = {
      title: WellFormed.text(given.title),
      data: WellFormed.text(given.data),
      category: given.category,
      metadata: {},
      source: null,
      expiresAt: null,
      ...(yield* othersOf(given))
    }
    const checked = yield* valid(limits, Note.checkDraft(yield* rules(limits), draft))
    const note = yield* memory.create(checked, origin).pipe(
      Effect.catchTags({
        TitleTaken: ({ id }) => Effect.flatMap(memory.get(id), duplicate),
        TooManyNotes: ({ limit }) => Effect.fail(new Failures.NotesFull({ limit }))
      }),
      // The note of that title went away in between: the title is free.
      Effect.catchTag("NoteNotFound", () => Effect.orDie(memory.create(checked, origin)))
    )
    return { created: true, ...Fields.wholeOf(note) }
  }),

  memory_update: Effect.fnUntraced(function* (given: Tools["update"]["parameters"]["Type"]) {
    const memory = yield* MemoryCapability
    const id = yield* idOf(given.entry_id)
    const change: Note.Change = {
      ...(given.data === undefined ? {} : { data: WellFormed.text(given.data) }),
      ...(given.category === undefined ? {} : { category: given.category }),
      ...(yield* othersOf(given))
    }
    if (Object.keys(change).length === 0) return yield* new Failures.InvalidNote({ reason: "nothing_to_update" })
    const checked = yield* valid(limits, Note.checkChange(yield* rules(limits), change))
    const note = yield* Effect.catchTag(
      memory.update(id, checked, Note.originOf(yield* ToolCallContext)),
      "NoteNotFound",
      notFound("update")
    )
    return { updated: true, ...Fields.wholeOf(note) }
  }),

  memory_delete: Effect.fnUntraced(function* ({ entry_id }: Tools["remove"]["parameters"]["Type"]) {
    const memory = yield* MemoryCapability
    const id = yield* idOf(entry_id)
    const removing = memory.remove(id, Note.originOf(yield* ToolCallContext))
    yield* Effect.catchTag(removing, "NoteNotFound", notFound("delete"))
    return { owner_id: memory.ownerId, deleted: true, entry_id: id }
  })
})

const rules = (limits: Limits) =>
  Effect.map(Clock.currentTimeMillis, (now): Note.Rules => ({
    categories: limits.categories,
    maxDataBytes: limits.max_data_bytes,
    now
  }))

const valid = <A>(limits: Limits, checked: Result.Result<A, Note.Problem>) =>
  Effect.fromResult(
    Result.mapError(checked, (reason) => {
      const detail = detailOf(limits, reason)
      return new Failures.InvalidNote({ reason, ...(detail === undefined ? {} : { detail }) })
    })
  )

const detailOf = (limits: Limits, reason: Note.Problem): string | undefined => {
  if (reason === "category_required" || reason === "invalid_category") return limits.categories.join(", ")
  return reason === "data_too_large" ? String(limits.max_data_bytes) : undefined
}

/** What a note and a change of one say in the same way. What is blank is not given. */
const othersOf = Effect.fnUntraced(function* (given: {
  readonly metadata?: string
  readonly source?: string
  readonly expires_at?: string
}) {
  const source = present(given.source)
  const expires = present(given.expires_at)
  return {
    ...(present(given.metadata) === undefined ? {} : { metadata: yield* metadataOf(given.metadata) }),
    ...(source === undefined ? {} : { source: WellFormed.text(source) }),
    ...(expires === undefined
      ? {}
      : { expiresAt: expires.toLowerCase() === "never" ? null : yield* time("expires_at", expires) })
  }
})

const metadataOf = (text: unknown) =>
  Effect.mapError(decodeMetadata(text), () => new Failures.InvalidNote({ reason: "invalid_metadata" }))

const decodeMetadata = Schema.decodeUnknownEffect(Schema.fromJsonString(Note.Metadata))

const duplicate = (note: Note.Note) =>
  Effect.fail(new Failures.DuplicateTitle({ existing_entry: Fields.entryOf(note) }))

// ---------------------------------------------------------------------------------------------------------------------
// Reading

const reading = (limits: Limits) => ({
  memory_get: Effect.fnUntraced(function* ({ entry_id }: Tools["get"]["parameters"]["Type"]) {
    const memory = yield* MemoryCapability
    const id = yield* idOf(entry_id)
    return Fields.wholeOf(yield* Effect.catchTag(memory.get(id), "NoteNotFound", notFound("get")))
  }),

  memory_search: Effect.fnUntraced(function* (given: Tools["search"]["parameters"]["Type"]) {
    const memory = yield* MemoryCapability
    const selection = yield* selectionOf(limits, given)
    const page = yield* memory.search({ ...selection, text: given.query })
    return { ...pageOf(memory.ownerId, selection, page), entries: page.items.map(Fields.entryOf) }
  }),

  memory_list_titles: Effect.fnUntraced(function* (given: Tools["titles"]["parameters"]["Type"]) {
    const memory = yield* MemoryCapability
    const selection = yield* selectionOf(limits, given)
    const page = yield* memory.titles(selection)
    return {
      ...pageOf(memory.ownerId, selection, page),
      titles: page.items.map(({ category, id, source, title, updatedAt }) => ({
        id,
        title,
        category,
        updated_at: Fields.timeOf(updatedAt),
        source
      })),
      ...(page.total > 0 ? {} : { hint: "There is no such note. memory_create saves one." })
    }
  })
})

const selectionOf = Effect.fnUntraced(function* (
  limits: Limits,
  given: Tools["titles"]["parameters"]["Type"]
): Effect.fn.Return<Notes.Selection, Failures.InvalidNote> {
  const [category, source] = [present(given.category), present(given.source)]
  const known = category === undefined ? undefined : Note.findCategory(limits.categories, category)
  if (category !== undefined && known === undefined) {
    return yield* valid(limits, Result.fail<Note.Problem>("invalid_category"))
  }
  const [after, before] = [present(given.updated_after), present(given.updated_before)]
  return {
    category: known,
    source,
    updatedAfter: after === undefined ? undefined : yield* time("updated_after", after),
    updatedBefore: before === undefined ? undefined : yield* time("updated_before", before, "last"),
    limit: Math.max(1, Math.min(given.limit ?? limits.default_limit, limits.max_limit)),
    offset: given.offset ?? 0
  }
})

const pageOf = (ownerId: string, { limit, offset }: Notes.Selection, page: Notes.Page<unknown>) => ({
  owner_id: ownerId,
  total: page.total,
  ...(page.more ? { total_at_least: true } : {}),
  limit,
  offset,
  next_offset: page.next
})

// ---------------------------------------------------------------------------------------------------------------------
// Arguments

const present = (text: string | undefined): string | undefined =>
  text === undefined || text.trim() === "" ? undefined : text.trim()

const idOf = (entryId: string) =>
  entryId.trim() === "" ? new Failures.InvalidNote({ reason: "entry_id_required" }) : Effect.succeed(entryId.trim())

const time = (parameter: string, text: string, end?: "first" | "last") =>
  Option.match(IsoTime.parse(text, end), {
    onNone: () => Effect.fail(new Failures.InvalidNote({ reason: "invalid_date", detail: parameter })),
    onSome: Effect.succeed
  })

const notFound =
  (operation: Failures.NoNote["operation"]) =>
  ({ deletedAt, id }: Notes.NoteNotFound) =>
    Effect.fail(
      new Failures.NoNote({
        operation,
        entry_id: id,
        deleted_at: deletedAt === null ? null : Fields.timeOf(deletedAt)
      })
    )
