import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as OutputBuffer from "../../src/process/OutputBuffer.ts"
import * as OutputText from "../../src/process/OutputText.ts"

const bytes = (text: string) => new TextEncoder().encode(text)
const joined = ({ head, tail }: OutputBuffer.Captured) => [...head, ...tail]

const Chunks = Schema.Array(Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 }))))
const Size = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 40 }))

it.effect.prop(
  "keeps the first and the last bytes, never more than it may, whatever the pieces",
  { chunks: Chunks, max: Size },
  ({ chunks, max }) =>
    Effect.sync(() => {
      const buffer = OutputBuffer.make(max)
      for (const chunk of chunks) buffer.push(Uint8Array.from(chunk))
      const all = chunks.flat()
      const captured = buffer.captured()
      assert.strictEqual(buffer.total(), all.length)
      assert.strictEqual(OutputBuffer.lengthOf(captured) + captured.omitted, all.length)
      if (all.length <= max) return assert.deepStrictEqual(joined(captured), all)
      assert.deepStrictEqual([...captured.head], all.slice(0, Math.ceil(max / 2)))
      assert.deepStrictEqual([...captured.tail], max < 2 ? [] : all.slice(-Math.floor(max / 2)))
    })
)

it.effect.prop("of each line it keeps the beginning", { chunks: Chunks, max: Size }, ({ chunks, max }) =>
  Effect.sync(() => {
    const buffer = OutputBuffer.make(1_000_000, max)
    // Many newlines, so that lines end.
    const mapped = chunks.map((chunk) => Uint8Array.from(chunk.map((byte) => (byte < 60 ? 10 : byte))))
    for (const chunk of mapped) buffer.push(chunk)
    const lines: Array<Array<number>> = [[]]
    for (const byte of mapped.flatMap((chunk) => [...chunk])) {
      if (byte === 10) lines.push([])
      else lines.at(-1)?.push(byte)
    }
    assert.deepStrictEqual(
      joined(buffer.captured()),
      lines.flatMap((line, index) => [...(index === 0 ? [] : [10]), ...line.slice(0, max)])
    )
  })
)

it.effect.prop("two outputs have the room of one", { out: Size, err: Size, max: Size }, ({ err, max, out }) =>
  Effect.sync(() => {
    const of = (length: number) => ({ head: new Uint8Array(length), tail: new Uint8Array(0), omitted: 0 })
    const { stderr, stdout } = OutputBuffer.share(of(out), of(err), max)
    assert.isAtMost(OutputBuffer.lengthOf(stdout) + OutputBuffer.lengthOf(stderr), max)
    assert.strictEqual(OutputBuffer.lengthOf(stdout) + stdout.omitted, out)
    assert.strictEqual(OutputBuffer.lengthOf(stderr) + stderr.omitted, err)
    // Room is left only when nothing was left out.
    if (stdout.omitted + stderr.omitted > 0) {
      assert.strictEqual(OutputBuffer.lengthOf(stdout) + OutputBuffer.lengthOf(stderr), max)
    }
  })
)

const decoded = (input: Uint8Array, max = 1_000_000) => {
  const buffer = OutputBuffer.make(max)
  buffer.push(input)
  return OutputText.decode(buffer.captured())
}

it("reads what is no UTF-8 with replacement, and UTF-16 as what it is", () => {
  assert.strictEqual(decoded(Uint8Array.from([97, 0xff, 98])), "a\uFFFDb")
  const wide = (text: string) =>
    Uint8Array.from([...text].flatMap((unit) => [unit.charCodeAt(0) & 255, unit.charCodeAt(0) >> 8]))
  assert.strictEqual(decoded(wide("\uFEFFgrüße\r\nzwei\r\n")), "grüße\nzwei\n")
  assert.strictEqual(decoded(wide("plain text")), "plain text")
  assert.strictEqual(decoded(wide("plain text").map((_, index, all) => all[index ^ 1] ?? 0)), "plain text")
})

it("cuts no character in two", () => {
  for (let max = 2; max < 40; max++) {
    const shown = decoded(bytes("äöü€😀".repeat(20)), max)
    assert.notInclude(shown, "\uFFFD", `${max}`)
    const lost = Number(/\[… (\d+) bytes/.exec(shown)?.[1])
    assert.strictEqual(bytes(shown.replace(/\n\[….*\]\n/, "")).length + lost, 13 * 20, `${max}`)
  }
})

it("F044: leaves out what a terminal would do, and control characters", () => {
  assert.strictEqual(
    decoded(bytes("\x1b[31mred\x1b[0m \x1b]0;title\x07\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\ \x1b(B.")),
    "red link ."
  )
  assert.strictEqual(decoded(bytes("a\0b\x07c\td\n")), "a\uFFFDb\uFFFDc\td\n")
  assert.strictEqual(decoded(bytes("10%\r50%\r100%\r\ndone\n")), "100%\ndone\n")
  // A sequence without an end takes its line along, not the rest of the text.
  assert.strictEqual(decoded(bytes("a\x1b]0;never ends\nb")), "a\nb")
})
