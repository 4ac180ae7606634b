/** What a file that came with a message is called among the managed files. Pure. */
import * as MediaType from "./MediaType.ts"

/** Letters of the name that are kept. */
const longest = 80

/** What of the id of a message is random, all of it: fewer letters could be a date or a word that a person chose. */
const randomLength = 16

/**
 * A name that every system takes, that tells of the one it came with, and that no other file of any message has: `cameWith` is the
 * id of the message, and `index` the place of the file in it.
 */
export const make = (name: string, cameWith: string, index: number): string => {
  const last = name.split(/[/\\]/).at(-1) ?? ""
  const extension = plain(MediaType.extensionOf(last)).slice(0, 16)
  const stem = plain(last.slice(0, last.length - MediaType.extensionOf(last).length)).replace(/^[.-]+/, "")
  return `${stem.slice(0, longest) || "file"}-${cameWith.slice(-randomLength)}${index === 0 ? "" : `-${index + 1}`}${extension}`
}

/** Whether it is a name of these; a person's own file beside them is none. */
export const isOurs = (name: string): boolean => ours.test(name)

const ours = new RegExp(`^[A-Za-z0-9._-]+-[0-9a-hjkmnp-tv-z]{${randomLength}}(?:-\\d+)?(?:\\.[A-Za-z0-9._-]*)?$`)

const plain = (text: string): string => text.normalize("NFC").replace(/[^A-Za-z0-9._-]+/g, "_")
