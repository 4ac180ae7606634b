import { assert, describe, it } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { readdirSync, readlinkSync } from "node:fs"
import * as Pipes from "../../layers/process/Pipes.ts"
import { DataDirectory } from "../../src/storage/DataDirectory.ts"
import * as Needs from "../rigs/Needs.ts"
import * as Setting from "./Setting.ts"

const target = (end: number | string) => (typeof end === "number" ? readlinkSync(`/proc/self/fd/${end}`) : end)

describe.skipIf(Needs.linux.missing)(Needs.titled(Needs.linux, "Pipes"), () => {
  it.live("each child's are told from all others, and nothing of them is left", () =>
    Effect.gen(function* () {
      const before = readdirSync("/proc/self/fd").length
      const { take } = yield* Pipes.make
      const input = new TextEncoder().encode("input")
      const all = yield* Effect.forEach(Array.from({ length: 40 }), (_, index) =>
        take(index % 2 === 0 ? input : undefined)
      )
      const links = all.map(({ stdio }) => [target(stdio[1]), target(stdio[2])])
      for (const [index, pipes] of all.entries()) {
        const ours = links.flatMap((own, other) => (own.some(pipes.isOurs) ? [other] : []))
        assert.deepStrictEqual(ours, [index])
      }
      const closed = Effect.all(all.flatMap(({ closeChildEnds, closeReaders }) => [closeChildEnds, closeReaders]))
      yield* closed
      yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
      assert.isAtMost(readdirSync("/proc/self/fd").length, before)
      const folder = (yield* DataDirectory).file("pipes")
      // What is left are names that nobody has taken yet.
      assert.isAtMost(readdirSync(folder).length, 32)
    }).pipe(Effect.scoped, Effect.provide(Layer.provideMerge(Setting.temporary, NodeServices.layer)))
  )
})
