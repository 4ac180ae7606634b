import * as Effect from "effect/Effect"
import { Settings } from "../../../src/config/Settings.ts"
import * as ToolRegistry from "../../../src/tool/ToolRegistry.ts"
import * as DocSearch from "../../../src/tools/runtime/DocSearch.ts"
import { PageNotFound, pageChars, ReadDocs, skill } from "../../../src/tools/runtime/ReadDocs.ts"
import * as Describe from "../../config/Describe.ts"
import { packageRoot } from "../../config/PackageRoot.ts"
import * as PageFiles from "./PageFiles.ts"

/** The tool over the pages in this folder. */
export const layerAt = (folder: string) =>
  ToolRegistry.layer(
    [ReadDocs],
    {
      read_docs: Effect.fnUntraced(function* ({ page, query }) {
        const pages = yield* load(folder)
        if (page !== undefined && page.trim() !== "") return yield* readPage(pages, page.trim())
        if (query !== undefined && query.trim() !== "") {
          return { query: query.trim(), results: DocSearch.search(pages.values(), query) }
        }
        return { pages: Array.from(pages.values(), ({ page, title }) => ({ page, title })) }
      })
    },
    {
      offeredWhen: Settings.useSync(
        ({ tools: { skills } }) =>
          () =>
            skills.native && !skills.native_disabled.includes(skill)
      )
    }
  )

/** The tool over the pages of this package. */
export const layer = layerAt(`${packageRoot}docs`)

const readPage = (pages: ReadonlyMap<string, DocSearch.Page>, name: string) => {
  const found = pages.get(name)
  if (found === undefined) return new PageNotFound({ pages: Array.from(pages.keys()) })
  const { page, text, title } = found
  const content = text.slice(0, pageChars).toWellFormed()
  return Effect.succeed({ page, title, content, truncated: text.length > pageChars })
}

/** All pages: a name is looked up among those that are there and never made into a path. */
const load = (folder: string) =>
  Effect.map(PageFiles.read(folder), (files) => {
    const pages = [...files.map(pageOf), ...sections()]
    return new Map(pages.map((page) => [page.page, page] as const))
  })

const pageOf = ({ name, text: whole }: PageFiles.PageFile): DocSearch.Page => {
  const text = name === settings ? Describe.withoutTables(whole, whereTablesAre) : whole
  return { page: name, title: /^# (.+)$/m.exec(text)?.[1] ?? name, text }
}

/** The page that holds all sections of the settings: each of them is a page of its own here. */
const settings = "configuration"

const whereTablesAre = `Each section is a page of its own, named after it: for example \`${settings}/llm\`.`

const sections = (): ReadonlyArray<DocSearch.Page> =>
  Describe.sections().map(({ name, text }) => ({ page: `${settings}/${name}`, title: `[${name}]`, text }))
