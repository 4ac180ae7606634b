/**
 * `npm run docs:config`: writes config.example.toml and the tables of docs/configuration.md from the settings schema.
 * A test holds both files to the schema.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { exampleFile, intoPage } from "../layers/config/Describe.ts"

const root = fileURLToPath(new URL("..", import.meta.url))
const page = join(root, "docs/configuration.md")

writeFileSync(join(root, "config.example.toml"), exampleFile())
writeFileSync(page, intoPage(readFileSync(page, "utf8")))
