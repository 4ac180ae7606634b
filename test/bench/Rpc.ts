/** Calls over one WebSocket, from a client in this process: how many of them a second, and how long one takes alone. */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as TroupeClient from "../../src/client/TroupeClient.ts"
import { ThreadKey } from "../../src/thread/Threads.ts"
import * as Daemons from "./Daemons.ts"
import { median, type Measurement } from "./Report.ts"

const calls = 4_000
const atOnce = 64
const rounds = 5
const alone = 500

export const measure = (): Promise<ReadonlyArray<Measurement>> =>
  Daemons.inPlace("", (place) =>
    Daemons.serving(place, ({ token, url }) =>
      Effect.runPromise(
        Effect.provide(program, TroupeClient.layer({ url, token: Redacted.make(token), name: "bench" }))
      )
    )
  )

const program = Effect.gen(function* () {
  const client = yield* TroupeClient.TroupeClient
  const { messageId } = yield* client.Send({ thread: ThreadKey.make("rpc:bench"), text: "hello" })
  const call = client.MessageState({ messageId })
  const perSecond = yield* rate(call)
  const status = yield* rate(client.Status())
  const single: Array<number> = []
  for (let i = 0; i < alone; i++) {
    const started = performance.now()
    yield* call
    single.push(performance.now() - started)
  }
  return [
    {
      name: "calls over WebSocket",
      value: perSecond,
      unit: "/s",
      target: 4000,
      better: "higher",
      note: `reads of a message's state, ${atOnce} at once`
    },
    { name: "calls of Status", value: status, unit: "/s", better: "higher", note: `${atOnce} at once` },
    { name: "one call alone", value: median(single), unit: "ms" }
  ] satisfies ReadonlyArray<Measurement>
})

/** The best of some rounds: what is slower is the compiler's or another program's doing. */
const rate = <A, E>(call: Effect.Effect<A, E>): Effect.Effect<number, E> =>
  Effect.map(Effect.replicateEffect(round(call), rounds), (rates) => Math.max(...rates))

const round = <A, E>(call: Effect.Effect<A, E>): Effect.Effect<number, E> =>
  Effect.suspend(() => {
    const started = performance.now()
    const all = Effect.forEach(Array.from({ length: calls }), () => call, { concurrency: atOnce, discard: true })
    return Effect.map(all, () => (calls * 1000) / (performance.now() - started))
  })
