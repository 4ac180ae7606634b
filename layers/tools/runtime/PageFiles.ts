/** The pages of the package, read at once: they are few and small, and are there as long as the package is. */
import * as Effect from "effect/Effect"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { DocsUnavailable } from "../../../src/tools/runtime/ReadDocs.ts"

export interface PageFile {
  /** Its path below the folder, with slashes and without its ending. */
  readonly name: string
  readonly text: string
}

/** Every Markdown file below the folder, by name. Fails where there is none. */
export const read = (folder: string): Effect.Effect<ReadonlyArray<PageFile>, DocsUnavailable> =>
  Effect.filterOrFail(
    Effect.try({ try: () => readAll(folder), catch: () => new DocsUnavailable() }),
    (files) => files.length > 0,
    () => new DocsUnavailable()
  )

const readAll = (folder: string): ReadonlyArray<PageFile> =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".md"))
    .toSorted()
    .map((path) => ({
      name: path.slice(0, -3).replaceAll("\\", "/"),
      text: readFileSync(join(folder, path), "utf8")
    }))
