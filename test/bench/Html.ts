/** How fast pages become compact text: real ones, and one that was made to take long. */
import * as Html from "../../layers/http/Html.ts"
import * as Compact from "../../src/http/html/Compact.ts"
import { pages } from "../http/html/Pages.ts"
import * as Report from "./Report.ts"

const runs = 15

export const measure = async (): Promise<ReadonlyArray<Report.Measurement>> => {
  const real = pages.map(({ html }) => html).join("\n")
  const nested = "<ul><li>x".repeat(200_000)
  const [compact, ratio] = timed(real)
  const [worst] = timed(nested)
  return [
    {
      name: "HTML to compact text",
      value: compact,
      unit: "MB/s",
      target: 2,
      better: "higher",
      note: `${pages.length} pages of ${megabytes(real).toFixed(1)} MB, to ${(ratio * 100).toFixed(0)} % of their length`
    },
    { name: "HTML nested without end", value: worst, unit: "MB/s", target: 0.5, better: "higher" }
  ]
}

const megabytes = (text: string): number => Buffer.byteLength(text) / 1e6

/** Megabytes in a second, in the middle of many runs, and how much is left of the text. */
const timed = (html: string): readonly [speed: number, ratio: number] => {
  let length = 0
  const seconds = Array.from({ length: runs }, () => {
    const began = performance.now()
    length = Compact.render(Html.parse(html), 2_000_000).length
    return (performance.now() - began) / 1000
  })
  return [megabytes(html) / Report.median(seconds), length / html.length]
}
