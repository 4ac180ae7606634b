/** What becomes of a request that is redirected. Pure. */
import type { Method } from "./Outbound.ts"

export interface Sent {
  readonly method: Method
  readonly url: URL
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>
  readonly body: string | Uint8Array | undefined
}

/** Where a response with this status and `location` leads: undefined when it is no redirection, null when nobody can follow it. */
export const target = (status: number, location: string | undefined, from: URL): URL | null | undefined => {
  if (!statuses.has(status) || location === undefined) return undefined
  const to = URL.parse(location, from)
  return to !== null && (to.protocol === "http:" || to.protocol === "https:") ? to : null
}

/** The request to make there. Another origin gets neither credentials nor any header that might be one. */
export const follow = (sent: Sent, status: number, url: URL): Sent => {
  const asGet = status === 303 ? sent.method !== "HEAD" : (status === 301 || status === 302) && sent.method === "POST"
  const kept = Array.from(sent.headers).filter(
    ([name]) => (url.origin === sent.url.origin || harmless.has(name)) && !(asGet && aboutBody.test(name))
  )
  return asGet
    ? { method: "GET", url, headers: new Map(kept), body: undefined }
    : { ...sent, url, headers: new Map(kept) }
}

const statuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])
const aboutBody = /^content-/
/** A header that is not known may hold a key. */
const harmless: ReadonlySet<string> = new Set([
  "accept",
  "accept-encoding",
  "accept-language",
  "cache-control",
  "content-language",
  "content-type",
  "range",
  "user-agent"
])
