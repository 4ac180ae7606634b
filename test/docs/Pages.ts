/** The pages for people, as tests look at them. */
import { globSync, readFileSync } from "node:fs"

export interface Fence {
  /** The word after the opening marks; empty when there is none. */
  readonly language: string
  readonly text: string
  /** Line of the opening marks, from 1. */
  readonly line: number
  /** The prose between the fence before, or the heading, and this one. */
  readonly before: string
}

export interface Page {
  readonly path: string
  readonly text: string
  /** The same without what stands in fences. */
  readonly prose: string
  readonly fences: ReadonlyArray<Fence>
}

const read = (path: string): Page => {
  const text = readFileSync(path, "utf8")
  const fences: Array<Fence> = []
  const prose: Array<string> = []
  let before: Array<string> = []
  let open: { readonly language: string; readonly line: number; readonly lines: Array<string> } | undefined
  for (const [index, line] of text.split("\n").entries()) {
    if (open !== undefined && line === "```") {
      fences.push({ ...open, text: `${open.lines.join("\n")}\n`, before: before.join("\n") })
      open = undefined
      before = []
    } else if (open !== undefined) open.lines.push(line)
    else if (line.startsWith("```")) open = { language: line.slice(3).trim(), line: index + 1, lines: [] }
    else {
      prose.push(line)
      before = line.startsWith("#") ? [] : [...before, line]
    }
  }
  if (open !== undefined) throw new Error(`${path}:${open.line}: the fence has no end`)
  return { path, text, prose: prose.join("\n"), fences }
}

/** Every page of the repository that people read. */
export const pages: ReadonlyArray<Page> = [
  ...["README.md", "CONTRIBUTING.md", "CHANGELOG.md"].flatMap((path) => globSync(path)),
  ...globSync("docs/**/*.md").toSorted()
].map((path) => read(path.replaceAll("\\", "/")))
