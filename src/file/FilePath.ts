/**
 * Paths as people and models write them, in the one form that is worked with. Pure: whether a path leads out of its root is for the
 * walk to find, which sees links as well; here only its words are judged.
 */
import * as Result from "effect/Result"
import { FileError } from "./FileError.ts"

/** `names` from the root of the files, or from the top of the file system. None of them is `.` or `..`. */
export interface FilePath {
  readonly asked: string
  readonly absolute: boolean
  readonly names: ReadonlyArray<string>
}

/** Bytes of UTF-8 that one name may have on the usual file systems. */
const longestName = 255
/** More names than this in a path are nobody's folders. */
const deepest = 200

/** Reads a path. `/` parts names; `a/../b` is `b`. Fails for what can be no path, or leads up out of its root by its words. */
export const parse = (asked: string): Result.Result<FilePath, FileError> => {
  const refuse = (detail: string) => Result.fail(new FileError({ reason: "invalid_path", path: asked, detail }))
  if (asked.trim() === "") return refuse("Expected a path; found an empty text.")
  if (asked.includes("\0")) return refuse("A path has no NUL in it.")
  if (!asked.isWellFormed()) return refuse("Expected a path in well-formed Unicode; found half of a character.")
  const absolute = asked.startsWith("/")
  const names: Array<string> = []
  for (const name of asked.split("/")) {
    if (name === "" || name === ".") continue
    if (name !== "..") names.push(name)
    else if (names.pop() === undefined && !absolute) return Result.fail(outside(asked))
  }
  if (names.length > deepest) return refuse(`Expected at most ${deepest} names in a path; found ${names.length}.`)
  const long = names.find((name) => bytesOf(name) > longestName)
  return long === undefined
    ? Result.succeed({ asked, absolute, names })
    : refuse(`Expected names of at most ${longestName} bytes; found one of ${bytesOf(long)}. Choose a shorter one.`)
}

/** Whether a path says by its end that it names a folder. */
export const endsAsFolder = (asked: string): boolean => /\/\.?$/.test(asked)

/** The refusal of a path that leads out of its root, by its words or by a link. */
export const outside = (path: string): FileError =>
  new FileError({
    reason: "outside_root",
    path,
    detail:
      "It leads out of the folder that this tool works in. Use a path relative to that folder, without a way up and out."
  })

/** The forms of a name that look the same, the given one first: some systems compose characters, others take them apart. */
export const lookAlikes = (name: string): ReadonlyArray<string> =>
  isPlain(name) ? [name] : [...new Set([name, name.normalize("NFC"), name.normalize("NFD")])]

/** Whether no other name looks like this one. */
export const isPlain = (name: string): boolean => ascii.test(name)

/** What is the same for all names that look like this one. */
export const looks = (name: string): string => (isPlain(name) ? name : name.normalize("NFC"))

const ascii = /^\p{ASCII}*$/u

const bytesOf = (text: string): number => new TextEncoder().encode(text).byteLength

/** What a file is called until all of it is written. Nobody can guess it. */
export const unfinished = (random: string): string => `.troupe-${random}.unfinished`

/** Whether it is one of these: no listing shows it. */
export const isUnfinished = (name: string): boolean => /^\.troupe-[0-9a-z]+\.unfinished$/.test(name)
