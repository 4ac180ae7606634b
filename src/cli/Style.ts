/** Colours and weights, or none of them. */

export interface Style {
  readonly dim: (text: string) => string
  readonly bold: (text: string) => string
  readonly good: (text: string) => string
  readonly bad: (text: string) => string
  readonly asking: (text: string) => string
  readonly person: (text: string) => string
}

const plain = (text: string) => text

export const none: Style = { dim: plain, bold: plain, good: plain, bad: plain, asking: plain, person: plain }

/** The sixteen colours every terminal has, so that people's own themes apply. */
export const colours: Style = {
  dim: sgr(2, 22),
  bold: sgr(1, 22),
  good: sgr(32, 39),
  bad: sgr(31, 39),
  asking: sgr(33, 39),
  person: sgr(36, 39)
}

/** Painted line by line, so that a line can be cut out and still look the same. */
function sgr(on: number, off: number) {
  return (text: string) =>
    text
      .split("\n")
      .map((line) => (line === "" ? "" : `\u001b[${on}m${line}\u001b[${off}m`))
      .join("\n")
}
