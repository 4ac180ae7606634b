/**
 * The folders, among the managed files, in which the runtime itself writes files for a while. All of them, in one place: what is
 * written to a folder that is not here stays for ever.
 */
import type { Settings } from "../config/Settings.ts"
import * as GifName from "../gif/GifName.ts"
import * as ResponseFile from "../http/ResponseFile.ts"
import * as FileName from "../spill/FileName.ts"
import * as UploadName from "./UploadName.ts"

export interface TemporaryFolder {
  /** Below the managed files. */
  readonly subdir: string
  /** Whether the runtime made a file of this name; whatever else lies there is somebody's. */
  readonly isOurs: (name: string) => boolean
}

/** Each folder once, also where several writers share it. */
export const of = ({ tools }: Pick<Settings["Service"], "tools">): ReadonlyArray<TemporaryFolder> => {
  const { bash, file_storage, http_client, send_gif, tool_output_spill } = tools
  const kept = plain(file_storage.uploads_subdir)
  const writers: ReadonlyArray<TemporaryFolder> = [
    { subdir: tool_output_spill.subdir, isOurs: FileName.isOurs },
    { subdir: bash.spill_subdir, isOurs: FileName.isOurs },
    { subdir: http_client.spill_subdir, isOurs: ResponseFile.isOurs },
    { subdir: send_gif.subdir, isOurs: GifName.isOurs },
    { subdir: file_storage.incoming_temp_subdir, isOurs: UploadName.isOurs }
  ]
  const folders = new Map<string, TemporaryFolder["isOurs"]>()
  for (const { isOurs, subdir } of writers) {
    const folder = plain(subdir)
    // Uploads that are kept have the same names as those that are not.
    if (isOurs === UploadName.isOurs && folder === kept) continue
    const others = folders.get(folder)
    folders.set(folder, others === undefined ? isOurs : (name) => others(name) || isOurs(name))
  }
  return [...folders].map(([subdir, isOurs]) => ({ subdir, isOurs }))
}

/** Whether a file of a path below the managed files, with `/` between its names, is one that goes after a while. */
export const isTemporary = (settings: Pick<Settings["Service"], "tools">): ((path: string) => boolean) => {
  const folders = new Map(of(settings).map(({ isOurs, subdir }) => [subdir, isOurs]))
  return (path) => {
    const end = path.lastIndexOf("/")
    return folders.get(path.slice(0, Math.max(0, end)))?.(path.slice(end + 1)) ?? false
  }
}

/** The same folder in the same words. */
const plain = (folder: string): string =>
  folder
    .split("/")
    .filter((name) => name !== "" && name !== ".")
    .join("/")
