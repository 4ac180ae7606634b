/** What undoing did, in words. */
import type * as Undo from "../ledger/Undo.ts"
import * as Plain from "./Plain.ts"

export const words = ({ dryRun, irreversible, left, restored, turnId }: Undo.UndoReport): string =>
  [
    `${dryRun ? "Would undo" : "Undid"} the file changes of ${turnId}: ${restored.length} put back, ${left.length} left alone`,
    ...restored.map(({ path, to }) => `  ${states[to]}  ${Plain.line(path)}`),
    ...left.map(({ detail, path }) => `  left alone  ${Plain.line(path)}: ${Plain.line(detail)}`),
    ...(irreversible.length === 0
      ? []
      : ["What cannot be undone:", ...irreversible.map((line) => `  ${Plain.line(line)}`)]),
    ""
  ].join("\n")

const states: Readonly<Record<Undo.RestoredPath["to"], string>> = {
  content: "as before ",
  absent: "removed   ",
  folder: "made again"
}
