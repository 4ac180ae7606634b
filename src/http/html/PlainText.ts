/** A page as the text that is in it: what begins a line in a browser begins one here. */
import type { Element, Node } from "./Element.ts"
import * as Tags from "./Tags.ts"

export const render = (page: Element): string => {
  const out: Array<string> = []
  const take = (node: Node, keepsLines: boolean): void => {
    if (typeof node === "string") return void out.push(keepsLines ? node : node.replace(/\s+/g, " "))
    const breaks = Tags.breaking.has(node.tag)
    if (breaks) out.push("\n")
    if (node.tag === "td" || node.tag === "th") out.push(" ")
    for (const child of node.children) take(child, keepsLines || node.tag === "pre")
    if (breaks) out.push("\n")
  }
  take(page, false)
  return out.join("").trim()
}
