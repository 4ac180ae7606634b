import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import * as Breaker from "../../src/model/Breaker.ts"

const options = { cooldown: 1000, wait: 0 }
const opened = Breaker.failed(Breaker.closed, 0, options)

describe("a breaker", () => {
  it("lets everything through while nothing has failed", () => {
    assert.deepStrictEqual(Breaker.admit(Breaker.closed, 5), Breaker.closed)
  })

  it("lets nothing through until its cool-down is over, and then one trial", () => {
    assert.isUndefined(Breaker.admit(opened, 999))
    const trial = Breaker.admit(opened, 1000) ?? assert.fail("no trial")
    assert.isUndefined(Breaker.admit(trial, 1_000_000))
  })

  it("stays away twice as long after each trial that fails, up to a limit", () => {
    let breaker = opened
    const waits = Array.from({ length: 7 }, () => {
      const now = Breaker.until(breaker)
      breaker = Breaker.failed(Breaker.admit(breaker, now) ?? assert.fail("no trial"), now, options)
      return Breaker.until(breaker) - now
    })
    assert.deepStrictEqual(waits, [2000, 4000, 8000, 16_000, 16_000, 16_000, 16_000])
  })

  it("waits as long as the provider asks, but not for ever", () => {
    assert.strictEqual(Breaker.until(Breaker.failed(Breaker.closed, 0, { ...options, wait: 90_000 })), 90_000)
    assert.strictEqual(Breaker.until(Breaker.failed(Breaker.closed, 0, { ...options, wait: 1e12 })), 3_600_000)
  })

  it("is not opened again by failures of requests from before it opened", () => {
    assert.deepStrictEqual(Breaker.failed(opened, 900, options), opened)
  })

  it("gives the trial to the next one when it ended without an answer", () => {
    const trial = Breaker.admit(opened, 1000) ?? assert.fail("no trial")
    assert.isDefined(Breaker.admit(Breaker.released(trial, 1001), 1001))
    assert.deepStrictEqual(Breaker.released(Breaker.closed, 5), Breaker.closed)
  })

  const Step = Schema.Struct({
    pass: Schema.Literals([0, 1, 500, 1000, 20_000]),
    outcome: Schema.Literals(["ok", "failed", "released"])
  })
  it.prop(
    "never has two trials at once, and always lets one through in the end",
    { steps: Schema.Array(Step) },
    ({ steps }) => {
      let now = 0
      let breaker: Breaker.Breaker = Breaker.closed
      for (const { outcome, pass } of steps) {
        now += pass
        const admitted = Breaker.admit(breaker, now)
        if (admitted === undefined) continue
        if (admitted._tag === "HalfOpen") assert.isUndefined(Breaker.admit(admitted, now + 1e9))
        breaker =
          outcome === "ok"
            ? Breaker.closed
            : outcome === "failed"
              ? Breaker.failed(admitted, now, options)
              : Breaker.released(admitted, now)
      }
      assert.isDefined(Breaker.admit(breaker, now + 16_000))
    }
  )
})
