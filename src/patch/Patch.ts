/** What a patch says, as data: files to add, to delete and to update, and where in a file which lines change. */

/** A change of one file. `line` of the patch text, from 1, where the section begins. */
export type Section = AddFile | DeleteFile | UpdateFile

export interface AddFile {
  readonly _tag: "Add"
  readonly line: number
  readonly path: string
  readonly lines: ReadonlyArray<string>
}

export interface DeleteFile {
  readonly _tag: "Delete"
  readonly line: number
  readonly path: string
}

export interface UpdateFile {
  readonly _tag: "Update"
  readonly line: number
  readonly path: string
  /** Where the file goes; absent when it stays. */
  readonly moveTo?: string
  readonly hunks: ReadonlyArray<Hunk>
}

/** Lines that change together. `line` of the patch text where its header, or without one its first line, is. */
export interface Hunk {
  readonly line: number
  /** From `@@ <line>` headers, outermost first: lines of the file that stand above the place. */
  readonly anchors: ReadonlyArray<string>
  /** From a header `@@ -a,b +c,d @@`. */
  readonly range?: Range
  readonly lines: ReadonlyArray<HunkLine>
  /** Whether it ends where the file ends. */
  readonly endOfFile: boolean
}

/** `start`: a line number of the file, from 1. `count` of old lines as the header has it; 0 means behind `start`. */
export interface Range {
  readonly start: number
  readonly count: number
}

export interface HunkLine {
  readonly kind: "context" | "removed" | "added"
  readonly text: string
  /** Of the patch text. */
  readonly line: number
}

/** The lines that the file has before the change. */
export const oldLines = (hunk: Hunk): ReadonlyArray<HunkLine> => hunk.lines.filter(({ kind }) => kind !== "added")

/** Every path that a patch names, each once. */
export const pathsOf = (sections: ReadonlyArray<Section>): ReadonlyArray<string> => [
  ...new Set(
    sections.flatMap((section) =>
      section._tag === "Update" && section.moveTo !== undefined ? [section.path, section.moveTo] : [section.path]
    )
  )
]
