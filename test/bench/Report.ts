/** What a benchmark reports, and how it is printed. */

export interface Measurement {
  readonly name: string
  readonly value: number
  readonly unit: string
  /** What the value should be at most (or at least, for a rate); absent while no target is set. */
  readonly target?: number
  readonly better?: "lower" | "higher"
  /** What was measured, in a few words. */
  readonly note?: string
}

export const meetsTarget = ({ better = "lower", target, value }: Measurement): boolean =>
  target === undefined || (better === "lower" ? value <= target : value >= target)

/** One JSON object a line: `name, value, unit, target, ok`. */
export const jsonLine = (measurement: Measurement): string =>
  JSON.stringify({
    name: measurement.name,
    value: round(measurement.value),
    unit: measurement.unit,
    target: measurement.target ?? null,
    ok: meetsTarget(measurement)
  })

export const table = (measurements: ReadonlyArray<Measurement>): string => {
  const rows = [
    ["what", "value", "unit", "target", ""],
    ...measurements.map((one) => [
      one.name,
      String(round(one.value)),
      one.unit,
      one.target === undefined ? "-" : `${one.better === "higher" ? "≥" : "≤"} ${one.target}`,
      [meetsTarget(one) ? "" : "MISSED", one.note ?? ""].filter((part) => part !== "").join(" ")
    ])
  ]
  const widths = [0, 1, 2, 3].map((column) => Math.max(...rows.map((row) => (row[column] ?? "").length)))
  return rows
    .map((row) =>
      row
        .map((cell, column) => (column === 1 ? cell.padStart(widths[1] ?? 0) : cell.padEnd(widths[column] ?? 0)))
        .join("  ")
        .trimEnd()
    )
    .join("\n")
}

/** The value below which the share `q` of the samples lies. */
export const quantile = (samples: ReadonlyArray<number>, q: number): number => {
  const sorted = samples.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN
}

export const median = (samples: ReadonlyArray<number>): number => quantile(samples, 0.5)

const round = (value: number): number => (Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(3)))
