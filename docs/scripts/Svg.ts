/** A screen of text with colours, as a picture. Understands the sequences that tmux captures: weights and sixteen colours. */

export interface Look {
  readonly columns: number
  readonly title: string
}

interface Span {
  readonly text: string
  readonly column: number
  readonly classes: ReadonlyArray<string>
}

const cell = { width: 8.4, height: 19 }
const edge = { side: 16, top: 44, bottom: 16 }

export const toSvg = (screen: string, { columns, title }: Look): string => {
  const lines = screen.split("\n").map(spansOf)
  const width = Math.ceil(columns * cell.width + 2 * edge.side)
  const height = edge.top + lines.length * cell.height + edge.bottom
  const text = lines.flatMap((spans, row) =>
    spans.filter(({ text }) => text.trim() !== "").map((span) => draw(span, row))
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escape(title)}">
<style>
  text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #d7dae0; white-space: pre; }
  .dim { fill: #868d99; }
  .bold { font-weight: 700; }
  .c1 { fill: #e06c75; } .c2 { fill: #7fbf7f; } .c3 { fill: #e0b060; } .c4 { fill: #6ca8e8; } .c5 { fill: #c28ad6; } .c6 { fill: #5fb8c0; }
  .title { fill: #868d99; }
</style>
<rect width="${width}" height="${height}" rx="10" fill="#1d2027"/>
<circle cx="22" cy="20" r="6" fill="#4a4f5a"/><circle cx="42" cy="20" r="6" fill="#4a4f5a"/><circle cx="62" cy="20" r="6" fill="#4a4f5a"/>
<text class="title" x="${width / 2}" y="25" text-anchor="middle">${escape(title)}</text>
${text.join("\n")}
</svg>
`
}

const draw = ({ classes, column, text }: Span, row: number): string => {
  const x = round(edge.side + column * cell.width)
  const y = round(edge.top + row * cell.height + 14)
  const named = classes.length === 0 ? "" : ` class="${classes.join(" ")}"`
  // The length is given, so that a reader's font does not move what stands to the right.
  return `<text${named} x="${x}" y="${y}" textLength="${round([...text].length * cell.width)}" xml:space="preserve">${escape(text)}</text>`
}

const spansOf = (line: string): ReadonlyArray<Span> => {
  const spans: Array<Span> = []
  let classes: ReadonlyArray<string> = []
  let column = 0
  for (const [index, part] of line.split("\u001b[").entries()) {
    // All but the first begin with the codes of a sequence, up to its "m".
    const end = index === 0 ? 0 : part.indexOf("m") + 1
    if (end > 0)
      classes = part
        .slice(0, end - 1)
        .split(";")
        .reduce(change, classes)
    const text = part.slice(end)
    if (text !== "") spans.push({ text, column, classes })
    column += [...text].length
  }
  return spans
}

const change = (classes: ReadonlyArray<string>, code: string): ReadonlyArray<string> => {
  const number = Number(code)
  const without = (pattern: RegExp) => classes.filter((name) => !pattern.test(name))
  if (number === 0) return []
  if (number === 1) return [...without(/^bold$/), "bold"]
  if (number === 2) return [...without(/^dim$/), "dim"]
  if (number === 22) return without(/^(bold|dim)$/)
  if (number >= 30 && number <= 37) return [...without(/^c\d$/), `c${number - 30}`]
  return number === 39 ? without(/^c\d$/) : classes
}

const round = (value: number): number => Math.round(value * 10) / 10

const escape = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;")
