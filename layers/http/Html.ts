/**
 * Reads a page into the tree of what can be seen of it.
 *
 * Only the tokenizer of the library is used: what builds a tree the way browsers do looks, at each tag, through all elements that
 * are open, and takes minutes for a page that was made for it. Here no more than `deepest` are ever open, so the time is in
 * proportion to the length of the page, whatever is in it.
 */
import { Tokenizer } from "htmlparser2"
import * as Element from "../../src/http/html/Element.ts"
import * as Tags from "../../src/http/html/Tags.ts"

/** Never fails: every text is some page. */
export const parse = (page: string): Element.Element => {
  const builder = make()
  let name = ""
  let value = ""
  const tokenizer = new Tokenizer(
    { decodeEntities: true },
    {
      ontext: (start, end) => {
        // Text never begins right behind a `<`, except where the page ends within a tag.
        if (page.charAt(start - 1) !== "<") builder.text(page.slice(start, end))
      },
      ontextentity: (codePoint) => builder.text(character(codePoint)),
      onopentagname: (start, end) => builder.open(page.slice(start, end).toLowerCase()),
      onattribname: (start, end) => {
        name = page.slice(start, end).toLowerCase()
        value = ""
      },
      onattribdata: (start, end) => void (value += page.slice(start, end)),
      onattribentity: (codePoint) => void (value += character(codePoint)),
      onattribend: () => builder.attribute(name, value),
      onopentagend: () => builder.opened(false),
      onselfclosingtag: () => builder.opened(true),
      onclosetag: (start, end) => builder.close(page.slice(start, end).toLowerCase()),
      oncdata: () => {},
      oncomment: () => {},
      ondeclaration: () => {},
      onprocessinginstruction: () => {},
      onend: () => {}
    }
  )
  tokenizer.write(page)
  tokenizer.end()
  return builder.root
}

// ---------------------------------------------------------------------------------------------------------------------
// Helpers

/** An element while its content is read. One that nobody sees is read like any other, and is in nothing's children. */
interface Open extends Element.Element {
  readonly children: Array<Element.Node>
  readonly unseen: boolean
}

const make = () => {
  const root: Open = { tag: "html", attributes: none, children: [], unseen: false }
  /** From the page inwards. */
  const open: Array<Open> = [root]
  /** How many of a name are in `open`, so that most names need not be looked for. */
  const counts = new Map<string, number>()
  let tag = ""
  let attributes: Map<string, string> | undefined

  const parent = (): Open => open.at(-1) ?? root

  const push = (element: Open) => {
    open.push(element)
    counts.set(element.tag, (counts.get(element.tag) ?? 0) + 1)
  }

  const closeFrom = (at: number) => {
    while (open.length > at) {
      const closed = open.pop()
      if (closed !== undefined) counts.set(closed.tag, (counts.get(closed.tag) ?? 0) - 1)
    }
  }

  /** The place of the innermost open element that is wanted, if nothing of `within` is inside it; -1 where there is none. */
  const innermost = (wanted: ReadonlyArray<string>, within: ReadonlySet<string>): number => {
    if (!wanted.some((name) => (counts.get(name) ?? 0) > 0)) return -1
    for (let at = open.length - 1; at > 0; at--) {
      const name = open[at]?.tag ?? ""
      if (wanted.includes(name)) return at
      if (within.has(name)) return -1
    }
    return -1
  }

  const closeImplied = () => {
    const implied = Tags.implied.get(tag)
    if (implied === undefined) return
    let at = innermost(implied.ends, implied.within)
    while (at !== -1) {
      closeFrom(at)
      at = innermost(implied.ends, implied.within)
    }
  }

  const enter = (element: Open, selfClosing: boolean) => {
    const hasEnd =
      !Tags.empty.has(tag) && !(selfClosing && (foreign.includes(tag) || innermost(foreign, nothing) !== -1))
    // What is too deep lies beside its parent, unless nobody sees that: then what is inside it stays there.
    if (hasEnd && open.length >= Element.deepest && !parent().unseen) closeFrom(open.length - 1)
    if (!element.unseen) parent().children.push(element)
    if (hasEnd && open.length < Element.deepest) push(element)
  }

  return {
    root,
    text: (text: string) => void parent().children.push(text),
    open: (name: string) => {
      tag = name
      attributes = undefined
    },
    attribute: (name: string, value: string) => {
      if (!kept.has(name)) return
      attributes ??= new Map()
      if (!attributes.has(name)) attributes.set(name, value)
    },
    opened: (selfClosing: boolean) => {
      closeImplied()
      const read = attributes ?? none
      enter({ tag, attributes: read, children: [], unseen: isUnseen(tag, read) }, selfClosing)
    },
    close: (name: string) => {
      const at = innermost([name], Tags.partsOfTables.has(name) ? nothing : Tags.walls)
      if (at !== -1) closeFrom(at)
    }
  }
}

const none: ReadonlyMap<string, string> = new Map()
const nothing: ReadonlySet<string> = new Set()
/** In these, `/>` is an end. */
const foreign: ReadonlyArray<string> = ["svg", "math"]

const isUnseen = (tag: string, attributes: ReadonlyMap<string, string>): boolean =>
  Tags.dropped.has(tag) ||
  (attributes.size > 0 &&
    ((tag !== "input" && attributes.has("hidden")) ||
      attributes.get("aria-hidden")?.trim().toLowerCase() === "true" ||
      /(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)/i.test(attributes.get("style") ?? "")))

const kept: ReadonlySet<string> = new Set(
  (
    "action alt aria-hidden aria-label checked data disabled hidden href method name placeholder required selected src style title " +
    "type value"
  ).split(" ")
)

const character = (codePoint: number): string =>
  codePoint > 0 && codePoint <= 0x10_ff_ff ? String.fromCodePoint(codePoint).toWellFormed() : "\uFFFD"
