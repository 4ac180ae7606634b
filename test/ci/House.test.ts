/** The house rules are themselves tested: each one red on what it refuses and green on what it leaves alone. */
import { assert, describe, it } from "@effect/vitest"
import { RuleTester } from "oxlint/plugins-dev"
import { rules } from "../../.ci/lint/House.ts"

RuleTester.describe = describe
RuleTester.it = it

const tester = new RuleTester({ languageOptions: { sourceType: "module", parserOptions: { lang: "ts" } } })

const cases: Record<string, { readonly red: ReadonlyArray<string>; readonly green: ReadonlyArray<string> }> = {
  "no-try": {
    red: ["try { f() } catch {}", "try { f() } finally { g() }"],
    green: ["Effect.try(() => f())"]
  },
  "no-throw": {
    red: ["throw new Error('x')", "const f = () => { throw x }"],
    green: ["Effect.fail(new MyError())"]
  },
  "no-async": {
    red: [
      "async function f() {}",
      "const f = async () => 1",
      "const o = { async m() {} }",
      "await f()",
      "new Promise(() => {})",
      "Promise.resolve(1)"
    ],
    green: [
      "const f = () => Effect.tryPromise(() => client.send())",
      "class Promise {}; new Promise()",
      "function* f() { yield 1 }"
    ]
  },
  "no-ambient-time": {
    red: [
      "Date.now()",
      "new Date()",
      "new Date(0)",
      "Date()",
      "globalThis.Date.now()",
      "performance.now()",
      "[1].map(Date.now)"
    ],
    green: ["Clock.currentTimeMillis", "date.now()", "import { Date } from './x.ts'; new Date()", "type T = Date"]
  },
  "no-timers": {
    red: [
      "setTimeout(f, 1)",
      "setInterval(f, 1)",
      "setImmediate(f)",
      "globalThis.setTimeout(f, 1)",
      "import * as timers from 'node:timers/promises'"
    ],
    green: ["Effect.sleep(1)", "clock.setTimeout(f, 1)", "const setTimeout = () => 1; setTimeout()"]
  },
  "no-ambient-random": {
    red: [
      "Math.random()",
      "Math['random']()",
      "crypto.randomUUID()",
      "globalThis.crypto.getRandomValues(b)",
      "import { randomBytes } from 'node:crypto'"
    ],
    green: ["Random.next", "Math.floor(1)", "import { createHash } from 'node:crypto'"]
  },
  "no-process-env": {
    red: ["process.env.HOME", "process['env']", "globalThis.process.env", "import { env } from 'node:process'"],
    green: ["process.pid", "const process = { env: 1 }; process.env", "provider.env"]
  },
  "no-console": {
    red: ["console.log(1)", "globalThis.console.error(1)", "const log = console.log"],
    green: ["Console.log(1)", "import * as console from './Console.ts'; console.log(1)"]
  },
  "no-any": {
    red: ["const x: any = 1", "type T = Array<any>", "function f<A extends any>() {}"],
    green: ["const x: unknown = 1", "const any = 1"]
  },
  "no-assertion": {
    red: ["x as string", "x as unknown as Y", "<string>x", "x!", "x!.y"],
    green: ["['a'] as const", "x satisfies Y", "import { a as b } from './a.ts'"]
  },
  "no-json-parse": {
    red: ["JSON.parse(x)", "globalThis.JSON.parse(x)", "xs.map(JSON.parse)"],
    green: ["JSON.stringify(x)", "Schema.fromJsonString(S)"]
  },
  "no-fetch": {
    red: ["fetch('http://x')", "globalThis.fetch('http://x')"],
    green: ["cache.fetch(key)", "const fetch = () => 1; fetch()"]
  },
  "no-run": {
    red: [
      "Effect.runSync(x)",
      "Effect.runPromise(x)",
      "Effect.runPromiseExit(x)",
      "Effect.runFork(x)",
      "Effect.runCallback(x)",
      "NodeRuntime.runMain(x)",
      "runtime.runPromise(x)",
      "import { runSync } from 'effect/Effect'"
    ],
    green: ["Effect.runForkWith(context)", "runner.runSync()", "Stream.runCollect(x)"]
  },
  "no-barrel": {
    red: [
      "import { Effect } from 'effect'",
      "import type { Effect } from 'effect'",
      "import { Rpc } from 'effect/rpc'",
      "import { NodeRuntime } from '@effect/platform-node'",
      "export * from 'effect/http-api'",
      "import('effect')",
      "type T = import('effect').Effect",
      "import { Threads } from '../thread/index.ts'"
    ],
    green: [
      "import * as Effect from 'effect/Effect'",
      "import * as Rpc from 'effect/rpc/Rpc'",
      "import * as NodeRuntime from '@effect/platform-node/NodeRuntime'",
      "import { Threads } from '../thread/Threads.ts'",
      "import OpenAI from 'openai'"
    ]
  },
  "no-uninterruptible": {
    red: ["Effect.uninterruptible(x)", "x.pipe(Effect.uninterruptible)", "Effect.uninterruptibleMask((restore) => x)"],
    green: ["Effect.interruptible(x)", "tool.uninterruptible"]
  }
}

it("every rule has its cases", () => {
  assert.deepStrictEqual(Object.keys(cases).toSorted(), Object.keys(rules).toSorted())
})

for (const [name, rule] of Object.entries(rules)) {
  const { green = [], red = [] } = cases[name] ?? {}
  tester.run(name, rule, {
    valid: [...green],
    // Every message of a house rule ends with the remedy; one piece of code may be wrong in two places.
    invalid: red.map((code) => ({ code, errors: code === "x as unknown as Y" ? 2 : 1 }))
  })
}
