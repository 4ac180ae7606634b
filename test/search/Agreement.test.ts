/** Both engines find the same in trees that nobody thought of, and what a plain look at each line finds. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Needs from "../rigs/Needs.ts"
import * as Searching from "./Searching.ts"

const name = Schema.Literals(["a", "b c", "é", ".h", "d.txt", "node_modules"])
const Tree = Schema.Array(
  Schema.Struct({
    path: Schema.Array(name).check(Schema.isMinLength(1), Schema.isMaxLength(4)),
    lines: Schema.Array(
      Schema.Literals(["", "foo", "  Foo bar", "fóo foo", "bar\r", "x".repeat(900), "\tfoo\u{1F600}"])
    ),
    end: Schema.Literals(["\n", ""])
  })
).check(Schema.isMaxLength(12))

const Asked = Schema.Struct({
  ignoreCase: Schema.Boolean,
  hidden: Schema.Boolean,
  before: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 3 })),
  after: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 3 }))
})

const samples = Arbitrary.sampleEffect(Arbitrary.schema(Schema.Struct({ tree: Tree, asked: Asked })), {
  count: 40,
  seed: 20_261_130
})

/** `path:line` of each line that holds the word. */
const plain = (
  files: ReadonlyMap<string, string>,
  { hidden, ignoreCase }: typeof Asked.Type
): ReadonlyArray<string> => {
  const fold = (text: string) => (ignoreCase ? text.toLowerCase() : text)
  return Array.from(files)
    .filter(([path]) => hidden || !/(^|\/)\./.test(path))
    .flatMap(([path, content]) =>
      content.split("\n").flatMap((line, at) => (fold(line).includes("foo") ? [`${path}:${at + 1}`] : []))
    )
    .toSorted()
}

describe.skipIf(Needs.ripgrep.missing)(Needs.titled(Needs.ripgrep, "engines"), () => {
  it.live(
    "agree",
    () =>
      Effect.gen(function* () {
        for (const { asked, tree } of yield* Effect.orDie(samples)) {
          const native = yield* Searching.start({ engine: "native" })
          const wasm = yield* Searching.start({ engine: "wasm" })
          const files = new Map<string, string>()
          for (const { end, lines, path } of tree) {
            const at = path.join("/")
            // A file is no folder, and a folder no file.
            const isTaken = Array.from(files.keys()).some((one) => one.startsWith(`${at}/`) || at.startsWith(`${one}/`))
            if (!isTaken) files.set(at, lines.join("\n") + (lines.length > 0 ? end : ""))
          }
          for (const [at, content] of files) for (const zoo of [native, wasm]) zoo.put(at, content)
          const request = { pattern: "foo", fixed: true, maxMatches: 1000, ...asked }
          const [one, other] = yield* Effect.all([native.search(request), wasm.search(request)], { concurrency: 2 })
          const shown = ({ matches }: typeof one) =>
            matches.map(({ place, ...rest }) => ({ ...rest, path: place.relative }))
          assert.deepStrictEqual(shown(one), shown(other))
          assert.deepStrictEqual(
            one.matches.map(({ line, place }) => `${place.relative}:${line}`).toSorted(),
            plain(files, asked)
          )
          assert.strictEqual(
            other.scanned,
            Array.from(files.keys()).filter((at) => asked.hidden || !/(^|\/)\./.test(at)).length
          )
        }
      }).pipe(Effect.scoped),
    120_000
  )
})
