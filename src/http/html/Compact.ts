/**
 * A page as compact text that a model can act on: links keep their targets, forms their fields, tables their rows.
 *
 * One line for each thing, one space of indent for each level of structure:
 *
 * ```
 * h1 "Orders"
 * p
 *  "All orders since"
 *  a "January" /orders?since=2026-01
 * form GET /search
 *  input text q "Search" required
 *  button "Go"
 * table
 *  | No. | Sum |
 *  | 17 | 12.50 |
 * ```
 */
import type { Element, Node } from "./Element.ts"
import * as Tags from "./Tags.ts"

/** At most `maxChars` UTF-16 units; what does not fit is left out at the end. */
export const render = (page: Element, maxChars: number): string => {
  const out = writer(maxChars)
  writeAll(out, itemsOf(page), 0)
  return out.text()
}

// ---------------------------------------------------------------------------------------------------------------------
// Lines

interface Writer {
  readonly line: (level: number, text: string) => void
  readonly full: () => boolean
  readonly text: () => string
}

const writer = (maxChars: number): Writer => {
  const lines: Array<string> = []
  let length = 0
  return {
    line: (level, text) => {
      if (length > maxChars) return
      lines.push(" ".repeat(level) + text)
      length += level + text.length + 1
    },
    full: () => length > maxChars,
    text: () => {
      const text = lines.join("\n")
      return text.length <= maxChars ? text : text.slice(0, maxChars)
    }
  }
}

/** A run of text, as it stands in the page, or an element that is a line of its own. */
type Item = Element | string

/** The content of an element: what only groups or decorates dissolved, texts that touch each other joined. */
const itemsOf = (element: Element): ReadonlyArray<Item> => {
  const items: Array<Item> = []
  let run: Array<string> = []
  const endRun = () => {
    const text = run.join("")
    run = []
    if (text.trim() !== "") items.push(text)
  }
  const take = (node: Node): void => {
    if (typeof node === "string") return void run.push(node)
    if (node.tag === "br") return void run.push("\n")
    if (isInline(node)) {
      for (const child of node.children) take(child)
      return
    }
    endRun()
    const content = isGrouping(node) ? node.children : layoutOf(node)
    if (content === undefined) items.push(node)
    else for (const child of content) take(child)
    endRun()
  }
  for (const child of element.children) take(child)
  endRun()
  return items
}

const isInline = ({ attributes, tag }: Element): boolean =>
  Tags.inline.has(tag) || (tag === "a" && !attributes.has("href"))

/** Elements that pages define themselves say nothing by their names. */
const isGrouping = ({ tag }: Element): boolean => Tags.grouping.has(tag) || tag.includes("-")

const writeAll = (out: Writer, items: ReadonlyArray<Item>, level: number): void => {
  for (const item of items) {
    if (out.full()) return
    if (typeof item === "string") out.line(level, quoted(item))
    else write(out, item, level)
  }
}

const write = (out: Writer, element: Element, level: number): void => {
  if (element.tag === "table") return writeTable(out, element, level)
  if (element.tag === "pre") return writePre(out, element, level)
  const items = itemsOf(element)
  const [first] = items
  const text = items.length === 1 && typeof first === "string" ? first : undefined
  if (items.length === 0 && labelOf(element) === undefined && !Tags.telling.has(element.tag)) return
  const inside = text === undefined || ownContent.has(element.tag) ? items : []
  out.line(level, lineOf(element, inside.length === 0 ? text : undefined, inside.length > 0))
  writeAll(out, inside, level + 1)
}

/** Their text is not their name. */
const ownContent: ReadonlySet<string> = new Set(["form", "select", "textarea", "video", "audio", "object"])

// ---------------------------------------------------------------------------------------------------------------------
// One line

/** `text` is all that is in it; with `nested`, more follows below it. */
const lineOf = (element: Element, text: string | undefined, nested: boolean): string => {
  const { attributes, tag } = element
  const attribute = (name: string) => attributes.get(name)
  const name = text ?? (nested ? undefined : labelOf(element))
  const parts = (...list: ReadonlyArray<string | undefined>) =>
    [tag, ...list].filter((part) => part !== undefined && part !== "").join(" ")
  switch (tag) {
    case "a":
    case "area":
      return parts(optionallyQuoted(name), target(attribute("href")))
    case "form":
      return parts(collapsed(attribute("method") ?? "GET").toUpperCase() || "GET", target(attribute("action")))
    case "input":
      return parts(
        collapsed(attribute("type") ?? "") || "text",
        collapsed(attribute("name") ?? ""),
        optionallyQuoted(attribute("placeholder") ?? labelOf(element)),
        valueOf(element),
        flagsOf(element)
      )
    case "select":
      return parts(collapsed(attribute("name") ?? ""), flagsOf(element))
    case "option":
      return parts(optionallyQuoted(name), valueOf(element), flagsOf(element))
    case "textarea":
      return parts(
        collapsed(attribute("name") ?? ""),
        optionallyQuoted(attribute("placeholder") ?? labelOf(element)),
        flagsOf(element)
      )
    case "button":
      return parts(optionallyQuoted(name), flagsOf(element))
    case "img":
      return parts(optionallyQuoted(attribute("alt") ?? labelOf(element)), target(attribute("src")))
    case "object":
      return parts(target(attribute("data")))
    default:
      return parts(optionallyQuoted(name), target(attribute("src")))
  }
}

