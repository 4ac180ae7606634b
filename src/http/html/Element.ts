/** What is kept of a page: the elements that can be seen, and of their attributes those that say what they are for. */
export interface Element {
  /** In lower case. */
  readonly tag: string
  readonly attributes: ReadonlyMap<string, string>
  readonly children: ReadonlyArray<Node>
}

/** Text as it stands in the page, its character references read. */
export type Node = Element | string

/** How deep elements lie inside each other at most: what is deeper lies beside its parent. */
export const deepest = 256
