/** The file that a long response is kept in. */
import * as Effect from "effect/Effect"
import * as Digest from "effect/crypto/Digest"
import * as FileName from "../spill/FileName.ts"

/** `<host>-<last part of the path>-<8 hexadecimal digits of the address>-<random>`, with the ending of its type. */
export const name = Effect.fnUntraced(function* (address: string, contentType: string | undefined) {
  const url = new URL(address)
  const digest = yield* Digest.Digest
  const hash = (yield* digest.digestHex(Digest.sha256, new TextEncoder().encode(address))).slice(0, 8)
  const last = url.pathname.split("/").findLast((part) => part !== "") ?? ""
  const parts = [url.hostname, last.replace(/\.[^.]*$/, "")].map(plain).filter((part) => part !== "")
  return `${[...parts, hash, yield* FileName.random].join("-")}.${endingOf(contentType, last)}`
})

/** Whether it is a name of these. */
export const isOurs = (name: string): boolean => ours.test(name)

const ours = new RegExp(`^(?:[A-Za-z0-9._-]+-)?[0-9a-f]{8}-${FileName.randomPattern}\\.[a-z0-9]{1,8}$`)

const longestPart = 60
const plain = (part: string): string =>
  part
    .replace(/[^A-Za-z0-9._-]+/g, "_")
    .replace(/^[._-]+|[._-]+$/g, "")
    .slice(0, longestPart)

const endingOf = (contentType: string | undefined, last: string): string => {
  const type = (contentType ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? ""
  const known = endings.get(type)
  if (known !== undefined) return known
  if (/[/+]json$/.test(type)) return "json"
  if (/[/+]xml$/.test(type)) return "xml"
  return /\.([A-Za-z0-9]{1,8})$/.exec(last)?.[1]?.toLowerCase() ?? (type.startsWith("text/") ? "txt" : "bin")
}

const endings: ReadonlyMap<string, string> = new Map([
  ["text/html", "html"],
  ["application/xhtml+xml", "html"],
  ["text/css", "css"],
  ["text/csv", "csv"],
  ["text/markdown", "md"],
  ["text/plain", "txt"],
  ["text/javascript", "js"],
  ["application/javascript", "js"],
  ["application/pdf", "pdf"],
  ["application/zip", "zip"],
  ["application/gzip", "gz"],
  ["image/png", "png"],
  ["image/jpeg", "jpg"],
  ["image/gif", "gif"],
  ["image/webp", "webp"],
  ["image/svg+xml", "svg"],
  ["audio/mpeg", "mp3"],
  ["video/mp4", "mp4"]
])
