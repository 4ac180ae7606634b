/** Programs that are never started: what the `Process` capability is, for tests of the tools that use it. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Process } from "../../../src/process/Process.ts"
import type * as Contract from "../../../src/process/Process.ts"
import * as Capability from "../../../src/tool/Capability.ts"

/** A program that said this, and did what else is told of it. */
export const finished = (
  stdout: string,
  options: {
    readonly ended?: Partial<Contract.Finished["ended"]>
    readonly finished?: Partial<Contract.Finished>
  } = {}
): Contract.Finished => {
  const nothing = { head: new Uint8Array(0), tail: new Uint8Array(0), omitted: 0 }
  return {
    ended: {
      exit: { _tag: "code", code: 0 },
      cause: "exited",
      stdout: nothing,
      stderr: nothing,
      durationMillis: 5,
      pipeKeptOpen: false,
      survivors: 0,
      unkillable: 0,
      ...options.ended
    },
    stdout,
    stderr: "",
    cwd: "/work",
    sandbox: "basic",
    ...options.finished
  }
}

/** Each program ends as `answer` says. */
export const layer = (answer: (request: Contract.Request) => ReturnType<Process["Service"]["run"]>) =>
  Layer.effectDiscard(
    Capability.Grants.use((grants) => grants.register(Process, () => Effect.succeed({ run: answer })))
  )
