/** Runners in data directories of their own. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import * as ProcessRunnerLive from "../../layers/process/ProcessRunner.ts"
import * as Ids from "../../src/Ids.ts"
import type * as ProcessRunner from "../../src/process/ProcessRunner.ts"
import { DataDirectory } from "../../src/storage/DataDirectory.ts"
import { Incarnation } from "../../src/storage/Incarnation.ts"

/** A new life of a daemon. */
export const incarnation = Layer.effect(
  Incarnation,
  Effect.map(Ids.makeIncarnationId, (id) => Incarnation.of({ id, startedAt: 0 }))
)

/** A directory of this path, in a new life of its daemon. */
export const owned = (path: string) =>
  Layer.merge(
    incarnation,
    Layer.effect(
      DataDirectory,
      Effect.map(Path.Path, (paths) => DataDirectory.of({ path, file: (name) => paths.join(path, name) }))
    )
  )

/** The same in a new directory. */
export const temporary = Layer.unwrap(
  FileSystem.FileSystem.use((files) => Effect.map(files.makeTempDirectoryScoped({ prefix: "troupe-process-" }), owned))
)

/** A runner in a new data directory. */
export const layer = ProcessRunnerLive.layer.pipe(Layer.provideMerge(temporary), Layer.provideMerge(NodeServices.layer))

/** What a test's programs are given. */
export const env = { PATH: process.env["PATH"] ?? "/usr/bin:/bin" }

export const bash = (
  script: string,
  options: Omit<Partial<ProcessRunner.Command>, "limits"> & { readonly limits?: Partial<ProcessRunner.Limits> } = {}
): ProcessRunner.Command => ({
  program: "/bin/bash",
  args: ["-c", script],
  cwd: "/",
  env,
  ...options,
  limits: { timeout: "20 seconds", maxOutputBytes: 64_000, ...options.limits }
})
