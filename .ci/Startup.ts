/** What makes the program's bundle start sooner. */
import type { Plugin } from "rolldown"

/**
 * Modules of Node are asked for with `process.getBuiltinModule` instead of imported. An import reads every export of a
 * module, and some of those load much more when they are read: `node:http` alone brings the whole of `fetch`, which takes
 * longer than all else that a client command does.
 */
export const builtins: Plugin = { name: "builtins", renderChunk: (code) => withoutImports(code) }

/** Text that is ASCII alone is held in half the memory and needs no decoding. */
export const ascii: Plugin = {
  name: "ascii",
  generateBundle(_, bundle) {
    for (const file of Object.values(bundle)) if (file.type === "chunk") file.code = escaped(file.code)
  }
}

export const escaped = (code: string): string =>
  // By code unit: an escaped pair means the same in strings, and in expressions with and without the flag for Unicode.
  code.replaceAll(/[\u0080-\uFFFF]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)

export const withoutImports = (code: string): string =>
  code.replaceAll(/^import (?:(.+?) from )?"(node:[^"]+)";$/gm, (_, what: string | undefined, name: string) => {
    const [, whole, named] = /^(?:(?:\* as )?([\w$]+))?(?:, )?(?:\{ (.+) \})?$/.exec(what ?? "") ?? []
    if (whole === undefined && named === undefined) throw new Error(`An import of no known form: ${what} from ${name}`)
    const module = `process.getBuiltinModule("${name}")`
    const own = whole === undefined ? [] : [`${whole} = ${module}`]
    const parts = named === undefined ? [] : [`{ ${named.replaceAll(" as ", ": ")} } = ${whole ?? module}`]
    return `const ${[...own, ...parts].join(", ")};`
  })
