/** Threads as people read them: one block for each message, one line for each tool call with its one result. */
import * as DateTime from "effect/DateTime"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type * as TroupeRpcs from "../rpc/TroupeRpcs.ts"
import type * as Entry from "../thread/Entry.ts"
import type * as Threads from "../thread/Threads.ts"
import type * as Held from "../conversation/Held.ts"
import * as Disk from "../storage/DiskUsage.ts"
import type * as Backup from "../storage/Backup.ts"
import * as StorageError from "../storage/StorageError.ts"
import * as Display from "../tool/Display.ts"
import * as Beginning from "./Beginning.ts"
import * as Plain from "./Plain.ts"
import type { Style } from "./Style.ts"

/** A stretch of a thread. A call whose result is not in it is shown as running. */
export const render = (entries: ReadonlyArray<Entry.StoredEntry>, style: Style): string => {
  const results = new Map<string, Extract<Entry.Entry, { _tag: "ToolResult" }>>()
  for (const { entry } of entries) if (entry._tag === "ToolResult") results.set(entry.callId, entry)
  const shown = new Set<string>()
  const blocks = entries.flatMap(({ at, entry }, index) => {
    switch (entry._tag) {
      case "UserMessage":
        return [`${style.dim(timeOf(at))} ${person(entry, style)}`]
      case "AssistantMessage":
        return [
          ...(entry.text.trim() === "" ? [] : [Plain.lines(entry.text.trimEnd())]),
          ...entry.calls.map((call) => {
            shown.add(call.callId)
            return toolLine(call.name, detailOf(call), results.get(call.callId), style)
          })
        ]
      case "ToolResult":
        // Its call is above, or before the stretch that was asked for.
        return shown.has(entry.callId) ? [] : [toolLine(entry.name, "", entry, style)]
      case "Notice":
        return isSaidByEnd(entry.text, entries[index + 1]?.entry) ? [] : [style.dim(Plain.lines(entry.text))]
      case "FileSent":
        return [fileSent(entry, style)]
      case "ModelSwitched":
        return [switched(entry, style)]
      case "TurnEnded":
        return entry.state === "answered" ? [] : [ending(entry, style)]
      case "Compacted":
        return [
          style.dim(`── earlier messages are ${entry.how === "native" ? "compacted" : "summarised"} for the model ──`)
        ]
      case "FilesRestored":
        return [
          style.dim(`── ${counted(entry.restored.length, "path")} put back to what it was before ${entry.turnId} ──`)
        ]
      case "HistoryTrimmed":
        return [style.dim(`── ${entry.removedMessages} earlier messages are no longer shown to the model ──`)]
      default:
        return []
    }
  })
  return blocks.length === 0 ? "" : `${blocks.join("\n")}\n`
}

/**
 * The last `limit` entries of a thread, in the pages that they come in: first what is left out above, which must not look like
 * the beginning. `more` is what shows it, before a number.
 */
export const history = <E>(
  pages: Stream.Stream<ReadonlyArray<Entry.StoredEntry>, E>,
  { limit, more, style }: { readonly limit: number; readonly more: string; readonly style: Style }
): Stream.Stream<string, E> =>
  Stream.mapAccum(
    stretches(pages),
    () => false,
    (begun, entries) => {
      const [first] = entries
      if (first === undefined) return [begun, []]
      // Where something is left out, what is shown is as much as was asked for.
      const above = begun ? "" : Beginning.above(first, limit, style, more)
      return [true, [above + render(entries, style)]]
    }
  )

/** Pages cut so that a call and its result, which comes soon after it, are in the same stretch. */
const stretches = <E>(
  pages: Stream.Stream<ReadonlyArray<Entry.StoredEntry>, E>
): Stream.Stream<ReadonlyArray<Entry.StoredEntry>, E> =>
  Stream.mapAccum(
    pages,
    (): ReadonlyArray<Entry.StoredEntry> => [],
    (before, page) => {
      const all = [...before, ...page]
      const whole = settled(all)
      return [all.slice(whole), [all.slice(0, whole)]] as const
    },
    { onHalt: (left) => [left] }
  )

/** How many of the first entries have every result of their calls beside them. */
const settled = (entries: ReadonlyArray<Entry.StoredEntry>): number => {
  const results = new Set<string>()
  for (const { entry } of entries) if (entry._tag === "ToolResult") results.add(entry.callId)
  const open = entries.findIndex(
    ({ entry }) => entry._tag === "AssistantMessage" && entry.calls.some(({ callId }) => !results.has(callId))
  )
  return open === -1 ? entries.length : open
}

