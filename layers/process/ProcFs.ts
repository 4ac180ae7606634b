/**
 * The edge to `/proc`: which processes there are, and whose. Reads synchronously, so that nothing can happen between a look at
 * a process and the signal to it; a look at one costs about 20 µs. On other systems than Linux there is nothing to see, and
 * a process is known by its group alone.
 */
import * as Result from "effect/Result"
import * as fs from "node:fs"
import * as Marker from "../../src/process/Marker.ts"

/** What makes a process one of a family: any of these. */
export interface Family {
  /** The mark in its environment, or the beginning of it. */
  readonly mark: string
  /** The process that began it, itself a member while it lives: its group, its session and its descendants belong to it. */
  readonly leader?: number
  /** Look only at processes with a higher id than the leader's: those that are younger, unless ids have begun anew since. */
  readonly younger?: boolean
  /** The beginning of a mark that makes a process no member. */
  readonly except?: string
  /**
   * Who was a member at an earlier look, by id and start: it is one still, though what told so may be gone, as a parent is.
   * New members are added.
   */
  readonly known?: Map<number, string>
}

/** What to signal: the id of a process, or the negative id of a group where single processes cannot be seen. */
export type Target = number

/** The processes of the family that are alive, without this one. */
export const members = (family: Family): ReadonlyArray<Target> => {
  if (!isThere) return family.leader !== undefined && exists(-family.leader) ? [-family.leader] : []
  const lowest = family.younger === true ? (family.leader ?? 0) : 0
  const ids = new Set<number>()
  const found: Array<Stat> = []
  const strangers: Array<Stat> = []
  for (const pid of pids()) {
    if (pid < lowest || pid === process.pid) continue
    const stat = readStat(pid)
    if (stat === undefined || isOver(stat)) continue
    if (isMember(stat, family)) {
      ids.add(pid)
      found.push(stat)
    } else strangers.push(stat)
  }
  const all = [...found, ...descendants(strangers, ids)]
  for (const { pid, start } of all) family.known?.set(pid, start)
  return all.map(({ pid }) => pid)
}

/** Those whose parents are known, and whose parents' parents are. */
const descendants = (strangers: ReadonlyArray<Stat>, ids: Set<number>): ReadonlyArray<Stat> => {
  const born = strangers.filter(({ parent }) => ids.has(parent))
  for (const { pid } of born) ids.add(pid)
  const rest = strangers.filter(({ pid }) => !ids.has(pid))
  return born.length === 0 ? [] : [...born, ...descendants(rest, ids)]
}

const isMember = ({ group, pid, session, start }: Stat, { except, known, leader, mark }: Family): boolean => {
  if (known?.get(pid) === start) return true
  if (leader !== undefined && (group === leader || session === leader)) return true
  const own = markOf(readText(`/proc/${pid}/environ`))
  // Whoever carries no mark is nobody's, whatever is looked for.
  return own !== "" && own.startsWith(mark) && (except === undefined || !own.startsWith(except))
}

const markOf = (environment: string): string => {
  const start = `\0${environment}`.indexOf(`\0${Marker.variable}=`)
  return start < 0
    ? ""
    : environment
        .slice(start + Marker.variable.length + 1)
        .split("\0", 1)
        .join("")
}

/** Processes that hold an open file of which this says yes, by the target of its link. */
export const holders = (isTheirs: (link: string) => boolean): ReadonlyArray<number> =>
  pids().filter(
    (pid) => pid !== process.pid && names(`/proc/${pid}/fd`).some((fd) => isTheirs(link(`/proc/${pid}/fd/${fd}`)))
  )

/** The process that was started last on this machine: ids go up until they begin anew. */
export const lastPid = (): number => Number(readText("/proc/loadavg").trim().split(" ").at(-1) ?? 0)

/** How many ids there are. */
export const pidMax = (): number => Number(readText("/proc/sys/kernel/pid_max")) || 32_768

/**
 * Sends a signal. One that is gone already is left alone. To the system, 0 is the group of this process, 1 the first of all and
 * -1 everybody: no child is ever one of these.
 */
export const signal = (target: Target, name: "SIGTERM" | "SIGKILL"): void => {
  if (!(Math.abs(target) > 1) || Math.abs(target) === process.pid) return
  Result.try(() => process.kill(target, name))
}

const exists = (target: Target): boolean => Result.isSuccess(Result.try(() => process.kill(target, 0)))

/** Whether this system shows its processes. */
const isThere = process.platform === "linux"

interface Stat {
  readonly pid: number
  readonly state: string
  readonly parent: number
  readonly group: number
  readonly session: number
  /** When it began, in the system's own count: an id that was used again has another. */
  readonly start: string
}

/** A process that has ended and whose parent has not asked for it is there still, and does nothing. */
const isOver = ({ state }: Stat): boolean => state === "Z" || state === "X"

const readStat = (pid: number): Stat | undefined => {
  const text = readText(`/proc/${pid}/stat`)
  // The name in parentheses may hold anything, parentheses too.
  const [state, parent, group, session, ...rest] = text.slice(text.lastIndexOf(")") + 2).split(" ", 20)
  const start = rest.at(-1)
  if (state === undefined || start === undefined) return undefined
  return { pid, state, parent: Number(parent), group: Number(group), session: Number(session), start }
}

const pids = (): ReadonlyArray<number> =>
  names("/proc")
    .map(Number)
    .filter((pid) => pid > 0)

const names = (folder: string): ReadonlyArray<string> =>
  Result.getOrElse(
    Result.try(() => fs.readdirSync(folder)),
    () => []
  )

const link = (path: string): string =>
  Result.getOrElse(
    Result.try(() => fs.readlinkSync(path)),
    () => ""
  )

/** Empty for what cannot be read: the process is gone, or is another user's. */
const readText = (path: string): string =>
  Result.getOrElse(
    Result.try(() => fs.readFileSync(path, "latin1")),
    () => ""
  )
