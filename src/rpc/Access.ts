/**
 * Who may talk to the server, as far as addresses tell. A page in a browser on this machine can reach a local port, so
 * being local proves nothing: what counts is the name it was reached by and the page that sent the request.
 */

export interface Rules {
  /** `[http].host`. */
  readonly host: string
  /** The port that is listened on. */
  readonly port: number
  /** `[http].allowed_origins`. */
  readonly allowedOrigins: ReadonlyArray<string>
}

export interface Headers {
  readonly host: string | undefined
  readonly origin: string | undefined
  /** `Sec-Fetch-Site`, which browsers set and pages cannot. */
  readonly fetchSite: string | undefined
}

export type Verdict =
  | { readonly _tag: "Allowed"; /** An allowed origin other than the server's own. */ readonly origin?: string }
  | { readonly _tag: "Refused"; readonly reason: string }

/** Judges a request before anything of it is read. */
export const judge = (rules: Rules, headers: Headers): Verdict => {
  if (headers.host === undefined) return refused("there is no Host header")
  const host = parseHost(headers.host)
  if (host === undefined || !isOwnHost(rules, host)) return refused("the Host header names another server")
  if (headers.origin === undefined) {
    // Old browsers leave Origin out of some requests; those that do say where the request comes from.
    return headers.fetchSite === undefined || ["same-origin", "none"].includes(headers.fetchSite.toLowerCase())
      ? { _tag: "Allowed" }
      : refused("the request comes from a page of another site")
  }
  const origin = normalOrigin(headers.origin)
  if (origin === undefined) return refused("the Origin header is not an address")
  if (rules.allowedOrigins.some((allowed) => normalOrigin(allowed) === origin)) return { _tag: "Allowed", origin }
  const own = [`http://${host.text}`, `https://${host.text}`].map(normalOrigin)
  return own.includes(origin) ? { _tag: "Allowed" } : refused("the Origin header names a page of another site")
}

/** Addresses that only this machine can reach. Names are not resolved: what they mean is up to the machine. */
const isLoopback = (host: string): boolean => host === "::1" || /^127(\.\d{1,3}){3}$/.test(host)

interface Host {
  /** Lower case, without brackets and port. */
  readonly name: string
  readonly port: number
  /** As it stands in an address: name and port, normalised. */
  readonly text: string
}

/**
 * A name must be one we go by: a foreign one may have been pointed at this machine by whoever owns it. An address in
 * figures cannot be pointed anywhere, but on loopback only loopback is us.
 */
const isOwnHost = (rules: Rules, host: Host): boolean => {
  const local = host.name === "localhost" || isLoopback(host.name)
  if (isLoopback(rules.host)) return (local && host.port === rules.port) || isAllowedHost(rules, host)
  return local || isAddress(host.name) || host.name === rules.host.toLowerCase() || isAllowedHost(rules, host)
}

/** Behind a proxy, the name is the one that the outside uses, which is listed as an origin. */
const isAllowedHost = (rules: Rules, host: Host): boolean =>
  rules.allowedOrigins.some((allowed) => {
    const url = parseUrl(allowed)
    return url !== undefined && url.host === parseUrl(`${url.protocol}//${host.text}`)?.host
  })

const parseHost = (text: string): Host | undefined => {
  if (!/^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:\d{1,5})?$/i.test(text)) return undefined
  const url = parseUrl(`http://${text}`)
  if (url === undefined) return undefined
  const port = url.port === "" ? 80 : Number(url.port)
  return { name: url.hostname.replace(/^\[|\]$/g, ""), port, text: url.host }
}

/** `null` and everything that is not plain http(s) has no normal form. */
const normalOrigin = (origin: string): string | undefined => {
  const url = parseUrl(origin.trim())
  if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:")) return undefined
  return url.pathname === "/" && url.search === "" && url.hash === "" && url.username === "" ? url.origin : undefined
}

const parseUrl = (text: string): URL | undefined => (URL.canParse(text) ? new URL(text) : undefined)

const isAddress = (name: string): boolean => /^\d{1,3}(\.\d{1,3}){3}$/.test(name) || name.includes(":")

const refused = (reason: string): Verdict => ({ _tag: "Refused", reason })
