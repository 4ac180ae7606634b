/** A short crash campaign, and proof that its judge sees what it must see. The long one is `npm run test:crash`. */
import { assert, describe, it } from "@effect/vitest"
import { copyFileSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { afterAll } from "vitest"
import * as Campaign from "./Campaign.ts"
import * as Random from "./Random.ts"
import * as Verify from "./Verify.ts"

const directory = mkdtempSync(join(tmpdir(), "troupe-crash-test-"))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const kill = (point: string): Campaign.End => ({ _tag: "Point", armed: { point, pass: 1, how: "SIGKILL" } })

describe("a process that ends in the middle of everything", { timeout: 120_000 }, () => {
  const kept: { evidence?: Verify.Evidence } = {}

  it("loses nothing, does nothing twice, and keeps the order", async () => {
    const result = await Campaign.run({
      ends: [
        kill("tool after its effect"),
        kill("delivery after"),
        { _tag: "Model", point: "model half way" },
        kill("sql commit"),
        kill("sql insert approvals"),
        kill("sql update approvals"),
        { _tag: "Point", armed: { point: "Journal.append begins", pass: 2, how: "SIGTERM" } }
      ],
      messages: 30,
      threads: 6,
      pace: 800,
      random: Random.seeded(5),
      onEvidence: (evidence) => {
        const database = join(directory, "evidence.db")
        const opened = new DatabaseSync(evidence.database)
        opened.exec(`VACUUM INTO '${database}'`)
        opened.close()
        kept.evidence = { ...evidence, database }
      }
    })
    assert.deepStrictEqual(result.problems, [])
    assert.deepStrictEqual(result.missed, [])
    assert.isAbove(result.counts.resumed, 0)
    assert.isAbove(result.counts.inDoubt, 0)
  })

  const changed = (title: string, change: (evidence: Verify.Evidence) => Verify.Evidence, problem: RegExp) =>
    it(`is found out when ${title}`, () => {
      const { evidence } = kept
      assert(evidence !== undefined)
      assert.deepStrictEqual(Verify.verify(evidence).problems, [])
      assert.match(Verify.verify(change(evidence)).problems.join("\n"), problem)
    })

  /** The same with the database changed, past the rules that it keeps by itself. */
  const written = (sql: string) => (evidence: Verify.Evidence) => {
    const database = join(directory, "changed.db")
    copyFileSync(evidence.database, database)
    const opened = new DatabaseSync(database)
    opened.exec(
      `PRAGMA foreign_keys = OFF; DROP TRIGGER thread_entries_no_update; DROP TRIGGER thread_entries_no_delete; ${sql}`
    )
    opened.close()
    return { ...evidence, database }
  }

  changed(
    "a message is lost",
    written("DELETE FROM inbox WHERE rowid = (SELECT min(rowid) FROM inbox)"),
    /accepted 0 times/
  )
  changed(
    "a message has no outcome",
    written("UPDATE inbox SET state = 'running', ended_at = NULL WHERE rowid = (SELECT min(rowid) FROM inbox)"),
    /its outcome is running/
  )
  changed("the order is another", (evidence) => ({ ...evidence, sent: evidence.sent.toReversed() }), /the order is/)
  changed(
    "a result is missing",
    written(
      "DELETE FROM thread_entries WHERE (thread_id, seq) = (SELECT thread_id, seq FROM thread_entries WHERE kind = 'ToolResult' LIMIT 1)"
    ),
    /results for|its log has gaps/
  )
  changed("an effect never happened", (evidence) => ({ ...evidence, effects: [] }), /completed without an effect/)
  changed(
    "an effect happened twice",
    (evidence) => ({ ...evidence, effects: evidence.effects.flatMap((effect) => [effect, effect]) }),
    /had its effect 2 times/
  )
  changed("a reply never arrived", (evidence) => ({ ...evidence, deliveries: [] }), /never arrived/)
  changed(
    "a reply arrived twice unmarked",
    (evidence) => ({
      ...evidence,
      deliveries: evidence.deliveries.flatMap((delivery) => [delivery, { ...delivery, inDoubt: false }])
    }),
    /was not marked/
  )
  changed(
    "a watcher missed an entry",
    (evidence) => ({ ...evidence, seen: new Map([...evidence.seen].map(([thread, seqs]) => [thread, seqs.slice(1)])) }),
    /a watcher saw/
  )
})
