/** What the elements of HTML are, as far as reading a page needs it. */

const names = (list: string): ReadonlySet<string> => new Set(list.split(" "))

/** Nothing of them is for readers. */
export const dropped = names("script style noscript template svg math canvas iframe meta link base")

/** They have no content and no end. */
export const empty = names("area base br col embed hr img input link meta param source track wbr")

/** They say how their content looks, within a line. */
export const inline = names(
  "abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark nobr q rp rt ruby s samp slot small span strike " +
    "strong sub sup time tt u var wbr"
)

/** They group their content, and what is in one of them begins on a line of its own. */
export const grouping = names(
  "html head body div figure fieldset dl tbody thead tfoot center hgroup picture colgroup col map noframes noembed address"
)

/** They mean something without any text in them. */
export const telling = names(
  "a area audio button embed form img input object option select source td textarea th track video"
)

/** A start of one of these ends an open element of `ends`, unless one of `within` is between them. */
export interface Implied {
  readonly ends: ReadonlyArray<string>
  readonly within: ReadonlySet<string>
}

const cells = ["td", "th"]
const rows = ["tr", "td", "th"]
const sections = ["tbody", "thead", "tfoot", "tr", "td", "th", "caption", "colgroup"]
const tables = names("table")
const paragraph: Implied = { ends: ["p"], within: names("button caption td th table object") }

export const implied: ReadonlyMap<string, Implied> = new Map<string, Implied>([
  ["li", { ends: ["li"], within: names("ul ol menu") }],
  ["dt", { ends: ["dt", "dd"], within: names("dl") }],
  ["dd", { ends: ["dt", "dd"], within: names("dl") }],
  ["option", { ends: ["option"], within: names("select datalist") }],
  ["optgroup", { ends: ["option", "optgroup"], within: names("select") }],
  ["td", { ends: cells, within: names("tr table") }],
  ["th", { ends: cells, within: names("tr table") }],
  ["tr", { ends: rows, within: names("table tbody thead tfoot") }],
  ["tbody", { ends: sections, within: tables }],
  ["thead", { ends: sections, within: tables }],
  ["tfoot", { ends: sections, within: tables }],
  ["a", { ends: ["a"], within: names("td th caption table button") }],
  ["body", { ends: ["head"], within: names("body") }],
  ...Array.from(
    names(
      "address article aside blockquote center details dialog dir div dl fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 " +
        "header hgroup hr main menu nav ol p pre search section summary table ul"
    ),
    (tag) => [tag, paragraph] as const
  )
])

/** An end of another element that is outside of one of these does not end it. */
export const walls = names("td th caption table")
export const partsOfTables = names("table caption tbody thead tfoot tr td th")

/** Their content begins and ends on lines of its own, in plain text. */
export const breaking = names(
  "address article aside blockquote br caption center dd details dialog div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 " +
    "h5 h6 header hr legend li main menu nav ol option p pre section summary table tbody tfoot thead title tr ul"
)
