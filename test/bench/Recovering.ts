/** How soon a daemon that was killed with a thousand turns under way works on all of them again. */
import * as Recovery from "../crash/Recovery.ts"
import type { Measurement } from "./Report.ts"

export const measure = async (): Promise<ReadonlyArray<Measurement>> => {
  const { ready, resumed, threads } = await Recovery.run(1_000)
  return [
    {
      name: `ready with ${threads} turns under way`,
      value: ready,
      unit: "ms",
      note: "from process start, from the sources"
    },
    {
      name: `${threads} turns resumed`,
      value: resumed,
      unit: "ms",
      target: 2_000,
      note: "from process start to the last one"
    }
  ]
}
