/** Writes the reference part of docs/tools.md from the tools' definitions. A test holds the page to them. */
import { readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { intoPage } from "../layers/tools/Describe.ts"

const page = fileURLToPath(new URL("../docs/tools.md", import.meta.url))

writeFileSync(page, intoPage(readFileSync(page, "utf8")))
