/** The small disk: a real file system of a few megabytes, on machines that let tests mount one. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type * as Needs from "./Needs.ts"

const mount = (path: string, megabytes: number) =>
  spawnSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m,mode=700`, "tmpfs", path], { encoding: "utf8" })

const unmount = (path: string): void => {
  spawnSync("umount", ["-l", path])
  rmSync(path, { recursive: true, force: true })
}

const newFolder = (): string => mkdtempSync(join(tmpdir(), "troupe-disk-"))

const tried = (): Needs.Need => {
  const path = newFolder()
  const { error, status, stderr } = mount(path, 1)
  unmount(path)
  return { missing: status !== 0, reason: `no disk can be mounted here: ${error?.message ?? stderr.trim()}` }
}

/** Whether one can be mounted here. */
export const need: Needs.Need = tried()

/** A disk for the current scope; gives the folder it is mounted at. */
export const make = (megabytes: number) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const path = newFolder()
      const { status, stderr } = mount(path, megabytes)
      if (status !== 0) throw new Error(`a small disk cannot be mounted: ${stderr}`)
      return path
    }),
    (path) => Effect.sync(() => unmount(path))
  )

const fillerOf = (path: string): string => join(path, "filler")

/** Leaves no byte of it free. */
export const fill = Effect.fnUntraced(function* (path: string) {
  const files = yield* FileSystem.FileSystem
  for (const bytes of [1 << 20, 1 << 16, 1 << 12, 1]) {
    const add = files.writeFile(fillerOf(path), new Uint8Array(bytes), { flag: "a" })
    yield* Effect.ignore(Effect.forever(add))
  }
})

/** Makes room again. */
export const empty = (path: string) => Effect.flatMap(FileSystem.FileSystem, (files) => files.remove(fillerOf(path)))

/** Takes writes no more, for good. Whoever has a file of it open for writing keeps that from happening. */
export const freeze = (path: string) =>
  Effect.sync(() => {
    const { status, stderr } = spawnSync("mount", ["-o", "remount,ro", path], { encoding: "utf8" })
    if (status !== 0) throw new Error(`a small disk cannot be made read-only: ${stderr}`)
  })
