/**
 * `npm run arrows`: which folder may import what. The rules are the two tables below; the rest reads imports.
 *
 * 1. `arrows`: direct imports, types included. src ← layers, src ← extensions, and nothing else.
 * 2. `lightEntries`: what an entry may reach over any number of imports that load at start (neither `import type` nor
 *    `import()`), so that a client does not pay for a server.
 */
import { existsSync, globSync, readFileSync } from "node:fs"
import { dirname, join, posix } from "node:path"
import { fileURLToPath } from "node:url"
import ts from "typescript"

/** Imports are compared as paths from the root for files of ours (`src/thread/Threads.ts`), else as written. */
interface Arrow {
  readonly from: RegExp
  readonly allows: ReadonlyArray<RegExp>
  readonly says: string
}

interface LightEntry {
  readonly from: RegExp
  readonly mayNotReach: ReadonlyArray<RegExp>
  readonly says: string
}

const packageJson = /^package\.json$/
const library = /^(?!\.|\/|src\/|layers\/|extensions\/|test\/|docs\/|troupe$|troupe\/)/

export const arrows: ReadonlyArray<Arrow> = [
  {
    from: /^src\//,
    allows: [/^src\//, /^effect\//],
    says: "src holds contracts: it imports src and effect/* only"
  },
  {
    from: /^layers\//,
    allows: [/^src\//, /^layers\//, packageJson, library],
    says: "layers import src, layers and libraries"
  },
  {
    from: /^extensions\/[^/]+\//,
    allows: [/^src\/index\.ts$/, /^src\/extension\/index\.ts$/, /^troupe$/, /^troupe\/extension$/, /^\.\//, library],
    says: "an extension imports the public entries of src (src/index.ts, src/extension/index.ts), its own files and libraries, never layers"
  },
  {
    from: /^docs\//,
    allows: [/^troupe(\/|$)/, /^docs\//, library],
    says: "an example imports what its reader can: the package's public entries and libraries"
  }
]

const server = [
  /^layers\/(storage|model|conversation|turn|thread|task|tool|tools|spill|approval|house|vault|memory|skill)\//,
  /^layers\/index\.ts$/,
  /^effect\/(sql|cluster|workflow|persistence)(\/|$)/,
  /^effect\/http\/HttpServer\w*$/,
  /^effect\/rpc\/RpcServer$/,
  /^@effect\/platform-node\/NodeHttpServer\w*$/,
  /^(openai|node:sqlite)(\/|$)/
]

export const lightEntries: ReadonlyArray<LightEntry> = [
  {
    from: /^src\/client\//,
    mayNotReach: [...server, /^layers\//, /^@effect\/platform-/, /^node:/],
    says: "troupe/client is light: no server code in its import graph"
  },
  {
    from: /^layers\/cli\/main\.ts$/,
    mayNotReach: server,
    says: "the program loads the server only for the commands that run one: reach it through import()"
  }
]

/** One import: what it names, and whether it loads when the file loads. */
export interface Import {
  readonly target: string
  readonly loads: boolean
}

/** The imports of the files of a repository, by path from its root. */
export type Graph = ReadonlyMap<string, ReadonlyArray<Import>>

/** Every broken rule as one line: `file: rule (the import)`. */
export const violations = (graph: Graph): ReadonlyArray<string> => [
  ...[...graph].flatMap(([file, imports]) => wrongArrows(file, imports)),
  ...[...graph.keys()].flatMap((file) => heavyPaths(graph, file))
]

/** The imports of one file; a relative one becomes the path from the root, whether it exists or not. */
export function importsOf(file: string, text: string): ReadonlyArray<Import> {
  const found: Array<Import> = []
  const add = (specifier: ts.Node | undefined, loads: boolean) => {
    if (specifier !== undefined && ts.isStringLiteralLike(specifier)) {
      found.push({ target: resolve(file, specifier.text), loads })
    }
  }
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) add(node.moduleSpecifier, node.importClause?.isTypeOnly !== true)
    else if (ts.isExportDeclaration(node)) add(node.moduleSpecifier, !node.isTypeOnly)
    else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) add(node.argument.literal, false)
    else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      add(node.arguments[0], false)
    }
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.ESNext, false))
  return found
}

function wrongArrows(file: string, imports: ReadonlyArray<Import>): ReadonlyArray<string> {
  const arrow = arrows.find((candidate) => candidate.from.test(file))
  if (arrow === undefined) return []
  const own = /^extensions\/[^/]+\//.exec(file)?.[0]
  return imports
    .filter(({ target }) => !arrow.allows.some((allowed) => allowed.test(target)))
    .filter(({ target }) => own === undefined || !target.startsWith(own))
    .map(({ target }) => `${file}: ${arrow.says} (imports ${target})`)
}

/** The shortest way from a light entry to each thing it may not reach. */
function heavyPaths(graph: Graph, file: string): ReadonlyArray<string> {
  const entry = lightEntries.find((candidate) => candidate.from.test(file))
  if (entry === undefined) return []
  const broken: Array<string> = []
  const seen = new Set([file])
  const queue: Array<ReadonlyArray<string>> = [[file]]
  for (let path = queue.shift(); path !== undefined; path = queue.shift()) {
    for (const { target, loads } of graph.get(path.at(-1) ?? "") ?? []) {
      if (!loads || seen.has(target)) continue
      seen.add(target)
      const longer = [...path, target]
      if (entry.mayNotReach.some((heavy) => heavy.test(target))) {
        broken.push(`${file}: ${entry.says} (${longer.join(" → ")})`)
      } else queue.push(longer)
    }
  }
  return broken
}

function resolve(file: string, specifier: string): string {
  return specifier.startsWith(".") ? posix.join(posix.dirname(file), specifier) : specifier
}

/** Reads the files that have rules. */
export function readGraph(root: string): Graph {
  const files = ["src", "layers", "extensions", "docs"]
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) => globSync(`${folder}/**/*.{ts,js,mts,mjs}`, { cwd: root }))
    .map((file) => file.replaceAll("\\", "/"))
  return new Map(files.toSorted().map((file) => [file, importsOf(file, readFileSync(join(root, file), "utf8"))]))
}

if (import.meta.main) {
  const graph = readGraph(join(dirname(fileURLToPath(import.meta.url)), ".."))
  const broken = violations(graph)
  for (const line of broken) console.error(line)
  console.log(`${graph.size} files, ${broken.length} wrong imports`)
  process.exitCode = broken.length === 0 ? 0 : 1
}
