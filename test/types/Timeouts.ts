/** A tool has a finite time limit: a number and a unit. */
import * as Duration from "effect/Duration"
import * as Tool from "../../src/tool/Tool.ts"
import { declaration } from "./Given.ts"

const output = { maxChars: 100 }

export const Endless = Tool.make("endless", {
  ...declaration,
  replay: "safe",
  // @ts-expect-error infinity is no time limit
  limits: { output, timeout: "Infinity seconds" }
  // instead: limits: { output, timeout: "30 seconds" }
})

export const EndlessDuration = Tool.make("endless_duration", {
  ...declaration,
  replay: "safe",
  // @ts-expect-error nor is an infinite duration
  limits: { output, timeout: Duration.infinity }
  // instead: limits: { output, timeout: "30 seconds" }
})

export const Unitless = Tool.make("unitless", {
  ...declaration,
  replay: "safe",
  // @ts-expect-error a bare number does not say of what
  limits: { output, timeout: 30 }
  // instead: limits: { output, timeout: "30 millis" }
})

export const Timeless = Tool.make("timeless", {
  ...declaration,
  replay: "safe",
  // @ts-expect-error no time limit at all
  limits: { output }
  // instead: limits: { output, timeout: "1.5 minutes" }
})