/** What is shown of a call's arguments, while it runs and ever after. */
export const detailOf = (call: Pick<Entry.ToolCallRequest, "arguments">): string =>
  Plain.clipped(Display.written(call.arguments), detailWidth)

/** How many characters of it there are at most. */
export const detailWidth = 60

export const person = (message: Extract<Entry.Entry, { _tag: "UserMessage" }>, style: Style): string => {
  const name = message.sender.name
  const who = name === undefined ? "" : ` ${style.dim(`(${Plain.clipped(name, 40)})`)}`
  const files = message.attachments.map(({ name: file }) => style.dim(`\n  [file ${Plain.clipped(file, 80)}]`))
  return `${style.person(`› ${Plain.lines(message.text).replaceAll("\n", "\n  ")}`)}${who}${files.join("")}`
}

export const switched = (entry: Extract<Entry.Entry, { _tag: "ModelSwitched" }>, style: Style): string => {
  const to = Plain.clipped(`${entry.to.provider}/${entry.to.model}`, 80)
  return style.dim(`── ${to} is asked from here on: ${Plain.clipped(entry.message, 200)} ──`)
}

/** A file for the person who reads this, and where it lies. */
export const fileSent = ({ caption, file }: Extract<Entry.Entry, { _tag: "FileSent" }>, style: Style): string => {
  const words = caption === undefined || caption.trim() === "" ? "" : `\n${Plain.lines(caption.trimEnd())}`
  return `${style.bold(`[file ${Plain.clipped(file.name, 80)}]`)} ${Plain.line(file.absolutePath)} ${style.dim(`(${sizeText(file.bytes)})`)}${words}`
}

export const toolLine = (name: string, detail: string, result: Result | undefined, style: Style): string => {
  const call = `${Plain.clipped(name, 64)}${detail === "" ? "" : ` ${style.dim(detail)}`}`
  if (result === undefined) return `  ${style.dim("…")} ${call}`
  const time = style.dim(`(${duration(result.durationMillis)})`)
  if (result.outcome === "completed") return `  ${style.good("✓")} ${call} ${time}`
  return `  ${style.bad("✗")} ${call} ${style.bad(troubleOf(result))} ${time}`
}

type Result = Pick<Extract<Entry.Entry, { _tag: "ToolResult" }>, "outcome" | "durationMillis" | "errorCode" | "data">

/** Why a call has no success: its outcome, and its code where that says more. */
const troubleOf = ({ data, errorCode, outcome }: Result): string => {
  if (outcome === "denied") return isDenial(data) ? denials[data.details.reason] : outcome
  const last = errorCode?.split(":").at(-1)
  return errorCode === undefined || last === outcome || last?.startsWith(`${outcome}_`) === true
    ? outcome
    : `${outcome}, ${Plain.clipped(errorCode, 80)}`
}

const denials = {
  denied: "denied",
  expired: "denied, no answer in time",
  "nobody-to-ask": "denied, nobody to ask",
  cancelled: "denied, no longer asked"
} as const

const isDenial = Schema.is(
  Schema.Struct({
    details: Schema.Struct({ reason: Schema.Literals(["denied", "expired", "nobody-to-ask", "cancelled"]) })
  })
)

/** Whether the end of a turn, told in one line, says what a notice right before it said. */
export const isSaidByEnd = (notice: string, end: Entry.Entry | undefined): boolean => {
  if (end?._tag !== "TurnEnded" || end.state === "answered") return false
  const why = end.failure?.message ?? end.reason
  return end.state === "stopped" || (why !== undefined && notice.toLowerCase().includes(why.toLowerCase()))
}

export const ending = (end: Extract<Entry.Entry, { _tag: "TurnEnded" }>, style: Style): string => {
  const why = end.failure?.message ?? end.reason
  const words = why === undefined ? "" : `: ${Plain.lines(why)}`
  return end.state === "stopped" ? style.dim(`[stopped${words}]`) : style.bad(`[${end.state}${words}]`)
}

const duration = (millis: number): string =>
  millis < 1000
    ? `${Math.round(millis)} ms`
    : millis < 60_000
      ? `${(millis / 1000).toFixed(1)} s`
      : `${Math.floor(millis / 60_000)} min ${Math.round((millis % 60_000) / 1000)} s`

const timeOf = (at: number): string => DateTime.formatIso(DateTime.makeUnsafe(at)).slice(0, 16).replace("T", " ")

/** `troupe threads`. */
export const threads = (list: ReadonlyArray<Threads.Thread>, style: Style): string =>
  list.length === 0
    ? "There are no threads yet. `troupe chat` starts one.\n"
    : list
        .map(
          (thread) =>
            `${style.dim(timeOf(thread.updatedAt))}  ${Plain.clipped(thread.key, 60).padEnd(24)} ` +
            `${String(thread.entries).padStart(5)} entries${
              thread.title === null ? "" : `  ${Plain.clipped(thread.title, 60)}`
            }\n`
        )
        .join("")

