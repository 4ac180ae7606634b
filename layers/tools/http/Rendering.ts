/** What a model reads of a body. */
import type { SettingsValue } from "../../../src/config/Settings.ts"
import * as Charset from "../../../src/http/Charset.ts"
import * as Compact from "../../../src/http/html/Compact.ts"
import * as PlainText from "../../../src/http/html/PlainText.ts"
import * as Outbound from "../../../src/http/Outbound.ts"
import type { HttpRequest } from "../../../src/tools/http/HttpRequest.ts"
import * as Html from "../../http/Html.ts"

type Settings = SettingsValue["tools"]["http_client"]

export type Kind = "page" | "json" | "text" | "binary"

export interface Rendered {
  readonly text: string
  /** Whether bytes that were sent had no part in it. */
  readonly truncated: boolean
  readonly processor: (typeof HttpRequest.success.Type)["processor_used"]
}

/** What a body is, by its type; without one, by its first bytes. */
export const kindOf = (contentType: string | undefined, bytes: Uint8Array): Kind => {
  const type = (contentType ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? ""
  if (/^(text\/html|application\/xhtml\+xml)$/.test(type)) return "page"
  if (/[/+]json$/.test(type)) return "json"
  if (
    /^text\/|^application\/(.*\+)?(xml|javascript|ecmascript|yaml|toml|x-www-form-urlencoded|x-ndjson|sql)$/.test(type)
  ) {
    return "text"
  }
  if (/^(image|audio|video|font)\//.test(type) || looksBinary(bytes)) return "binary"
  return type === "" && /^\s*<(!doctype html|html)[\s>]/i.test(Charset.decode(bytes.subarray(0, 512), undefined, true))
    ? "page"
    : "text"
}

/** `more`: the body goes on behind these bytes. */
export const render = (
  read: Outbound.Read,
  kind: Kind,
  contentType: string | undefined,
  settings: Settings,
  mostChars: number
): Rendered => {
  const mode = settings.response_processing_mode
  const isPage = kind === "page" && mode !== "none"
  const most = isPage ? settings.max_parse_bytes : settings.max_bytes
  const taken = read.bytes.subarray(0, most)
  const truncated = read.truncated || taken.length < read.bytes.length
  if (kind === "binary") return { text: "", truncated, processor: "none" }
  const decoded = Charset.decode(taken, contentType, kind === "page")
  if (isPage && mode !== "text") {
    return { text: Compact.render(Html.parse(decoded), mostChars), truncated, processor: "compact" }
  }
  if (isPage) {
    const text = PlainText.render(Html.parse(decoded))
    return { text: settings.normalize_whitespace ? normalized(text) : text, truncated, processor: "text" }
  }
  if (kind === "json") return { text: decoded, truncated, processor: "json" }
  const normalizes = settings.normalize_whitespace && mode !== "none"
  return { text: normalizes ? normalized(decoded) : decoded, truncated, processor: normalizes ? "whitespace" : "none" }
}

/** Runs of spaces become one, spaces around lines go, and no more than one empty line stays. */
const normalized = (text: string): string =>
  text
    .replace(/\r\n?/g, "\n")
    .split("\n")
    .map((line) => line.replace(/\s+/g, " ").trim())
    .join("\n")
    .replace(/\n{3,}/g, "\n\n")
    .trim()

const looksBinary = (bytes: Uint8Array): boolean => {
  const utf16 = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)
  return !utf16 && bytes.subarray(0, 4096).includes(0)
}
