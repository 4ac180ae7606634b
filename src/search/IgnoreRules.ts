/**
 * The rules of ignore files, as one list for a whole tree. A program that looks for ignore files itself opens whatever has their
 * name: a pipe holds it up, and a link leads it out of the tree. So they are read for it, and it is given the list.
 */

/** Names of ignore files: the rules of a later name go before those of an earlier one. */
export const names = [".gitignore", ".ignore", ".rgignore"] as const

export interface File {
  /** The folder that it is in, as the program names what it searches: empty for the folder that it runs in. */
  readonly folder: string
  readonly name: string
  readonly text: string
}

/**
 * Lines of rules from the folder that the program runs in. The last that fits a path is what holds, so the rules of a folder stand
 * behind those of the folders above it.
 */
export const merged = (files: ReadonlyArray<File>): ReadonlyArray<string> =>
  names.flatMap((name) =>
    files
      .filter((file) => file.name === name)
      .toSorted((one, other) => depthOf(one) - depthOf(other))
      .flatMap(rulesOf)
  )

const depthOf = ({ folder }: File): number => folder.split("/").filter((name) => name !== "").length

const rulesOf = ({ folder, text }: File): ReadonlyArray<string> => {
  const names = folder.split("/").filter((name) => name !== "")
  const base = names.map((name) => `/${name.replaceAll(/[\\*?[\]{}!#]/g, "\\$&")}`).join("")
  // A name can hold a line end, which no rule can.
  if (base.includes("\n")) return []
  return text
    .replace(/^\uFEFF/, "")
    .split("\n")
    .flatMap((line) => rule(base, line))
}

/** What a line says of its own folder, said from the top. */
const rule = (base: string, given: string): ReadonlyArray<string> => {
  if (given.startsWith("#")) return []
  const line = given.endsWith("\\ ") ? given : given.trimEnd()
  const turned = line.startsWith("!")
  const said = turned || line.startsWith("\\!") || line.startsWith("\\#") ? line.slice(1) : line
  const pattern = said.startsWith("/") ? said.slice(1) : said
  if (pattern === "") return []
  const isAnchored = said.slice(0, -1).includes("/")
  return [`${turned ? "!" : ""}${base}/${isAnchored ? "" : "**/"}${pattern}`]
}
