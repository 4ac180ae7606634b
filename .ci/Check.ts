/** `npm run check`: every check but the tests. Goes on after a failure, so that one run tells all. */
import { spawnSync } from "node:child_process"
import { performance } from "node:perf_hooks"

const parts = ["types", "lint", "format:check", "arrows", "unused"]

const results = parts.map((part) => {
  console.log(`\n-- npm run ${part}`)
  const began = performance.now()
  const { status } = spawnSync("npm", ["run", "--silent", part], {
    stdio: "inherit",
    shell: process.platform === "win32"
  })
  return { part, ok: status === 0, seconds: (performance.now() - began) / 1000 }
})

console.log()
for (const { ok, part, seconds } of results) console.log(`${ok ? "ok  " : "FAIL"}  ${part} (${seconds.toFixed(1)} s)`)
process.exitCode = results.every(({ ok }) => ok) ? 0 : 1
