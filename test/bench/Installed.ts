/** The package as it is installed: the program as one bundle, without the sources beside it. */
import { execFile } from "node:child_process"
import { copyFile, mkdir, mkdtemp, rm, symlink } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import * as Processes from "./Processes.ts"

/** The program's entry, from the root of the package. */
export const bin = "layers/cli/bin.js"

/** Builds the package and gives the path of the program for as long as it is used. */
export const using = async <A>(use: (program: string) => Promise<A>): Promise<A> => {
  await promisify(execFile)("npm", ["run", "build"], { cwd: Processes.root })
  const place = await mkdtemp(join(tmpdir(), "troupe-bench-package-"))
  try {
    await mkdir(join(place, "layers/cli"), { recursive: true })
    await copyFile(join(Processes.root, bin), join(place, bin))
    await copyFile(join(Processes.root, "package.json"), join(place, "package.json"))
    await symlink(join(Processes.root, "dist"), join(place, "dist"))
    return await use(join(place, bin))
  } finally {
    await rm(place, { recursive: true, force: true })
  }
}
