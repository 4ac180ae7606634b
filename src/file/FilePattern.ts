/** Patterns of paths: which files match, and which folders need not be looked into. */
import * as Glob from "effect/Glob"
import * as Result from "effect/Result"
import { FileError } from "./FileError.ts"

export interface FilePattern {
  /** Folders that the pattern begins with, as they stand in it. Everything that matches is below. */
  readonly prefix: string
  /** Whether a file matches, by its path from the prefix. */
  readonly matches: (path: string) => boolean
  /** Whether anything in a folder can match, by the folder's path from the prefix. */
  readonly enters: (path: string) => boolean
}

const longest = 300
/** Every `**` is tried at every depth of every path. */
const mostDeep = 4

export const make = (pattern: string): Result.Result<FilePattern, FileError> => {
  const refuse = (detail: string) =>
    Result.fail(new FileError({ reason: "invalid_pattern", path: pattern.slice(0, longest), detail }))
  if (pattern.trim() === "") return refuse("Expected a pattern such as **/*.md; found an empty text.")
  if (pattern.length > longest) return refuse(`Expected a pattern of at most ${longest} characters.`)
  const segments = pattern.split("/").filter((segment) => segment !== "" && segment !== ".")
  if (pattern.startsWith("/")) return refuse("A pattern begins in the folder. Leave out the / at its beginning.")
  if (segments.includes("..")) return refuse("A pattern has no .. in it. Give the folder to look in as folder.")
  if (segments.filter((segment) => segment === "**").length > mostDeep) {
    return refuse(`Expected at most ${mostDeep} times ** in a pattern.`)
  }
  const plain = segments.slice(0, -1).findIndex(isWild)
  const prefix = segments.slice(0, plain === -1 ? -1 : plain)
  const rest = segments.slice(prefix.length)
  const everywhere = segments.length === 1 ? ["**", ...rest] : rest
  const glob = Glob.make(everywhere.join("/"))
  const last = everywhere.at(-1) ?? ""
  // Of most paths, the end alone says that they do not match.
  const end = isWild(last) ? (/^\*([^*?[\]{}\\]+)$/.exec(last)?.[1] ?? "") : last
  const deep = everywhere.includes("**") || everywhere.some((segment) => /[{}]/.test(segment))
  const dotted = everywhere.some((segment) => /(^|[{,])\./.test(segment))
  return Result.succeed({
    prefix: prefix.join("/"),
    matches: (path) => path.endsWith(end) && Glob.match(glob, path),
    enters: (path) => {
      const names = path.split("/")
      const isHidden = names.at(-1)?.startsWith(".") === true
      return (deep || names.length < everywhere.length) && (!isHidden || dotted)
    }
  })
}

const isWild = (segment: string): boolean => /[*?[\]{}\\]/.test(segment)
