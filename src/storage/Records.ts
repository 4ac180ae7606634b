/**
 * What the database holds, and what bounds each part: the one list that the report about the disk and its test go by. A table
 * that is not here has no rule, which the test refuses.
 */
import type { DiskSettings } from "../config/DiskSettings.ts"

export interface Records {
  readonly what: string
  /** Its tables, indexes counted with them. */
  readonly tables: ReadonlyArray<string>
  /** When a row goes, in words for a person. */
  readonly removed: (settings: DiskSettings) => string
  /** In bytes; beyond it the oldest go before their time. */
  readonly limit?: (settings: DiskSettings) => number
}

const days = (count: number): string => (count === 1 ? "1 day" : `${count} days`)

export const records: ReadonlyArray<Records> = [
  {
    what: "threads and their entries",
    tables: ["threads", "thread_entries", "turns"],
    removed: () => "never"
  },
  {
    what: "records of messages",
    tables: ["inbox", "openai_requests"],
    removed: ({ retention }) => `${days(retention.messages_days)} after their outcome`
  },
  {
    what: "records of replies",
    tables: ["outbox"],
    removed: ({ retention }) => `${days(retention.replies_days)} after their outcome`
  },
  {
    what: "contents of attachments",
    tables: ["attachments"],
    removed: ({ retention }) => `${days(retention.attachments_days)} after their last use`,
    limit: ({ retention }) => retention.attachments_max_bytes
  },
  {
    what: "contents for undo",
    tables: ["kept_contents"],
    removed: ({ retention }) => `${days(retention.undo_days)} after the change`,
    limit: ({ retention }) => retention.undo_max_bytes
  },
  {
    what: "side effects",
    tables: ["side_effects"],
    removed: ({ retention }) => `${days(retention.side_effects_days)} after them`
  },
  {
    what: "questions and answers",
    tables: ["approvals"],
    removed: ({ retention }) => `${days(retention.approvals_days)} after the question`
  },
  { what: "grants", tables: ["approval_grants"], removed: () => "with their turn, or when revoked" },
  {
    what: "budgets",
    tables: ["budget_accounts", "budget_holds", "budget_raises"],
    removed: () => "never; nothing writes them yet"
  },
  { what: "notes", tables: ["notes", "note_owners", "note_words"], removed: () => "when deleted or expired" },
  {
    what: "deleted notes, without content",
    tables: ["note_tombstones"],
    removed: ({ retention }) => `${days(retention.tombstones_days)} after the deletion`
  },
  {
    what: "lives of the process",
    tables: ["incarnations"],
    removed: ({ retention }) => `${days(retention.processes_days)} after the end`
  },
  {
    what: "the installation itself",
    tables: ["installations", "channel_cursors", "schema_migrations"],
    removed: () => "never; a few rows"
  }
]

/** Which of them a table belongs to. The tables of a full-text index have its name before their own. */
export const of = (table: string): Records | undefined =>
  records.find(({ tables }) => tables.some((name) => table === name || table.startsWith(`${name}_`)))
