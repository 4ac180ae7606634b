/** A real process that is stopped in the middle of its work, for longer than its work may take, and goes on. */
import { assert, describe, it } from "@effect/vitest"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { setTimeout as pause } from "node:timers/promises"
import { vi } from "vitest"
import * as Lives from "../crash/Lives.ts"
import * as Protocol from "../crash/Protocol.ts"
import * as World from "../crash/World.ts"

/** Enough for the turns themselves on a machine that does much else. */
const turnSeconds = 6
const chats = 4

describe("F143: SIGSTOP and SIGCONT", { timeout: 60_000 }, () => {
  it("turns that were under way are answered, once, and so is what comes after", async () => {
    const world = await World.open(() => 0)
    const at = await Lives.place(world.url, { turnSeconds })
    try {
      const life = Lives.begin(at, world.url)
      await life.ready
      let asked = 0
      const allAsk = new Promise<void>((resolve) => {
        world.onModel = (point) => {
          if (point === "model asked" && ++asked === chats) resolve()
        }
      })
      for (let number = 1; number <= chats; number++) world.feed.push(item(number, ["look"]))
      await allAsk
      life.child.kill("SIGSTOP")
      await pause(turnSeconds * 1000 + 1500)
      life.child.kill("SIGCONT")
      await answered(at, chats)
      world.feed.push(item(chats + 1, []))
      await answered(at, chats + 1)
      life.child.kill("SIGTERM")
      await life.ended
      assert.deepStrictEqual(world.refused, [])
      assert.deepStrictEqual(count(at, "SELECT count(*) AS n FROM turns"), chats + 1)
      assert.deepStrictEqual(world.effects.map(({ tag }) => tag).toSorted(), tags(chats))
      assert.strictEqual(world.deliveries.length, chats + 1)
    } finally {
      await world.close()
      at.remove()
    }
  })
})

const tagOf = (number: number) => `outside:${number}-1`
const tags = (upTo: number) => Array.from({ length: upTo }, (_, index) => tagOf(index + 1))

const item = (number: number, calls: ReadonlyArray<Protocol.ToolName>): Protocol.FeedItem => ({
  number,
  chat: String(number),
  tag: tagOf(number),
  text: Protocol.textOf(tagOf(number), calls),
  delivery: "now"
})

/** Waits until so many messages have their outcome and their reply has arrived; each must have been answered. */
const answered = async (at: Lives.Place, wanted: number): Promise<void> => {
  const ended = "SELECT count(*) AS n FROM inbox WHERE state NOT IN ('accepted', 'running')"
  const delivered = "SELECT count(*) AS n FROM outbox WHERE state = 'delivered'"
  await vi.waitUntil(() => count(at, ended) >= wanted && count(at, delivered) >= wanted, { timeout: 30_000 })
  assert.strictEqual(count(at, "SELECT count(*) AS n FROM inbox WHERE state = 'answered'"), wanted)
}

const count = (at: Lives.Place, sql: string): number => {
  const opened = new DatabaseSync(join(at.data, "troupe.db"), { readOnly: true })
  const found = Number(opened.prepare(sql).get()?.["n"] ?? 0)
  opened.close()
  return found
}
