/**
 * `node .ci/Counts.ts <file>`: prints the counts of a test run, from the JSON report that vitest wrote to the file, as
 * `812 passed, 0 failed, 3 skipped`. Fails, and prints no counts, when the file is not such a report.
 */
import { readFileSync } from "node:fs"

const file = process.argv[2]
if (file === undefined) fail("no report file given")
const report: Record<string, unknown> = JSON.parse(readFileSync(file, "utf8"))
const passed = number("numPassedTests")
const failed = number("numFailedTests")
const skipped = number("numPendingTests") + number("numTodoTests")
const total = number("numTotalTests")
if (passed === 0) fail("no test has passed")
if (passed + failed + skipped !== total) fail(`the numbers do not add up to ${total}`)
console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`)

function number(field: string): number {
  const value = report[field]
  return typeof value === "number" ? value : fail(`the report has no number ${field}`)
}

function fail(why: string): never {
  console.error(`no counts: ${why}`)
  process.exit(1)
}
