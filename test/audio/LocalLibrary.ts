/** Whether the library that transcribes on this machine is there. It is an optional dependency, for some machines. */
import { createRequire } from "node:module"
import type * as Needs from "../rigs/Needs.ts"

const canLoad = (): boolean => {
  try {
    createRequire(import.meta.url).resolve(`@fugood/node-whisper-${process.platform}-${process.arch}`)
    return true
  } catch {
    return false
  }
}

export const library: Needs.Need = { missing: !canLoad(), reason: "there is no library for this machine" }
