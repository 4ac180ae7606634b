/** Whether a series of samples grows. */

export interface Sample {
  /** Turns that have ended when it was taken. */
  readonly turns: number
  readonly value: number
}

/**
 * How much the value grows with each turn: the median of the slopes between all pairs of samples, which a few samples that are
 * off do not move.
 */
export const slope = (samples: ReadonlyArray<Sample>): number => {
  const slopes = samples.flatMap((one, index) =>
    samples.slice(index + 1).map((other) => (other.value - one.value) / (other.turns - one.turns))
  )
  return middle(slopes)
}

/** The samples after the process has become warm: compilers and caches have what they need. */
export const warm = (samples: ReadonlyArray<Sample>): ReadonlyArray<Sample> =>
  samples.slice(Math.floor(samples.length * 0.3))

const middle = (values: ReadonlyArray<number>): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
