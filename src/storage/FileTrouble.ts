/** Why the system refused something that was asked of a file, in words for a person. */
import type { PlatformError } from "effect/PlatformError"
import * as Predicate from "effect/Predicate"
import * as Own from "../Own.ts"

/** Many of the system's errors have no name of their own among Effect's, where they are all `Unknown`. */
export const why = ({ reason }: PlatformError): string => {
  if (reason._tag !== "Unknown") return reason._tag
  const code = Predicate.hasProperty(reason.cause, "code") ? String(reason.cause.code) : "an unknown error"
  return Own.get(words, code) ?? code
}

const words: Readonly<Record<string, string>> = {
  EROFS: "the file system is read-only",
  ENOSPC: "the disk is full",
  EDQUOT: "this user's share of the disk is used up",
  EIO: "the disk reports errors",
  ENAMETOOLONG: "the name is too long",
  EMFILE: "this process has too many files open",
  ENFILE: "this machine has too many files open",
  ENOTEMPTY: "a folder is there that is not empty"
}
