/** What is counted of child processes. */
import * as Metric from "effect/Metric"
import type * as ProcessRunner from "./ProcessRunner.ts"

/** Commands that run now. */
export const running = Metric.gauge("troupe_processes_running", { description: "Commands that run now" })

const ended = Metric.counter("troupe_processes_ended_total", {
  description: "Commands that are over, by what ended them",
  incremental: true
})

/** Processes that a command left behind and that were ended, and those that could not be. */
export const survivors = Metric.counter("troupe_process_survivors_total", {
  description: "Processes that outlived the command that started them and were ended",
  incremental: true
})

/** Processes of an earlier life of the daemon that were ended at the start. */
export const orphans = Metric.counter("troupe_process_orphans_total", {
  description: "Processes of a killed daemon that were ended by the next one",
  incremental: true
})

export const endedBy = (cause: ProcessRunner.Ended["cause"] | "cancelled" | "not_started") =>
  Metric.update(Metric.withAttributes(ended, { cause }), 1)
