import { assert, describe, it } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import * as ProcessRunnerLive from "../../layers/process/ProcessRunner.ts"
import * as Needs from "../rigs/Needs.ts"
import * as ProcessZoo from "../rigs/ProcessZoo.ts"
import * as Setting from "./Setting.ts"

const killed = fileURLToPath(new URL("fixtures/Killed.ts", import.meta.url))

/** Starts a process that runs the script in the directory, and kills it when the script has said something. */
const runAndKill = (path: string, script: string) =>
  Effect.promise(async () => {
    const child = spawn(process.execPath, [killed, path, script], { stdio: ["ignore", "pipe", "inherit"] })
    await once(child.stdout, "data")
    child.kill("SIGKILL")
    await once(child, "exit")
  })

const start = (path: string) =>
  Layer.build(ProcessRunnerLive.layer.pipe(Layer.provide(Setting.owned(path)), Layer.provide(NodeServices.layer)))

describe.skipIf(Needs.linux.missing)(Needs.titled(Needs.linux, "Orphans"), () => {
  it.live(
    "F161: what a killed daemon had started is ended by the next one in its directory, and by no other",
    () =>
      Effect.gen(function* () {
        const files = yield* FileSystem.FileSystem
        const [mine, others] = [yield* files.makeTempDirectoryScoped(), yield* files.makeTempDirectoryScoped()]
        const id = ProcessZoo.newId()
        yield* runAndKill(mine, `trap '' TERM; setsid sleep ${id} & echo ready; sleep ${id}`)
        assert.isAtLeast(ProcessZoo.alive(id).length, 2)

        yield* start(others)
        assert.isAtLeast(ProcessZoo.alive(id).length, 2)

        yield* files.symlink(mine, `${others}/alias`)
        yield* start(`${others}/alias`)
        assert.deepStrictEqual(ProcessZoo.alive(id), [])
        assert.deepStrictEqual(yield* files.readDirectory(mine), ["pipes"])
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    { timeout: 60_000 }
  )
})
