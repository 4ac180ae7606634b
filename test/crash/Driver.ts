/** The people: they write in twenty threads, half of them over RPC and half in the feed, stop turns, and answer questions. */
import { setTimeout as pause } from "node:timers/promises"
import { createTroupe, TroupeError, type Troupe } from "../../src/client/index.ts"
import * as Lives from "./Lives.ts"
import * as Protocol from "./Protocol.ts"
import type { World } from "./World.ts"

/** A message that somebody sent, in the order of its thread. */
export interface Sent {
  readonly thread: string
  readonly channel: "rpc" | "outside"
  readonly tag: string
}

export interface Driver {
  readonly sent: ReadonlyArray<Sent>
  /** Entries that watchers saw, by thread. */
  readonly seen: ReadonlyMap<string, ReadonlyArray<number>>
  readonly stops: () => number
  readonly decisions: () => number
  /** Nothing new is written from now on. Resolves when everything that was sent over RPC is accepted. */
  readonly finish: () => Promise<void>
  readonly close: () => Promise<void>
}

export interface Options {
  readonly threads: number
  /** Longest pause between two messages of one thread, in milliseconds. */
  readonly pace: number
}

export const start = (at: Lives.Place, world: World, random: () => number, options: Options): Driver => {
  const troupe = createTroupe({ url: at.url, token: Lives.token })
  const sent: Array<Sent> = []
  const seen = new Map<string, Array<number>>()
  const taken = new Map<string, number>()
  const writing = { on: true }
  const closed = new AbortController()
  let stops = 0
  let decisions = 0
  const decided = () => (decisions += 1)

  const names = Array.from({ length: options.threads }, (_, index): Pick<Sent, "thread" | "channel"> => {
    const channel = index % 2 === 0 ? "rpc" : "outside"
    return { channel, thread: `${channel}:${index}` }
  })

  const compose = (): {
    readonly calls: ReadonlyArray<Protocol.ToolName>
    readonly delivery: Protocol.FeedItem["delivery"]
  } => ({
    calls: Array.from({ length: Math.floor(random() * 4) }, () => pick(random, Protocol.tools, "look")),
    delivery: pick(random, ["now", "now", "after-tool", "after-turn"], "now")
  })

  /** People wait when they have written several times and nothing has come of it. */
  const patience = async (thread: string) => {
    const written = () => sent.filter((message) => message.thread === thread).length
    while (writing.on && written() - (taken.get(thread) ?? 0) > 4) await pause(50)
  }

  const say = async ({ channel, thread }: Pick<Sent, "thread" | "channel">) => {
    const { calls, delivery } = compose()
    const tag = `${thread}-${sent.length + 1}`
    const text = Protocol.textOf(tag, calls)
    sent.push({ thread, channel, tag })
    if (channel === "outside") {
      world.feed.push({ number: world.feed.length + 1, chat: thread.slice("outside:".length), tag, text, delivery })
    } else {
      await accepted(troupe, thread, tag, text, delivery, closed.signal)
    }
  }

  const write = async (name: Pick<Sent, "thread" | "channel">) => {
    while (writing.on) {
      await patience(name.thread)
      // Several at once fold into one turn.
      for (let burst = random() < 0.25 ? 3 : 1; burst > 0 && writing.on; burst -= 1) await say(name)
      if (random() < 0.15) {
        await pause(random() * 200)
        await troupe.stop(name.thread).then((outcome) => outcome === "stopped" && (stops += 1), later)
      }
      await pause(options.pace * (0.3 + random() * 0.7))
    }
  }

  const writers = names.map(write)
  const watchers = names.map(({ thread }) => watch(troupe, thread, { seen, taken }, random, decided, closed.signal))
  return {
    sent,
    seen,
    stops: () => stops,
    decisions: () => decisions,
    finish: async () => {
      writing.on = false
      await Promise.all(writers)
    },
    close: async () => {
      closed.abort()
      await troupe.close()
      await Promise.all(watchers)
    }
  }
}

const pick = <A>(random: () => number, all: ReadonlyArray<A>, otherwise: A): A =>
  all[Math.floor(random() * all.length)] ?? otherwise

/** The daemon is away; somebody tries again. */
const later = async () => {
  await pause(50)
}

/** Sends until it is accepted, as any client must: with the same id. */
const accepted = async (
  troupe: Troupe,
  thread: string,
  id: string,
  text: string,
  delivery: Protocol.FeedItem["delivery"],
  signal: AbortSignal
): Promise<void> => {
  while (!signal.aborted) {
    try {
      for await (const piece of troupe.stream(text, { thread, id, delivery, signal })) {
        if (piece.type === "accepted") return
      }
    } catch (error) {
      if (!(error instanceof TroupeError) || error.code === "invalid_request") throw error
      await later()
    }
  }
}

/** Follows a thread over all crashes, and answers two of three questions. */
const watch = async (
  troupe: Troupe,
  thread: string,
  { seen, taken }: { readonly seen: Map<string, Array<number>>; readonly taken: Map<string, number> },
  random: () => number,
  decided: () => void,
  signal: AbortSignal
): Promise<void> => {
  const mine: Array<number> = []
  seen.set(thread, mine)
  while (!signal.aborted) {
    try {
      for await (const item of troupe.watch(thread, { from: (mine.at(-1) ?? 0) + 1, signal })) {
        if (item.type === "entry") {
          const { entry, seq } = item.stored
          mine.push(seq)
          if (entry._tag === "TurnStarted" || entry._tag === "MessagesFolded") {
            taken.set(thread, (taken.get(thread) ?? 0) + entry.messageIds.length)
          }
        }
        if (item.type === "live" && item.event._tag === "ApprovalRequested" && random() < 0.67) {
          const decision = random() < 0.7 ? "approved" : "denied"
          const { request } = item.event
          await pause(random() * 100)
          // Some answers allow more than their call.
          const scope = decision === "approved" && random() < 0.3 ? "turn" : "once"
          await troupe.decide(thread, request, decision, { scope }).then(decided, later)
        }
      }
    } catch (error) {
      if (!(error instanceof TroupeError)) throw error
      await later()
    }
  }
}
