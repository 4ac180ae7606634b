import * as Fixtures from "../../tool/Fixtures.ts"
import * as TestMemory from "../TestMemory.ts"
import * as Refusals from "./Refusals.ts"

const note = { title: "Car", data: "A blue van", category: "vehicles" }
const nobody = { entry_id: "mem_00000000000000000000000000" }
const invalid = (reason: string) => `memory:invalid_arguments:${reason}`

/** What is wrong in the same way for a new note and for a change of one. */
const writing = [
  [invalid("data_required"), { data: " \n" }],
  [invalid("data_too_large"), { data: "é".repeat(8193) }],
  [invalid("category_required"), { category: " " }],
  [invalid("invalid_category"), { category: "nonsense" }],
  [invalid("category_in_metadata"), { metadata: '{"category": "health"}' }],
  [invalid("invalid_metadata"), { metadata: "[1]" }],
  [invalid("metadata_too_large"), { metadata: JSON.stringify({ x: "y".repeat(4096) }) }],
  [invalid("source_too_long"), { source: "s".repeat(257) }],
  [invalid("invalid_date"), { expires_at: "tomorrow" }],
  [invalid("already_expired"), { expires_at: "1969-12-31" }]
] as const

const selecting = [
  [invalid("invalid_category"), { category: "nonsense" }],
  [invalid("invalid_date"), { updated_before: "2027-02-30" }]
] as const

const tools = (maxNotes?: number) =>
  Refusals.tools({ tools: { kv_memory: { enabled: true } } }, TestMemory.layer(maxNotes))

export const group: Refusals.Group = {
  layer: tools(),
  refusals: [
    ...writing.flatMap(([code, given]) => [
      { tool: "memory_create", code, arguments: { ...note, ...given } },
      { tool: "memory_update", code, arguments: { ...nobody, ...given } }
    ]),
    { tool: "memory_create", code: invalid("title_required"), arguments: { ...note, title: "\t" } },
    { tool: "memory_create", code: invalid("title_too_long"), arguments: { ...note, title: "t".repeat(101) } },
    {
      tool: "memory_create",
      code: "memory:create:duplicate_title",
      after: (turn) => Fixtures.callTool(turn, "memory_create", note),
      arguments: { ...note, title: "CAR" }
    },
    {
      tool: "memory_create",
      code: "memory:create:too_many_notes",
      after: (turn) => Fixtures.callTool(turn, "memory_create", note),
      arguments: { ...note, title: "Bike" },
      layer: tools(1)
    },
    { tool: "memory_update", code: invalid("nothing_to_update"), arguments: nobody },
    { tool: "memory_update", code: "memory:update:not_found", arguments: { ...nobody, data: "x" } },
    { tool: "memory_get", code: "memory:get:not_found", arguments: nobody },
    { tool: "memory_delete", code: "memory:delete:not_found", arguments: nobody },
    ...["memory_update", "memory_get", "memory_delete"].map((tool) => ({
      tool,
      code: invalid("entry_id_required"),
      arguments: { entry_id: "  " }
    })),
    ...["memory_search", "memory_list_titles"].flatMap((tool) =>
      selecting.map(([code, given]) => ({ tool, code, arguments: given }))
    )
  ]
}
