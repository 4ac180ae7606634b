/** What a file that came with a message is called among the managed files. Pure. */
import * as MediaType from "./MediaType.ts"

/** Letters of the name that are kept. */
const longest = 80

/**
 * A name that every system takes, that tells of the one it came with, and that no other file of any message has: `cameWith` is the
 * id of the message, and `index` the place of the file in it.
 */
export const make = (name: string, cameWith: string, index: number): string => {
  const last = name.split(/[/\\]/).at(-1) ?? ""
  const extension = plain(MediaType.extensionOf(last)).slice(0, 16)
  const stem = plain(last.slice(0, last.length - MediaType.extensionOf(last).length)).replace(/^[.-]+/, "")
  return `${stem.slice(0, longest) || "file"}-${cameWith.slice(-8)}${index === 0 ? "" : `-${index + 1}`}${extension}`
}

const plain = (text: string): string => text.normalize("NFC").replace(/[^A-Za-z0-9._-]+/g, "_")
