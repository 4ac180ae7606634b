/** Whether the entries of an archive may become files. By the same rules on every system: an archive is made once and used anywhere. */
import { ArchiveError } from "./Archives.ts"
import type { Limits, Reason } from "./Archives.ts"

/** What an archive says of an entry. `size` in bytes, as declared. */
export interface Head {
  readonly name: string
  readonly kind: "file" | "folder" | "link" | "special"
  readonly size: number
}

export interface Judgement {
  /** Why this entry, after those before it, is refused; `undefined` where it is not. */
  readonly of: (head: Head) => ArchiveError | undefined
  /** How many bytes more may come. */
  readonly left: () => number
  /** So many came, whatever was declared. */
  readonly came: (bytes: number) => void
}

/** For one archive. */
export const begin = ({ maxBytes, maxEntries }: Limits): Judgement => {
  /** By the name as file systems compare it that know neither case nor forms of Unicode. */
  const seen = new Map<string, "file" | "folder">()
  let count = 0
  let declared = 0
  let unpacked = 0

  const placeIn = (name: string, kind: "file" | "folder"): ArchiveError | undefined => {
    const names = comparable(name).split("/")
    for (let length = 1; length < names.length; length++) {
      const folder = names.slice(0, length).join("/")
      if (seen.get(folder) === "file") return refuse("duplicate_name", name, "lies below a file of the same archive")
      seen.set(folder, "folder")
    }
    const key = names.join("/")
    const other = seen.get(key)
    if (other !== undefined && (other === "file" || kind === "file")) {
      return refuse("duplicate_name", name, "has the name of another, apart from case or accents at most")
    }
    seen.set(key, kind)
    return undefined
  }

  return {
    of: ({ kind, name, size }) => {
      count++
      if (!(count <= maxEntries)) return refuse("too_many_entries", null, `has more than ${maxEntries} entries`)
      const path = kind === "folder" ? name.replace(/\/$/, "") : name
      const problem = problemOf(path)
      if (problem !== undefined) return refuse("unsafe_name", name, problem)
      if (kind === "link") return refuse("link", name, "is a link, which may lead anywhere")
      if (kind === "special") return refuse("special_file", name, "is neither a file nor a folder")
      if (kind === "folder" && size !== 0) return refuse("damaged", name, "is a folder that has a content")
      declared += size
      if (!(declared <= maxBytes)) return refuse("too_large", null, `unpacks to more than ${maxBytes} bytes`)
      return placeIn(path, kind)
    },
    left: () => maxBytes - unpacked,
    came: (bytes) => {
      unpacked += bytes
    }
  }
}

export const refuse = (reason: Reason, entry: string | null, detail: string): ArchiveError =>
  new ArchiveError({ reason, entry, detail })

const utf8 = new TextEncoder()

const longestName = 255
const longestPath = 1000
const deepest = 32

/** What is wrong with a path for some system or other. */
const problemOf = (path: string): string | undefined => {
  if (path === "") return "has no name"
  if (path.length > longestPath) return `has a name longer than ${longestPath} characters`
  if (!path.isWellFormed() || /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(path))
    return "has characters in its name that nobody sees"
  if (path.startsWith("/") || /^[a-z]:/i.test(path)) return "has an absolute name"
  if (/[\\:*?"<>|]/.test(path))
    return "has a character in its name that some systems do not take, or take for a separator"
  const names = path.split("/")
  if (names.length > deepest) return `lies more than ${deepest} folders deep`
  if (names.includes("..")) return "leads out of the folder it is unpacked in"
  if (names.some((name) => name === "" || name === ".")) return "has an empty part in its name"
  if (names.some((name) => utf8.encode(name).length > longestName))
    return `has a part of more than ${longestName} bytes in its name`
  if (names.some((name) => /[. ]$/.test(name)))
    return "has a part that ends in a dot or a blank, which some systems drop"
  return names.some((name) => devices.test(name)) ? "has the name of a device of some systems" : undefined
}

const devices = /^(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³])\s*(\..*)?$/i

const comparable = (path: string): string => path.normalize("NFKC").toUpperCase().toLowerCase().normalize("NFKC")
