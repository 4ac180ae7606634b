/**
 * Taint: what a model has read that neither its person nor this installation wrote. Whoever wrote it may have written instructions,
 * so rules may be stricter from there on.
 *
 * It is kept where the content is: a result of a tool says so itself, so it is on disk with what the model reads and not without
 * it, and what stands for older entries carries theirs on. A thread stays tainted as long as it goes on: what the model said
 * after reading was made of what it read.
 */
import * as Schema from "effect/Schema"
import type * as Entry from "../thread/Entry.ts"

/** One content of others. `tool`: what brought it, or `attachment` or `task`; `what`: one line that may be shown. */
export const Taint = Schema.Struct({ tool: Schema.String, what: Schema.String })
export type Taint = typeof Taint.Type

/** How many are carried on and told of; that there are any is what counts. */
const most = 4

/** The first of them and, behind the others, the last: that one is most often why. */
export const few = (all: ReadonlyArray<Taint>): ReadonlyArray<Taint> =>
  all.length <= most ? all : [...all.slice(0, most - 1), ...all.slice(-1)]

/** What these entries tell of it, oldest first. */
export const inLog = (entries: ReadonlyArray<Entry.StoredEntry>): ReadonlyArray<Taint> =>
  entries.flatMap(({ entry }) => inEntry(entry))

const inEntry = (entry: Entry.Entry): ReadonlyArray<Taint> => {
  switch (entry._tag) {
    case "UserMessage":
      return [
        ...(entry.source === "task" ? [{ tool: "task", what: "the result of a task" }] : []),
        ...entry.attachments.map(({ name }) => ({ tool: "attachment", what: name }))
      ]
    case "ToolResult":
      return entry.untrusted === undefined ? [] : [{ tool: entry.name, what: entry.untrusted }]
    case "Compacted":
    case "HistoryTrimmed":
      return entry.taint ?? []
    default:
      return []
  }
}

/** What the calls of one turn have read, on top of what its thread had before. Not for sharing between turns. */
export interface Reading {
  /** All that is known now. */
  readonly all: () => ReadonlyArray<Taint>
  /** A call has read something. Calls that this one was made by have read it as well. */
  readonly add: (calls: ReadonlyArray<string>, taint: Taint) => void
  /** What a call, or one that it made, has read. */
  readonly of: (call: string) => Taint | undefined
}

export const reading = (before: () => ReadonlyArray<Taint>): Reading => {
  const own: Array<Taint> = []
  const byCall = new Map<string, Taint>()
  return {
    all: () => [...before(), ...own],
    add: (calls, taint) => {
      if (own.length < most) own.push(taint)
      for (const call of calls) if (!byCall.has(call)) byCall.set(call, taint)
    },
    of: (call) => byCall.get(call)
  }
}

/** Why a person is asked, for the question. */
export const reason = (all: ReadonlyArray<Taint>): string => {
  const told = few(all).map(({ tool, what }) => `  - ${what === "" ? tool : `${tool}: ${what}`}`)
  return [
    "Asked because this conversation has read what others wrote, which may tell the agent what to do:",
    ...told,
    ...(all.length > most ? [`  - and ${all.length - most} more`] : [])
  ].join("\n")
}
