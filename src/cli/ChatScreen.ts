/** The rows below what has been printed: the turn that runs, then a question or the line being typed. Pure. */
import * as ChatView from "./ChatView.ts"
import * as LineEditor from "./LineEditor.ts"
import { none } from "./Style.ts"
import type { Style } from "./Style.ts"
import * as Width from "./Width.ts"

export interface Size {
  readonly columns: number
  readonly height: number
}

export interface Content {
  readonly view: ChatView.View
  readonly editor: LineEditor.Editor
  /** A word on what goes on, such as a lost connection. */
  readonly note: string
}

const prompt = "› "

export const block = (
  { editor, note, view }: Content,
  { columns, height }: Size,
  style: Style
): { readonly rows: ReadonlyArray<string>; readonly row: number; readonly column: number } => {
  // The last column stays free: what a terminal does after writing it differs.
  const width = columns - 1
  const [question] = view.questions
  const input =
    question === undefined
      ? LineEditor.layout(editor, prompt, width)
      : asking(
          `${ChatView.question(question, none)}  [y]es  [n]o  yes for this [t]urn, [c]onversation, [a]lways `,
          width,
          style
        )
  const notes = note === "" ? [] : Width.wrap(note, width).map((row) => style.dim(row))
  const room = Math.max(1, height - 1 - input.rows.length - notes.length)
  const above = [...running(view, width, style).slice(-room), ...notes]
  const rows = [...above, ...input.rows]
  const row = above.length + input.row
  // A line longer than the screen shows the part where the cursor is.
  const first = Math.max(0, Math.min(row, rows.length - (height - 1)))
  return { rows: rows.slice(first, first + height - 1), row: row - first, column: input.column }
}

const running = (view: ChatView.View, width: number, style: Style): ReadonlyArray<string> => {
  const paint = view.partialIs === "reasoning" && view.partial !== "" ? style.dim : undefined
  const text = ChatView.live(view, none)
  if (text === "") return []
  const calls = view.running.size > 0
  return text.split("\n").flatMap((line, index) => {
    if (index === 0 && view.partial !== "") {
      return Width.wrap(line, width).map((row) => (paint === undefined ? row : paint(row)))
    }
    return calls ? [style.dim(clip(line, width))] : Width.wrap(line, width).map((row) => style.dim(row))
  })
}

const asking = (text: string, width: number, style: Style) => {
  const rows = Width.wrap(text, width)
  return {
    rows: rows.map((row, index) => (index === 0 ? style.asking(row) : row)),
    row: rows.length - 1,
    column: Width.of(rows.at(-1) ?? "")
  }
}

const clip = (text: string, width: number): string => Width.rows(text, width)[0] ?? ""
