/** `npm run bench [-- --json] [-- NAME…]`: measures what the project claims and prints a table, or one JSON object a line. */
import * as Report from "./Report.ts"

const suites: Record<string, () => Promise<{ readonly measure: () => Promise<ReadonlyArray<Report.Measurement>> }>> = {
  turn: () => import("./TurnOverhead.ts"),
  daemon: () => import("./Daemon.ts"),
  load: () => import("./Load.ts"),
  idle: () => import("./IdleConversations.ts"),
  known: () => import("./KnownThreads.ts"),
  request: () => import("./FirstRequest.ts"),
  rpc: () => import("./Rpc.ts"),
  process: () => import("./ProcessStart.ts"),
  memory: () => import("./Memory.ts"),
  recovery: () => import("./Recovering.ts"),
  html: () => import("./Html.ts"),
  masking: () => import("./Masking.ts"),
  policy: () => import("./Policy.ts"),
  grep: () => import("./Grep.ts"),
  glob: () => import("./Glob.ts")
}

const args = process.argv.slice(2)
const json = args.includes("--json")
const wanted = args.filter((arg) => !arg.startsWith("--"))
const unknown = wanted.filter((name) => !(name in suites))
if (unknown.length > 0) {
  process.stderr.write(`No benchmark is named ${unknown.join(", ")}. There are: ${Object.keys(suites).join(", ")}.\n`)
  process.exit(2)
}

/** A measure that cannot be made takes nothing from the others; the run has failed all the same. */
const failures: Array<string> = []
const measured = async (name: string, load: (typeof suites)[string]): Promise<ReadonlyArray<Report.Measurement>> => {
  try {
    return await (await load()).measure()
  } catch (error) {
    failures.push(`${name}: ${error instanceof Error ? error.message : String(error)}`)
    return []
  }
}

const all: Array<Report.Measurement> = []
for (const [name, load] of Object.entries(suites)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue
  if (!json) process.stderr.write(`measuring ${name} …\n`)
  const found = await measured(name, load)
  all.push(...found)
  if (json) for (const one of found) process.stdout.write(`${Report.jsonLine(one)}\n`)
}
if (!json) process.stdout.write(`${Report.table(all)}\n`)
for (const failure of failures) process.stderr.write(`NOT MEASURED ${failure}\n`)
process.exit(failures.length === 0 && all.every(Report.meetsTarget) ? 0 : 1)
