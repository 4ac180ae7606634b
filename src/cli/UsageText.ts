/** What `troupe usage` prints for a person. */
import * as Usage from "../usage/Usage.ts"
import * as Plain from "./Plain.ts"
import type { Style } from "./Style.ts"
import * as Width from "./Width.ts"

export interface Room {
  /** Columns of the terminal. */
  readonly columns: number
  /** Bars of ASCII characters alone. */
  readonly ascii: boolean
  readonly style: Style
}

const widestName = 40
const narrowestBar = 4
const widestBar = 40

/** A line for each row with a bar as long as its tokens, and the sum. Where there is no room for bars there are none. */
export const report = ({ by, rows, total }: Usage.Report, { ascii, columns, style }: Room): string => {
  if (rows.length === 0) return "No model has answered in this time.\n"
  const most = Math.max(...rows.map(Usage.tokensOf))
  const table = [
    [by, "input", "cached", "output", "reasoning", "responses"],
    ...[...rows, { name: "all", ...total }].map((row) => [
      Plain.clipped(row.name, widestName),
      ...[row.inputTokens, row.cachedInputTokens, row.outputTokens, row.reasoningTokens, row.responses].map(grouped)
    ])
  ]
  const widths = [0, 1, 2, 3, 4, 5].map((at) => Math.max(...table.map((cells) => Width.of(cells[at] ?? ""))))
  const taken = widths.reduce((sum, width) => sum + width + 2, 2)
  const room = Math.min(widestBar, columns - taken - 1)
  return table
    .map((cells, line) => {
      const text = cells.map((cell, at) => padded(cell, widths[at] ?? 0, at === 0)).join("  ")
      const row = rows[line - 1]
      const drawn = row === undefined || room < narrowestBar ? "" : bar(Usage.tokensOf(row) / most, room, ascii)
      if (drawn !== "") return `  ${text}  ${style.person(drawn)}\n`
      return line === 0 ? `  ${style.dim(text)}\n` : `  ${row === undefined ? style.bold(text) : text}\n`
    })
    .join("")
}

/** At least one mark for what is not nothing. */
const bar = (share: number, room: number, ascii: boolean): string =>
  share > 0 ? (ascii ? "#" : "█").repeat(Math.max(1, Math.round(share * room))) : ""

const padded = (text: string, width: number, left: boolean): string => {
  const spaces = " ".repeat(Math.max(0, width - Width.of(text)))
  return left ? text + spaces : spaces + text
}

const grouped = (count: number): string => String(count).replace(/\B(?=(\d{3})+$)/g, ",")
