/** Why the system refused something that was asked of a file, in words for a person. */
import type { PlatformError } from "effect/PlatformError"
import * as Predicate from "effect/Predicate"
import * as Own from "../Own.ts"
import type { DiskTrouble } from "./StorageError.ts"

/** Many of the system's errors have no name of their own among Effect's, where they are all `Unknown`. */
export const why = ({ reason }: PlatformError): string => {
  if (reason._tag !== "Unknown") return reason._tag
  const code = codeOf(reason.cause) ?? "an unknown error"
  return Own.get(words, code) ?? code
}

/** What is wrong with the disk, where that is why it was refused. */
export const ofDisk = ({ reason }: PlatformError): DiskTrouble | undefined =>
  reason._tag === "Unknown" ? Own.get(troubles, codeOf(reason.cause) ?? "") : undefined

/** Whether it was refused because something is there that is not to be replaced. */
export const isTaken = ({ reason }: PlatformError): boolean =>
  reason._tag === "AlreadyExists" || (reason._tag === "Unknown" && codeOf(reason.cause) === "ENOTEMPTY")

const codeOf = (cause: unknown): string | undefined =>
  Predicate.hasProperty(cause, "code") ? String(cause.code) : undefined

const troubles: Readonly<Record<string, DiskTrouble>> = {
  EROFS: "read-only",
  ENOSPC: "full",
  EDQUOT: "full",
  EIO: "io"
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
