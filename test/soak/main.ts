/**
 * The soak run: `npm run test:soak`. Ten thousand turns in five hundred threads, which leave memory between their turns; a third
 * of the turns has a tool result of 100 KB. Whatever then grows with each turn by more than its bound is a leak.
 *
 * `-- --turns 2000 --threads 100` makes it shorter, `-- --leak` shows that a leak is found.
 */
import { parseArgs } from "node:util"
import * as Soak from "./Soak.ts"

const { values } = parseArgs({
  options: {
    turns: { type: "string", default: "10000" },
    threads: { type: "string", default: "500" },
    samples: { type: "string", default: "40" },
    leak: { type: "boolean", default: false }
  }
})

const say = (text: string) => process.stdout.write(`${text}\n`)
const short = (value: number) =>
  Math.abs(value) >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(3)))

const { growth, seconds } = await Soak.run(
  {
    turns: Number(values.turns),
    threads: Number(values.threads),
    samples: Number(values.samples),
    parallel: 32,
    passivated: true,
    leak: values.leak
  },
  Soak.bounds,
  ({ descriptors, fibers, heapBytes, residentBytes, turns }) =>
    say(
      `  ${turns} turns: heap ${(heapBytes / 1e6).toFixed(1)} MB, resident ${(residentBytes / 1e6).toFixed(0)} MB, ` +
        `${descriptors} descriptors, ${fibers} fibers`
    )
)
say(`${values.turns} turns in ${Math.round(seconds)} s. After the warm-up, per turn:`)
for (const { bound, first, last, perTurn, series } of growth) {
  const limit = bound === undefined ? "" : ` (at most ${bound})`
  say(
    `  ${series.padEnd(16)} ${short(first).padStart(12)} -> ${short(last).padStart(12)}  ${short(perTurn).padStart(10)}${limit}`
  )
}
const found = Soak.tooMuch(growth)
say(found.length === 0 ? "Nothing grows." : `It grows: ${found.map(({ series }) => series).join(", ")}`)
process.exitCode = found.length === 0 ? 0 : 1
