/**
 * One life of a daemon process. Rows that belong to an owner carry its id, so that the writes of a process that was replaced
 * are told apart from those of the one that replaced it.
 */
import * as Context from "effect/Context"
import type { IncarnationId } from "../Ids.ts"

/** This process's life: its id, and when it began (unix ms). */
export class Incarnation extends Context.Service<
  Incarnation,
  {
    readonly id: IncarnationId
    readonly startedAt: number
  }
>()("troupe/storage/Incarnation") {}
