/** How soon a daemon that was killed while it owed a thousand threads an answer works on them again. */
import * as Recovery from "../crash/Recovery.ts"
import * as Installed from "./Installed.ts"
import type { Measurement } from "./Report.ts"

const threads = 1_000

/** As many turns at once as there are by default, and one for every thread. */
const debts: ReadonlyArray<{ readonly debt: Recovery.Debt; readonly target?: number }> = [
  { debt: { threads, turns: 64 }, target: 2_000 },
  { debt: { threads, turns: threads } }
]

export const measure = (): Promise<ReadonlyArray<Measurement>> =>
  Installed.using(async (program) => {
    const measured: Array<Measurement> = []
    for (const { debt, target } of debts) {
      const { processor, ready, resumed } = await Recovery.run(program, debt)
      const about = `${debt.threads} threads owed, ${debt.turns} turns under way`
      measured.push(
        { name: `ready, ${about}`, value: ready, unit: "ms", note: "from process start, the bundle" },
        {
          name: `recovered, ${about}`,
          value: resumed,
          unit: "ms",
          note: "until the last turn is taken up",
          ...(target === undefined ? {} : { target })
        },
        { name: `processor time, ${about}`, value: processor, unit: "ms" }
      )
    }
    return measured
  })
