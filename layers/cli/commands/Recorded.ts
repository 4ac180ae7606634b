/** Reading back what threads have recorded, for commands that count over it. */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { usage } from "../../../src/cli/CommandFailed.ts"
import { TroupeClient } from "../../../src/client/TroupeClient.ts"
import type * as Entry from "../../../src/thread/Entry.ts"
import type * as Threads from "../../../src/thread/Threads.ts"

const units: ReadonlyMap<string, number> = new Map([
  ["s", 1_000],
  ["m", 60_000],
  ["h", 3_600_000],
  ["d", 86_400_000],
  ["w", 604_800_000]
])

/** The length of time of `--since`, in milliseconds. */
export const millisOf = (text: string) => {
  const [, count = "", unit = ""] = /^(\d{1,9})\s*([smhdw])[a-z]*$/.exec(text.trim().toLowerCase()) ?? []
  const millis = units.get(unit)
  return count === "" || millis === undefined
    ? Effect.fail(usage(`--since: ${JSON.stringify(text)} is no length of time. Such is 7d, 12h or 30m.\n`))
    : Effect.succeed(Number(count) * millis)
}

/** Threads that are asked for at once. */
const pageSize = 100

/** Hands over every entry of the threads that were active since then, thread by thread and each from its first. */
export const each = Effect.fnUntraced(function* <E, R>(
  since: number,
  thread: (summary: Threads.Thread) => (stored: Entry.StoredEntry) => Effect.Effect<void, E, R>
) {
  const client = yield* TroupeClient
  let before: Threads.ThreadCursor | undefined
  do {
    const page = yield* client.Threads({ limit: pageSize, ...(before === undefined ? {} : { before }) })
    // Those that were active last come first.
    const recent = page.threads.filter(({ updatedAt }) => updatedAt >= since)
    for (const summary of recent) {
      if (summary.entries === 0) continue
      const take = thread(summary)
      const pages = client.history({ thread: summary.key, from: 1, limit: summary.entries })
      yield* Stream.runForEach(pages, (stored) => Effect.forEach(stored, take, { discard: true }))
    }
    before = recent.length < page.threads.length ? undefined : (page.next ?? undefined)
  } while (before !== undefined)
})
