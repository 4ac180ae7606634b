/** A hand on the flushes of a store on disk: a test holds them back, lets them go, or has them fail. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as LogFile from "../../layers/storage/LogFile.ts"
import * as NodeSqlite from "../../layers/storage/NodeSqlite.ts"

/** A hand on the flushes of a store: how many began, and those that are held back. */
export class Disk extends Context.Service<
  Disk,
  {
    readonly count: () => number
    /** Flushes from now on wait to be let go. */
    readonly hold: () => void
    /** Lets go of all that are held, and holds none any more. */
    readonly release: () => void
    /** Waits for the next flush that is held. */
    readonly held: Effect.Effect<{ readonly letGo: () => void; readonly fail: () => void }>
  }
>()("troupe/test/Disk") {}

type Held = Effect.Success<Disk["Service"]["held"]>

const disk = () => {
  let count = 0
  let holding = false
  const waiting: Array<Held> = []
  const takers: Array<(held: Held) => void> = []
  const flushes =
    (flush: LogFile.LogFile["flush"]): LogFile.LogFile["flush"] =>
    (done) => {
      count += 1
      if (!holding) return flush(done)
      const held = { letGo: () => flush(done), fail: () => done(NodeSqlite.unflushed(new Error("EIO"))) }
      const taker = takers.shift()
      if (taker === undefined) waiting.push(held)
      else taker(held)
    }
  const service = Disk.of({
    count: () => count,
    hold: () => {
      holding = true
    },
    release: () => {
      holding = false
      for (const held of waiting.splice(0)) held.letGo()
    },
    held: Effect.callback<Held>((resume) => {
      const held = waiting.shift()
      if (held === undefined) takers.push((one) => resume(Effect.succeed(one)))
      else resume(Effect.succeed(held))
    })
  })
  return { service, flushes }
}

/** The store with its flushes in the hand of the test. */
export const over = <A, E, R>(store: Layer.Layer<A, E, R>) =>
  Layer.unwrap(
    Effect.sync(() => {
      const { flushes, service } = disk()
      return store.pipe(
        Layer.provide(Layer.succeed(LogFile.Flushes, flushes)),
        Layer.merge(Layer.succeed(Disk, service))
      )
    })
  )
