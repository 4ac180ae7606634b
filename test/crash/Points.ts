/**
 * The crash points of a process, and what happens at one.
 *
 * Points are passed by name: the beginning and the end of every span of the store, the turns and the tools; the statements of
 * the tables that hold what is owed; and what is said to the outside world. A process is told at its start which pass of which
 * point it ends at, and how: this happens inside the pass, before anything else runs.
 */
import { writeSync } from "node:fs"

/** How a life ends at a point. `SIGSTOP` does not end it: the world goes on without it for a while. */
export type How = "SIGKILL" | "SIGTERM" | "SIGSTOP"

export interface Armed {
  readonly point: string
  /** Which pass of the point, from 1. */
  readonly pass: number
  readonly how: How
}

/** The spans whose beginning and end are points. */
const spans = /^(Journal|Outbox|Conversations|Approvals|ToolCalls|TurnRunner|Rpc)\.|^turn\./

/** The tables whose changes are points, and the frames of transactions. */
const statement =
  /^\s*(?:(BEGIN|COMMIT|SAVEPOINT|RELEASE)|(INSERT) INTO "?(\w+)"?|(UPDATE) "?(\w+)"?|(DELETE) FROM "?(\w+)"?)/i
const tables = new Set([
  "threads",
  "thread_entries",
  "inbox",
  "turns",
  "outbox",
  "channel_cursors",
  "approvals",
  "approval_grants"
])

/** The point before a statement, if it is one. */
export const ofStatement = (sql: string): string | undefined => {
  const found = statement.exec(sql)
  if (found === null) return undefined
  const frame = found[1]
  if (frame !== undefined) return `sql ${frame.toLowerCase()}`
  const verb = found[2] ?? found[4] ?? found[6]
  const table = found[3] ?? found[5] ?? found[7]
  return verb !== undefined && table !== undefined && tables.has(table)
    ? `sql ${verb.toLowerCase()} ${table}`
    : undefined
}

/** The points of a span. */
export const ofSpan = (name: string): { readonly begin: string; readonly end: string } | undefined =>
  spans.test(name) ? { begin: `${name} begins`, end: `${name} has ended` } : undefined

/** Points that every campaign must have passed: should one of these go away, it was renamed or it is no longer covered. */
export const required: ReadonlyArray<string> = [
  "Journal.accept begins",
  "Journal.accept has ended",
  "Journal.claim has ended",
  "Journal.startTurn begins",
  "Journal.startTurn has ended",
  "Journal.resumeTurn has ended",
  "Journal.fold has ended",
  "Journal.append begins",
  "Journal.append has ended",
  "Journal.endTurn begins",
  "Journal.endTurn has ended",
  "Outbox.take has ended",
  "Outbox.delivered begins",
  "Outbox.delivered has ended",
  "Approvals.ask begins",
  "Approvals.ask has ended",
  // A question is written down, its answer, and what the answer allows beyond its call.
  "sql insert approvals",
  "sql update approvals",
  "sql insert approval_grants",
  "ToolCalls.run begins",
  "ToolCalls.run has ended",
  "turn.step begins",
  "turn.step has ended",
  "sql begin",
  "sql commit",
  "sql insert thread_entries",
  "sql insert inbox",
  "sql insert turns",
  "sql insert outbox",
  "sql insert channel_cursors",
  "sql update turns",
  "sql update inbox",
  "sql update outbox",
  "feed before accept",
  "feed after accept",
  "tool before its effect",
  "tool after its effect",
  "delivery before",
  "delivery after"
]

/** The line a process writes when it comes to its point, and the one that lists what it has passed. */
export const arrivedMark = "at the point: "
export const passedMark = "points passed: "

/** The recorder of one process. */
export const recorder = (armed: Armed | undefined) => {
  const passes = new Map<string, number>()
  const report = () => writeSync(1, `${passedMark}${JSON.stringify([...passes.keys()])}\n`)
  const pass = (point: string): void => {
    const count = (passes.get(point) ?? 0) + 1
    passes.set(point, count)
    if (armed === undefined || armed.point !== point || armed.pass !== count) return
    report()
    writeSync(1, `${arrivedMark}${point}\n`)
    process.kill(process.pid, armed.how)
    // A killed process runs nothing more; the signal may need a moment to arrive.
    if (armed.how === "SIGKILL") for (;;);
  }
  return { pass, report }
}
