/**
 * The process zoo: commands that do what ends badly elsewhere. Each carries an id in its command line, which whatever it starts
 * carries too, so that the system itself can be asked whether anything of it is left.
 */
import { readFileSync, readdirSync } from "node:fs"

export interface Animal {
  readonly name: string
  /** For bash; `$ID` stands for the id. */
  readonly script: string
  /** It ends by itself at once, or it must be ended. */
  readonly ends: "itself" | "never"
}

/** What an animal runs to stay alive: it holds what it has, and its id is seen in its command line. */
const sleeper = "sleep $ID"

export const animals: ReadonlyArray<Animal> = [
  { name: "term-ignorer", script: `trap '' TERM INT HUP; while :; do ${sleeper}; done`, ends: "never" },
  {
    name: "term-ignorer in the background",
    script: `(trap '' TERM; while :; do ${sleeper}; done) & echo hi`,
    ends: "itself"
  },
  { name: "setsid escaper", script: `setsid ${sleeper} & echo done`, ends: "itself" },
  {
    name: "setsid escaper that holds no pipe",
    script: `setsid ${sleeper} >/dev/null 2>&1 </dev/null & echo done`,
    ends: "itself"
  },
  { name: "double forker", script: `setsid bash -c '(${sleeper} >/dev/null 2>&1 &) &' ; echo done`, ends: "itself" },
  { name: "escaper without the mark", script: `env -i PATH=$PATH setsid ${sleeper} & echo done`, ends: "itself" },
  {
    name: "escaper without the mark from one that goes on",
    script: `env -i PATH=$PATH setsid ${sleeper} >/dev/null 2>&1 & ${sleeper}`,
    ends: "never"
  },
  { name: "silent pipe holder", script: `${sleeper} & echo hi`, ends: "itself" },
  {
    name: "chatty pipe holder",
    script: `(while :; do echo more; ${sleeper.replace("$ID", "0.02$ID")}; done) & echo hi`,
    ends: "itself"
  },
  {
    name: "fork tree",
    script: `tree() { if [ $1 -gt 0 ]; then tree $(($1-1)) & tree $(($1-1)) & wait; else ${sleeper}; fi; }; tree 4`,
    ends: "never"
  },
  { name: "zombie maker", script: `for i in 1 2 3 4 5; do : & done; exec ${sleeper}`, ends: "never" },
  { name: "stopped child", script: `${sleeper} & kill -STOP $!; echo hi`, ends: "itself" },
  { name: "stopped leader", script: `kill -STOP $$; : $ID`, ends: "never" },
  { name: "endless single line", script: `exec 9</dev/zero; tr '\\0' 'a' <&9; : $ID`, ends: "never" },
  { name: "endless lines", script: `yes $ID`, ends: "never" },
  { name: "endless errors", script: `yes $ID >&2`, ends: "never" },
  { name: "one that closes its outputs and goes on", script: `exec >&- 2>&-; ${sleeper}`, ends: "never" },
  { name: "one that ends by a signal", script: `kill -SEGV $$; : $ID`, ends: "itself" },
  { name: "one that reads its input for ever", script: `cat; cat; echo read; : $ID`, ends: "itself" },
  { name: "one that reads another's input for ever", script: `mkfifo $TMP/f; cat $TMP/f; : $ID`, ends: "never" }
]

let count = 0

/** A new id that nothing else on the machine carries. A whole number, so that `sleep` takes it. */
export const newId = (): string => `1${process.pid}00${++count}00${process.hrtime()[1]}`

/** The command of an animal, for `/bin/bash -c`. */
export const scriptOf = ({ script }: Animal, id: string): string => script.replaceAll("$ID", id)

/** The ids of all processes that carry this id in their command line and have not ended. */
export const alive = (id: string): ReadonlyArray<number> =>
  readdirSync("/proc")
    .map(Number)
    .filter((pid) => pid > 0 && pid !== process.pid && isAlive(pid) && read(`/proc/${pid}/cmdline`).includes(id))

const isAlive = (pid: number): boolean => {
  const stat = read(`/proc/${pid}/stat`)
  return stat !== "" && !/^[ZX]/.test(stat.slice(stat.lastIndexOf(")") + 2))
}

const read = (path: string): string => {
  try {
    return readFileSync(path, "latin1")
  } catch {
    return ""
  }
}
