import * as Categories from "../../../memory/Categories.ts"
import * as Note from "../../../memory/Note.ts"
import * as Key from "../../Key.ts"
import type { Rule } from "../../Rule.ts"
import * as Values from "../../Values.ts"

export const section = Key.key(
  Key.table({
    enabled: Key.key(Values.Bool, false, "Offer memory_create, memory_search and the other tools for notes."),
    default_limit: Key.key(Values.PositiveInt, 20, "How many notes an answer holds unless the call asks otherwise."),
    max_limit: Key.key(Values.PositiveInt, 100, "Most notes of one answer; a higher number is cut to this."),
    categories: Key.key(
      Values.Names,
      Categories.defaults,
      "The categories that a note can have. One that is taken out stays with the notes that have it."
    ),
    max_notes: Key.key(Values.IntBetween(1, 1_000_000), 10_000, "Most notes of one owner."),
    max_data_bytes: Key.key(Values.IntBetween(1, Note.largestData), 16_384, "Longest text of a note, in bytes.")
  }),
  {},
  "Notes that agents keep for their owner."
)

type Read = { readonly tools: { readonly kv_memory: typeof section.Type } }

export const rules: ReadonlyArray<Rule<Read>> = [
  ({ tools: { kv_memory } }) =>
    kv_memory.default_limit <= kv_memory.max_limit
      ? []
      : [
          {
            path: ["tools", "kv_memory", "default_limit"],
            found: "a number above max_limit",
            expected: "at most as many notes as max_limit",
            reads: [["tools", "kv_memory", "max_limit"]]
          }
        ],
  ({ tools: { kv_memory } }) =>
    kv_memory.categories.length > 0 && new Set(kv_memory.categories).size === kv_memory.categories.length
      ? []
      : [
          {
            path: ["tools", "kv_memory", "categories"],
            found: kv_memory.categories.length === 0 ? "an empty list" : "a name that is there twice",
            expected: "at least one name, each once"
          }
        ]
]
