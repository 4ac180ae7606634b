/**
 * The lower end of a terminal: what is printed for good scrolls up, and a block of rows below it is drawn again and again.
 *
 * The block's rows are broken by us and never by the terminal, so that it is known how far up to go. After a resize the
 * terminal has broken them anew; how, can be computed from their widths.
 */
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import type * as Terminal from "effect/Terminal"
import * as Width from "../../../src/cli/Width.ts"

export interface Block {
  readonly rows: ReadonlyArray<string>
  /** Where the cursor stands in the block. */
  readonly row: number
  readonly column: number
}

export interface Screen {
  readonly columns: Effect.Effect<number>
  readonly height: Effect.Effect<number>
  /** Prints whole lines for good, then draws the block below them. */
  readonly show: (lines: string, block: Block) => Effect.Effect<void>
  readonly clear: Effect.Effect<void>
}

/** A screen for the current scope; pasted text comes marked as such, and the terminal is left as it was found. */
export const make = Effect.fnUntraced(function* (terminal: Terminal.Terminal) {
  const drawn = yield* Ref.make<Block>(nothing)
  const write = (text: string) => Effect.ignore(terminal.display(text))
  const columns = Effect.map(terminal.columns, (count) => Math.max(10, count === 0 ? 80 : count))
  const height = Effect.map(terminal.rows, (count) => Math.max(4, count === 0 ? 24 : count))

  const show = Effect.fnUntraced(function* (lines: string, block: Block) {
    const before = yield* Ref.getAndSet(drawn, block)
    yield* write(hideCursor + erase(before, yield* columns) + lines.replaceAll("\n", "\r\n") + draw(block) + showCursor)
  })
  const clear = Effect.flatMap(Ref.getAndSet(drawn, nothing), (before) =>
    Effect.flatMap(columns, (count) => write(erase(before, count)))
  )
  yield* Effect.acquireRelease(write("\u001b[?2004h"), () => Effect.andThen(clear, write(`\u001b[?2004l${showCursor}`)))
  return { columns, height, show, clear } satisfies Screen
})

const nothing: Block = { rows: [], row: 0, column: 0 }

const hideCursor = "\u001b[?25l"
const showCursor = "\u001b[?25h"

/** From the cursor up to the first row of the block, and away with all below. */
const erase = (block: Block, columns: number): string => {
  const above = block.rows
    .slice(0, block.row)
    .reduce((sum, row) => sum + Math.max(1, Math.ceil(Width.of(row) / columns)), 0)
  const up = above + Math.floor(block.column / columns)
  return `\r${up > 0 ? `\u001b[${up}A` : ""}\u001b[J`
}

const draw = (block: Block): string => {
  const up = block.rows.length - 1 - block.row
  return `${block.rows.join("\r\n")}${up > 0 ? `\u001b[${up}A` : ""}\r${block.column > 0 ? `\u001b[${block.column}C` : ""}`
}