const labelOf = ({ attributes }: Element): string | undefined =>
  [attributes.get("aria-label"), attributes.get("alt"), attributes.get("title")].find(
    (label) => label !== undefined && collapsed(label) !== ""
  )

const valueOf = ({ attributes }: Element): string => {
  const value = collapsed(attributes.get("value") ?? "")
  return value === "" ? "" : `=${value}`
}

const flagsOf = ({ attributes }: Element): string =>
  ["checked", "selected", "disabled", "required"].filter((flag) => attributes.has(flag)).join(" ")

/** Where a link or an image leads, as it is written; like browsers, without line breaks and the spaces around it. */
const target = (written: string | undefined): string => {
  const address = (written ?? "").replace(/[\t\n\r\f]/g, "").trim()
  return /^data:/i.test(address) && address.length > longestData ? `${address.slice(0, longestData)}…` : address
}

/** An address that is a file itself leads nowhere. */
const longestData = 64

const collapsed = (text: string): string => text.replace(/\s+/g, " ").trim()
const quoted = (text: string): string => `"${collapsed(text).replaceAll('"', "'")}"`
const optionallyQuoted = (text: string | undefined): string => {
  const plain = collapsed(text ?? "")
  return plain === "" ? "" : quoted(plain)
}

// ---------------------------------------------------------------------------------------------------------------------
// Tables and text with lines

/** The rows of a table, not those of tables in it, and what else is in it. */
const partsOf = (table: Element): { readonly rows: ReadonlyArray<Element>; readonly others: ReadonlyArray<Item> } => {
  const items = itemsOf(table)
  const isRow = (item: Item): item is Element => typeof item !== "string" && item.tag === "tr"
  return { rows: items.filter(isRow), others: items.filter((item) => !isRow(item)) }
}

const cellsOf = (row: Element): ReadonlyArray<Item> => itemsOf(row)

/** The content of a table that only lays out: one that has one cell. */
const layoutOf = (element: Element): ReadonlyArray<Node> | undefined => {
  if (element.tag !== "table") return undefined
  const { others, rows } = partsOf(element)
  const [row] = rows
  if (row === undefined || rows.length > 1 || others.length > 0) return undefined
  const [cell, ...more] = cellsOf(row)
  return more.length > 0 || cell === undefined ? undefined : typeof cell === "string" ? [cell] : cell.children
}

const writeTable = (out: Writer, table: Element, level: number): void => {
  const { others, rows } = partsOf(table)
  if (rows.length === 0 && others.length === 0) return
  out.line(level, "table")
  writeAll(out, others, level + 1)
  for (const row of rows) {
    if (out.full()) return
    const texts = cellsOf(row).map(textOfCell)
    const simple = texts.filter((text) => text !== undefined)
    if (simple.length < texts.length) {
      out.line(level + 1, "tr")
      writeAll(out, cellsOf(row), level + 2)
    } else if (simple.some((text) => text !== "")) out.line(level + 1, `| ${simple.join(" | ")} |`)
  }
}

/** Undefined for a cell with more than text in it. */
const textOfCell = (cell: Item): string | undefined => {
  const items = typeof cell === "string" ? [cell] : itemsOf(cell)
  const [first] = items
  return items.length === 0
    ? ""
    : items.length === 1 && typeof first === "string"
      ? collapsed(first).replaceAll("|", "\\|")
      : undefined
}

const writePre = (out: Writer, element: Element, level: number): void => {
  const items = itemsOf(element)
  if (items.length === 0) return
  out.line(level, "pre")
  for (const item of items) {
    if (out.full()) return
    if (typeof item === "string") for (const line of linesOf(item)) out.line(level + 1, line)
    else write(out, item, level + 1)
  }
}

/** Without the empty ones around them. */
const linesOf = (text: string): ReadonlyArray<string> =>
  text
    .replace(/\r\n?/g, "\n")
    .replace(/^(?:[^\S\n]*\n)+|\s+$/g, "")
    .split("\n")
