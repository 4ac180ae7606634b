/** What the process under test says of itself, at a moment when it has nothing to do. */
import * as Schema from "effect/Schema"

export const Sample = Schema.Struct({
  turns: Schema.Int,
  /** After garbage was collected. */
  heapBytes: Schema.Finite,
  /** Buffers and the like, which the heap does not count. */
  externalBytes: Schema.Finite,
  residentBytes: Schema.Finite,
  /** Open files and sockets. */
  descriptors: Schema.Int,
  fibers: Schema.Int,
  timers: Schema.Int,
  databaseBytes: Schema.Finite,
  walBytes: Schema.Finite,
  spilledBytes: Schema.Finite,
  /** How late the event loop was since the last sample: 99 of 100 times not more than this, in milliseconds. */
  loopDelayMillis: Schema.Finite
})
export type Sample = typeof Sample.Type

/** The work that is asked for. */
export const Work = Schema.Struct({
  turns: Schema.Int,
  threads: Schema.Int,
  samples: Schema.Int,
  /** Turns at once. */
  parallel: Schema.Int,
  /** Whether samples are taken when all conversations have left memory, which they do every five seconds. */
  passivated: Schema.Boolean,
  /** For the test of the rig: every result of a tool is kept. */
  leak: Schema.Boolean
})
export type Work = typeof Work.Type

/** What a message asks the model for: an answer, a call of a small tool, or one with a result of 100 KB. */
export const kinds = ["answer", "small", "large"] as const

export const largeCharacters = 100_000
