/**
 * The compiler refuses what the tool type forbids.
 *
 * Each file beside this one breaks a rule on the lines after `@ts-expect-error`; an `instead:` comment follows with the
 * line that keeps the rule. Every broken line is compiled here alone: with all the others corrected, there is an error on
 * that line and no other; with it corrected too, there is none.
 */
import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import ts from "typescript"

const here = import.meta.dirname
const mark = /^\s*\/\/ @ts-expect-error/
const remedy = /^\s*\/\/ instead: (.*)$/

interface Variant {
  readonly title: string
  readonly path: string
  readonly text: string
  /** The one line that must be refused, from 0; absent for a variant that must compile. */
  readonly refused: number | undefined
}

/** The text with every marked line corrected, but for the one that stays broken. */
const variantText = (text: string, broken: number | undefined): string => {
  const lines = text.split("\n")
  return lines
    .map((line, at) => {
      if (mark.test(line)) return ""
      if (remedy.test(line)) return ""
      if (at === broken || at === 0 || !mark.test(lines[at - 1] ?? "")) return line
      return remedy.exec(lines[at + 1] ?? "")?.[1] ?? assert.fail(`no correction for line ${at + 1}`)
    })
    .join("\n")
}

const variantsOf = (file: string, text: string): ReadonlyArray<Variant> => {
  const lines = text.split("\n")
  const variant = (title: string, name: string, refused: number | undefined): Variant => ({
    title,
    path: join(here, `${file.replace(/\.ts$/, "")}.${name}.ts`),
    text: variantText(text, refused),
    refused
  })
  const broken = lines.flatMap((line, at) =>
    mark.test(line) ? [variant(`${file}:${at + 2} ${line.trim().slice(20)}`, `line${at + 1}`, at + 1)] : []
  )
  return broken.length === 0 ? [] : [...broken, variant(`${file} corrected`, "corrected", undefined)]
}

/** Compiles all variants as modules beside this file, in one program. Gives the lines with errors, by path. */
const compile = (variants: ReadonlyArray<Variant>): ReadonlyMap<string, ReadonlyArray<number>> => {
  const config = ts.readConfigFile(join(here, "../../tsconfig.json"), ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent(config.config, ts.sys, join(here, "../.."))
  const settings = { ...options, incremental: false, noEmit: true, noUnusedLocals: false }
  Reflect.deleteProperty(settings, "tsBuildInfoFile")
  const host = ts.createCompilerHost(settings)
  const texts = new Map(variants.map((variant) => [variant.path, variant.text] as const))
  const { fileExists, getSourceFile, readFile } = host
  host.fileExists = (path) => texts.has(path) || fileExists(path)
  host.readFile = (path) => texts.get(path) ?? readFile(path)
  host.getSourceFile = (path, version, ...rest) => {
    const text = texts.get(path)
    return text === undefined ? getSourceFile(path, version, ...rest) : ts.createSourceFile(path, text, version)
  }
  const program = ts.createProgram([...texts.keys()], settings, host)
  return new Map(
    [...texts.keys()].map((path) => {
      const source = program.getSourceFile(path)
      const found = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)]
      return [path, found.map(({ start }) => source?.getLineAndCharacterOfPosition(start ?? 0).line ?? -1)] as const
    })
  )
}

const verdict = (variant: Variant, errors: ReadonlyArray<number>): string => {
  if (variant.refused === undefined)
    return errors.length === 0 ? "sound" : `refused at lines ${errors.map((at) => at + 1)}`
  if (errors.length === 0) return "accepted"
  return errors.every((at) => at === variant.refused) ? "refused" : `refused at lines ${errors.map((at) => at + 1)}`
}

describe("the compiler", () => {
  const files = readdirSync(here).filter((file) => /^[A-Z]\w*\.ts$/.test(file))
  const variants = files.flatMap((file) => variantsOf(file, readFileSync(join(here, file), "utf8")))
  // Programs about which this check itself would have to speak up.
  const start = 'import { Interruptible } from "./Given.ts"\n'
  const harmless = variantsOf(
    "Harmless.ts",
    `${start}// @ts-expect-error\nexport const a = Interruptible\n// instead: 1`
  )
  const elsewhere = variantsOf(
    "Elsewhere.ts",
    `${start}// @ts-expect-error\nexport const a: 1 = Interruptible\n// instead: export const a = 1\nexport const b: 2 = 3`
  )
  let errors: ReadonlyMap<string, ReadonlyArray<number>> = new Map()
  const verdicts = (some: ReadonlyArray<Variant>) =>
    some.map((variant) => verdict(variant, errors.get(variant.path) ?? []))

  it("finds the programs", () => {
    assert.strictEqual(dirname(join(here, "x")), here)
    assert.isAtLeast(variants.length, 20)
    errors = compile([...variants, ...harmless, ...elsewhere])
  }, 120_000)

  it("would notice a rule that is not kept, and an error elsewhere", () => {
    assert.deepStrictEqual(verdicts(harmless), ["accepted", "sound"])
    assert.deepStrictEqual(verdicts(elsewhere), ["refused at lines 3,5", "refused at lines 5"])
  })

  for (const variant of variants) {
    it(`${variant.refused === undefined ? "accepts" : "refuses"} ${variant.title}`, () => {
      assert.deepStrictEqual(verdicts([variant]), [variant.refused === undefined ? "sound" : "refused"])
    })
  }
})
