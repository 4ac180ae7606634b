import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as NodeChild from "../../layers/process/NodeChild.ts"
import * as Pipes from "../../layers/process/Pipes.ts"
import * as Setting from "./Setting.ts"

it.live("F135: what rests in the pipes when a program ends is read to its end", () =>
  Effect.gen(function* () {
    const pipes = yield* (yield* Pipes.make).take(undefined)
    let bytes = 0
    const child = yield* NodeChild.spawn({
      program: "/bin/sh",
      args: ["-c", "head -c 120000 /dev/zero"],
      cwd: "/",
      env: Setting.env,
      stdin: undefined,
      pipes,
      // Every piece is one too many for now.
      onOutput: (_stream, chunk) => {
        bytes += chunk.length
        return false
      }
    })
    yield* child.exited
    assert.isBelow(bytes, 120_000)
    assert.isTrue(yield* NodeChild.drainedWithin(child, "20 seconds"))
    assert.strictEqual(bytes, 120_000)
    yield* child.close
  }).pipe(Effect.scoped, Effect.provide(Setting.layer))
)