/** `troupe tools`. */
export const tools = (list: ReadonlyArray<TroupeRpcs.ToolSummary>, style: Style): string =>
  list.length === 0 ? "There are no tools.\n" : list.map((tool) => toolLines(tool, style)).join("")

const toolLines = (tool: TroupeRpcs.ToolSummary, style: Style): string => {
  const facts = [
    ...(tool.keptOffBy === null ? [] : [`off: see ${tool.keptOffBy}`]),
    `at most ${tool.timeout}`,
    tool.cancellation,
    `replay ${tool.replay}`,
    ...(tool.capabilities.length === 0 ? [] : [`may use ${tool.capabilities.join(", ")}`]),
    ...(tool.needsApproval ? ["asks first"] : [])
  ]
  const first = tool.description.split("\n", 1)[0] ?? ""
  return `${style.bold(Plain.line(tool.name))} ${style.dim(`(${facts.join("; ")})`)}\n  ${Plain.clipped(first, 200)}\n`
}

/** `troupe tools --all`. */
export const definitions = (list: ReadonlyArray<TroupeRpcs.ToolDefinition>, style: Style): string =>
  list.length === 0
    ? tools(list, style)
    : list
        .map((tool) => {
          const { concurrency, maxChars, perTurn } = tool.limits
          const limits = [
            `${maxChars} characters inline`,
            ...(concurrency === null ? [] : [`${concurrency} at the same time`]),
            ...(perTurn === null ? [] : [`${perTurn} in a turn`])
          ]
          const codes = Object.keys(tool.failures ?? {})
          return [
            toolLines(tool, style),
            `  limits     ${limits.join("; ")}\n`,
            `  turned on  ${Plain.line(tool.enabledBy ?? "always")}\n`,
            ...(codes.length === 0 ? [] : [`  failures   ${Plain.line(codes.join(", "))}\n`]),
            `  parameters ${Plain.line(JSON.stringify(tool.parameters))}\n`,
            `  result     ${Plain.line(JSON.stringify(tool.result))}\n`
          ].join("")
        })
        .join("")

const counted = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`

/** Work and replies together, as `3 threads and 1 reply`. */
const heldWords = ({ replies, threads }: Held.HeldCount): string =>
  `${counted(threads, "thread")} and ${counted(replies, "reply", "replies")}`

const contents = (tables: Backup.TableCounts): string =>
  `${counted(tables["threads"] ?? 0, "thread")}, ${counted(tables["thread_entries"] ?? 0, "entry", "entries")}, ` +
  counted(tables["turns"] ?? 0, "turn")

/** What is on the disk, what bounds each part and when it goes, and the sum. What is beyond its limit is marked. */
export const disk = ({ bytes, managedFiles, path, records, unreadable, usage }: Disk.DiskUsage): string => {
  const row = (what: string, part: { bytes: number; limitBytes: number | null; removed: string }, count: string) => [
    what,
    sizeText(part.bytes),
    count,
    part.limitBytes === null ? "" : `of ${sizeText(part.limitBytes)}${Disk.isOver(part) ? ", OVER" : ""}`,
    part.removed
  ]
  const rows = usage.map((one) => row(one.kind, one, counted(one.files, "file")))
  const inside = (records ?? []).map((one) => row(`  ${one.what}`, one, one.rows === 0 ? "" : counted(one.rows, "row")))
  const at = usage.findIndex(({ kind }) => kind === "database") + 1
  return [
    `${Plain.line(path)}\n`,
    ...(managedFiles === null ? [] : [`${Plain.line(managedFiles)} (managed files)\n`]),
    ...columns([
      ["what", "size", "count", "limit", "removed"],
      ...rows.slice(0, at),
      ...inside,
      ...rows.slice(at),
      ["all", sizeText(bytes), "", "", ""]
    ]),
    ...unreadable.map((folder) => `Not counted, since it may not be read: ${Plain.line(folder)}\n`),
    records === null ? "The database cannot be read; `troupe verify` says why.\n" : ""
  ].join("")
}

/** Lines with every cell but the second to the left. */
const columns = (rows: ReadonlyArray<ReadonlyArray<string>>): ReadonlyArray<string> => {
  const widths = [0, 1, 2, 3].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  return rows.map((row) => {
    const cells = row.map((cell, column) =>
      column === 1 ? cell.padStart(widths[1] ?? 0) : cell.padEnd(widths[column] ?? 0)
    )
    return `  ${cells.join("  ").trimEnd()}\n`
  })
}

const sizeOf = (files: ReadonlyArray<Backup.BackupFile>): string =>
  sizeText(files.reduce((sum, file) => sum + file.bytes, 0))

const sizeText = (bytes: number): string => {
  if (bytes < 1e6) return `${Math.ceil(bytes / 1e3)} kB`
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(1)} GB`
}

