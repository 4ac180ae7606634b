/** A short soak run, and proof that it would find a leak. The long one is `npm run test:soak`. */
import { assert, describe, it } from "@effect/vitest"
import * as Slope from "./Slope.ts"
import * as Soak from "./Soak.ts"

const work = { turns: 300, threads: 40, samples: 8, parallel: 32, passivated: false, leak: false }

/** A young process still grows by itself; results that are kept would be more. */
const bounds: Soak.Bounds = {
  heapBytes: 25_000,
  externalBytes: 25_000,
  // A pool of connections is as large as it was needed, so these move by some twenty; one that is left by each turn is 1.
  descriptors: 0.3,
  fibers: 0.3,
  timers: 0.3,
  databaseBytes: 12_000
}

const grown = (growth: ReadonlyArray<Soak.Growth>) => Soak.tooMuch(growth).map(({ series }) => series)

describe("F101: many turns in many threads", { timeout: 120_000 }, () => {
  it("leave nothing behind in memory", async () => {
    const { growth, samples } = await Soak.run(work, bounds)
    assert.strictEqual(samples.length, work.samples)
    assert.deepStrictEqual(grown(growth), [], JSON.stringify(Soak.tooMuch(growth)))
  })

  it("are found out when they leave their results", async () => {
    const { growth } = await Soak.run({ ...work, turns: 200, leak: true }, bounds)
    assert.include(grown(growth), "heapBytes")
  })
})

describe("a slope", () => {
  const series = (value: (turns: number) => number) =>
    Array.from({ length: 20 }, (_, index) => ({ turns: index * 100, value: value(index * 100) }))

  it("is what is added with each turn, whatever single samples do", () => {
    assert.strictEqual(Slope.slope(series((turns) => 5 + turns * 3)), 3)
    assert.strictEqual(Slope.slope(series(() => 7)), 0)
    assert.strictEqual(Slope.slope(series((turns) => (turns === 900 ? 1e9 : turns * 2))), 2)
  })

  it("is measured after the beginning", () =>
    assert.strictEqual(Slope.slope(Slope.warm(series((turns) => Math.min(turns, 400)))), 0))
})
