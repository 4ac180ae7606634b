/** What the system answered, as an error of a file. */
import * as Effect from "effect/Effect"
import { FileError } from "../../src/file/FileError.ts"
import type { Reason } from "../../src/file/FileError.ts"
import * as Own from "../../src/Own.ts"
import { SystemError } from "./NodeFiles.ts"

const refusals: Readonly<Record<string, readonly [Reason, string]>> = {
  ENOENT: ["file_not_found", "There is nothing of this name. List the folder to see what is there."],
  ENOTDIR: ["path_is_not_a_folder", "A file stands where a folder is needed."],
  EISDIR: ["path_is_not_a_file", "It is a folder. Name a file in it."],
  EEXIST: ["already_exists", "Something of this name is there already."],
  ENOTEMPTY: ["folder_not_empty", "The folder has something in it."],
  ELOOP: ["too_many_links", "Too many links follow one another."],
  ENAMETOOLONG: ["invalid_path", "The path is too long for the system. Choose shorter names."],
  EILSEQ: ["invalid_path", "The file system does not take a name of these characters. Choose another one."],
  EINVAL: ["invalid_path", "The file system does not take this name. Choose another one."],
  ENXIO: ["special_file", "It is a device, a pipe or a socket, which is never opened."],
  EACCES: ["permission_denied", "The system does not allow it."],
  EPERM: ["permission_denied", "The system does not allow it."],
  ENOSPC: ["no_space", "The disk is full. Delete what is not needed, or write less."],
  EDQUOT: ["no_space", "This user's share of the disk is used up. Delete what is not needed, or write less."],
  EFBIG: ["too_large", "It is larger than the system lets a file be."],
  EROFS: ["read_only_disk", "The disk cannot be written."]
}

const refusal = (path: string, code: string): FileError => {
  const [reason, detail] = Own.get(refusals, code) ?? ["system", `The system refused it (${code}).`]
  return new FileError({ reason, path, detail })
}

/** The effect with the system's errors as errors of the file that was asked for. */
export const about =
  (path: string) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, Exclude<E, SystemError> | FileError, R> =>
    Effect.mapError(effect, (error) => (isOther(error) ? error : refusal(path, codeOf(error))))

const isOther = <E>(error: E): error is Exclude<E, SystemError> => !(error instanceof SystemError)

const codeOf = (error: unknown): string => (error instanceof SystemError ? error.code : "no code")