/** `troupe backup`. */
export const backup = (path: string, { files, tables }: Backup.Manifest): string =>
  `Backed up and verified: ${Plain.line(path)}\n` +
  `  ${contents(tables)}; ${counted(files.length - 1, "file")} beside the database; ${sizeOf(files)}\n`

/** `troupe verify`. */
export const verified = (path: string, tables: Backup.TableCounts): string =>
  `Sound: ${Plain.line(path)}\n  ${contents(tables)}\n`

/** `troupe restore`. */
export const restored = (directory: string, report: Backup.RestoreReport, dryRun: boolean): string => {
  const { held, manifest, replaced } = report
  const nothing = held.threads === 0 && held.replies === 0
  return [
    `${dryRun ? "Can be restored" : "Restored"} into ${Plain.line(directory)}: the state of ${timeOf(manifest.createdAt)}`,
    `  ${contents(manifest.tables)}`,
    ...(replaced === null ? [] : [`  the database that was there is kept as ${Plain.line(replaced)}`]),
    nothing
      ? "  nothing was owed in it"
      : `  ${heldWords(held)} were owed in it and ${dryRun ? "would be" : "are"} held: \`troupe held\` lists them once the daemon runs`,
    ""
  ].join("\n")
}

/** `troupe held`. */
export const held = (items: Held.HeldItems): string => {
  if (items.threads.length === 0 && items.replies.length === 0) return "Nothing is held.\n"
  const from =
    items.restored === null
      ? "Held:"
      : `Restored ${timeOf(items.restored.restoredAt)} from a backup of ${timeOf(items.restored.snapshotAt)}. Held since:`
  return [
    from,
    ...items.threads.map(
      (thread) =>
        `  ${Plain.clipped(thread.key, 60)}  ${[
          ...(thread.running ? ["a turn was at work"] : []),
          ...(thread.waiting > 0 ? [`${counted(thread.waiting, "message")} waiting`] : [])
        ].join(", ")}`
    ),
    ...items.replies.map(
      (reply) =>
        `  ${Plain.clipped(reply.key, 60)}  a reply of ${timeOf(reply.createdAt)} for ${Plain.line(reply.channel)}`
    ),
    "--release answers and sends all of it, also what was answered and sent before; --drop does none of it.",
    ""
  ].join("\n")
}

/** `troupe held --release` and `--drop`. */
export const released = (how: Held.Release, count: Held.HeldCount): string =>
  `${how === "resume" ? "Released" : "Dropped"}: ${heldWords(count)}.\n`

/** `troupe status`. */
export const status = (state: TroupeRpcs.Status, style: Style): string => {
  const rows: ReadonlyArray<readonly [string, string]> = [
    ["version", state.version],
    ["address", state.url],
    ["process", `${state.pid}, up ${duration(state.uptimeMillis)}, ${Math.round(state.memoryBytes / 1e6)} MB`],
    ["data", state.dataDirectory],
    ["settings", state.configSource],
    ["model", modelName(state)],
    ["threads", `${state.threads}, ${state.activeConversations} in memory, ${state.runningTurns} answering`],
    [
      "waiting",
      state.oldestOwedMillis === null ? "nothing" : `for ${duration(state.oldestOwedMillis)} (the oldest message)`
    ],
    ...(state.waitingApprovals === 0
      ? []
      : [["asked", `${counted(state.waitingApprovals, "question")} for a person: see \`troupe approvals\``] as const]),
    ...state.undelivered.map(({ channel, count }): readonly [string, string] => [
      "undelivered",
      `${counted(count, "reply", "replies")} for the channel ${channel}`
    ]),
    ...(state.held.threads + state.held.replies === 0
      ? []
      : [["held", `${heldWords(state.held)} of a restored copy: see \`troupe held\``] as const]),
    ...(state.storageFailing === null
      ? []
      : [
          [
            "store",
            `cannot be written since ${timeOf(state.storageFailing.since)}: ${StorageError.explain(state.storageFailing.reason)}`
          ] as const
        ])
  ]
  return rows.map(([name, value]) => `${style.dim(name.padEnd(12))}${Plain.line(value)}\n`).join("")
}

/** The built-in helper must not be taken for a language model. */
export const modelName = (model: { readonly provider: string; readonly model: string }): string =>
  model.provider === "offline" ? "offline helper, not a language model" : `${model.provider}/${model.model}`
