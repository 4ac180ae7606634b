/** Real pages: those that a package ships to show its parts, with tables, forms, navigation and much nesting. */
import { globSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

export interface Page {
  readonly name: string
  readonly html: string
}

const folder = join(dirname(fileURLToPath(import.meta.resolve("uikit/package.json"))), "tests")

export const pages: ReadonlyArray<Page> = globSync("*.html", { cwd: folder })
  .toSorted()
  .map((name) => ({ name, html: readFileSync(join(folder, name), "utf8") }))
