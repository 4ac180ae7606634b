import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const counts = (report: string) => {
  const folder = mkdtempSync(join(tmpdir(), "troupe-counts-"))
  try {
    const file = join(folder, "report.json")
    writeFileSync(file, report)
    return spawnSync(process.execPath, [".ci/Counts.ts", file], { encoding: "utf8" })
  } finally {
    rmSync(folder, { recursive: true })
  }
}
const report = { numPassedTests: 812, numFailedTests: 1, numPendingTests: 2, numTodoTests: 1, numTotalTests: 816 }

describe("the counts of a test run", () => {
  it("are the runner's own", () => {
    assert.strictEqual(counts(JSON.stringify(report)).stdout, "812 passed, 1 failed, 3 skipped\n")
  })

  const refused: Record<string, string> = {
    "text that is no report": "812 passed",
    "a report without numbers": "{}",
    "numbers that do not add up": JSON.stringify({ ...report, numTotalTests: 900 }),
    "a run without tests": JSON.stringify({ ...report, numPassedTests: 0, numTotalTests: 4 })
  }
  for (const [name, text] of Object.entries(refused)) {
    it(`are not printed from ${name}`, () => {
      const { status, stdout } = counts(text)
      assert.strictEqual(stdout, "")
      assert.strictEqual(status, 1)
    })
  }
})
