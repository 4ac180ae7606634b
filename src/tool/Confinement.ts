/**
 * What a handler's fiber may see: its capabilities, the call it serves, and nothing else of the program.
 *
 * The types already keep a handler from requiring more. This also keeps it from finding more at run time, where an
 * optional look-up (`Effect.serviceOption`) would otherwise reach whatever the caller of the tool happens to have.
 */
import * as Clock from "effect/Clock"
import * as Console from "effect/Console"
import * as Context from "effect/Context"
import * as ErrorReporter from "effect/ErrorReporter"
import * as Metric from "effect/Metric"
import * as Random from "effect/Random"
import * as References from "effect/References"
import * as Scheduler from "effect/Scheduler"
import * as Tracer from "effect/Tracer"
import { PersonWait } from "../approval/PersonWait.ts"

/** Time, randomness, logging, tracing, scheduling and clocks that stand still while a person is asked: these follow the caller and carry no authority. */
const ambient: ReadonlyArray<string> = [
  PersonWait.key,
  ...Object.values(References).map((reference) => reference.key),
  Clock.Clock.key,
  Console.Console.key,
  ErrorReporter.CurrentErrorReporters.key,
  Metric.CurrentMetricAttributes.key,
  Metric.MetricRegistry.key,
  Random.Random.key,
  Scheduler.Scheduler.key,
  Scheduler.MaxOpsBeforeYield.key,
  Tracer.ParentSpan.key,
  Tracer.Tracer.key,
  Tracer.CurrentTraceLevel.key,
  Tracer.MinimumTraceLevel.key
]

/** The context a handler runs in, out of its caller's and the services it was given. */
export const confine = <Services>(
  caller: Context.Context<never>,
  given: Context.Context<Services>
): Context.Context<Services> => {
  const services = new Map(given.mapUnsafe)
  for (const key of ambient) {
    if (!services.has(key) && caller.mapUnsafe.has(key)) services.set(key, caller.mapUnsafe.get(key))
  }
  return Context.makeUnsafe<Services>(services)
}
