/** What holds for every file and every patch. */
import { assert, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { patch, plan } from "./Helpers.ts"

/** Few, so that they repeat, alike, and like the words of the format. */
const Text = Schema.Literals([
  "",
  "a",
  "a",
  "b",
  " a",
  "a ",
  "\ta",
  "\u201ca\u201d",
  '"a"',
  "\u00e9",
  "-a",
  "+a",
  " ",
  "@@",
  "*** End Patch",
  "c\rd"
])

const Line = Schema.Struct({ text: Text, pair: Schema.Boolean })

/** A stretch of a file: lines that stay, and then lines that go and lines that come. */
const Stretch = Arbitrary.all({
  keep: Arbitrary.array(Arbitrary.schema(Line), { minLength: 2, maxLength: 8 }),
  remove: Arbitrary.array(Arbitrary.schema(Line), { maxLength: 3 }),
  add: Arbitrary.array(Arbitrary.schema(Text), { maxLength: 3 })
})

type Stretch = typeof Stretch extends Arbitrary.Arbitrary<infer A> ? A : never

const File = Schema.Struct({ mark: Schema.Boolean, pairs: Schema.Boolean, ended: Schema.Boolean })

const given = {
  file: Arbitrary.schema(File),
  stretches: Arbitrary.array(Stretch, { minLength: 1, maxLength: 5 }),
  rest: Arbitrary.array(Arbitrary.schema(Line), { minLength: 2, maxLength: 4 })
}

interface Given {
  readonly file: typeof File.Type
  readonly stretches: ReadonlyArray<Stretch>
  readonly rest: ReadonlyArray<typeof Line.Type>
}

/** The file with the endings that `pairs` says, or those of its lines. */
const before = ({ file, rest, stretches }: Given, mixed: boolean): string => {
  const lines = [...stretches.flatMap(({ keep, remove }) => [...keep, ...remove]), ...rest]
  const body = lines.map(({ pair, text }) => text + ((mixed ? pair : file.pairs) ? "\r\n" : "\n")).join("")
  const whole = (file.mark ? "\ufeff" : "") + body
  return file.ended ? whole : whole.replace(/\r?\n$/, "")
}

/** A patch with a line around each change, and the one that takes it back. */
const patches = ({ rest, stretches }: Given): readonly [string, string] => {
  const forth: Array<string> = []
  const back: Array<string> = []
  let [old, now] = [0, 0]
  for (const [at, { add, keep, remove }] of stretches.entries()) {
    const next = stretches[at + 1]?.keep ?? rest
    const around = [keep.at(-1)?.text ?? "", next[0]?.text ?? ""] as const
    const range = (start: number, lines: number) => `${start + keep.length},${lines + 2}`
    const lines = (gone: ReadonlyArray<string>, come: ReadonlyArray<string>) => [
      ` ${around[0]}`,
      ...gone.map((text) => `-${text}`),
      ...come.map((text) => `+${text}`),
      ` ${around[1]}`
    ]
    const gone = remove.map(({ text }) => text)
    forth.push(`@@ -${range(old, remove.length)} +${range(now, add.length)} @@`, ...lines(gone, add))
    back.push(`@@ -${range(now, add.length)} +${range(old, remove.length)} @@`, ...lines(add, gone))
    old += keep.length + remove.length
    now += keep.length + add.length
  }
  return [patch("*** Update File: f", ...forth), patch("*** Update File: f", ...back)]
}

const applied = (text: string, content: Uint8Array | string): Uint8Array | string => {
  const result = plan(text, { f: content })
  if (Result.isSuccess(result)) return result.success.changes[0]?.after ?? assert.fail("it is gone")
  return result.failure.reason === "no_change" ? content : assert.fail(result.failure.message)
}

const textOf = (content: Uint8Array | string): string =>
  typeof content === "string" ? content : new TextDecoder("utf-8", { ignoreBOM: true }).decode(content)

it.prop(
  "a patch and then the one that takes it back leave the file as it was",
  given,
  (story) => {
    const content = before(story, false)
    const [forth, back] = patches(story)
    assert.strictEqual(textOf(applied(back, applied(forth, content))), content)
  },
  { arbitrary: { runs: 400 } }
)

it.prop(
  "F111 no line outside of its hunks is changed, whatever endings the file has",
  given,
  (story) => {
    const [forth] = patches(story)
    const lines = textOf(applied(forth, before(story, true))).split(/(?<=\n)/)
    let at = 0
    const stays = (kept: ReadonlyArray<typeof Line.Type>, isLast: boolean) => {
      for (const [index, { pair, text }] of kept.entries()) {
        const start = at === 0 && story.file.mark ? "\ufeff" : ""
        const ending = isLast && index === kept.length - 1 && !story.file.ended ? "" : pair ? "\r\n" : "\n"
        assert.strictEqual(lines[at] ?? "", start + text + ending)
        at++
      }
    }
    for (const { add, keep } of story.stretches) {
      stays(keep, false)
      assert.deepStrictEqual(
        lines.slice(at, at + add.length).map((line) => line.replace(/\r?\n$/, "")),
        add
      )
      at += add.length
    }
    stays(story.rest, true)
  },
  { arbitrary: { runs: 400 } }
)
