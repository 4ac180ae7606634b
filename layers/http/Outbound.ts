/** The way out, over undici: each request has a connection of its own, which was judged and is closed with it. */
import type * as Net from "node:net"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Dns from "effect/net/Dns"
import type * as NetAddress from "effect/net/NetAddress"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as AwakeTime from "../../src/AwakeTime.ts"
import { Settings } from "../../src/config/Settings.ts"
import * as HostPattern from "../../src/http/HostPattern.ts"
import * as Outbound from "../../src/http/Outbound.ts"
import * as OutboundMetrics from "../../src/http/OutboundMetrics.ts"
import * as Reach from "../../src/http/Reach.ts"
import * as Redirect from "../../src/http/Redirect.ts"
import { KnownSecrets } from "../../src/secret/KnownSecrets.ts"
import { Grants } from "../../src/tool/Capability.ts"
import * as Body from "./Body.ts"
import * as Credentials from "./Credentials.ts"
import * as Decompression from "./Decompression.ts"
import * as Exchange from "./Exchange.ts"
import * as Proxy from "./Proxy.ts"
import * as Requests from "./Requests.ts"
import * as Sockets from "./Sockets.ts"

export const layer: Layer.Layer<Outbound.Outbound, never, Settings | KnownSecrets | Dns.Dns> = Layer.effect(
  Outbound.Outbound,
  Effect.gen(function* () {
    const { outbound } = yield* Settings
    const secrets = yield* KnownSecrets
    const dns = yield* Dns.Dns
    const policy: Reach.Policy = {
      allowPrivate: outbound.allow_private,
      privateHosts: HostPattern.parseAll(outbound.private_hosts),
      allowedHosts: HostPattern.parseAll(outbound.allowed_hosts),
      deniedHosts: HostPattern.parseAll(outbound.denied_hosts)
    }
    const proxy = Proxy.fromSettings(outbound)

    return Outbound.Outbound.of({
      send: sender({ dns, secrets, proxy, policy }).send,
      to: (service) => sender({ dns, secrets, proxy, policy: policyFor(service, policy), service })
    })
  })
)

interface Surroundings {
  readonly dns: Dns.Dns["Service"]
  readonly secrets: KnownSecrets["Service"]
  readonly proxy: Proxy.Proxy | undefined
  readonly policy: Reach.Policy
  readonly service?: Outbound.Service
}

const sender = ({ dns, policy, proxy, secrets, service }: Surroundings): Outbound.OutboundShape => {
  /** The addresses of a host that may be connected to: at least one. */
  const resolve = Effect.fnUntraced(function* (destination: HostPattern.Destination, wait: Waiting) {
    const { host } = destination
    const literal = HostPattern.addressOf(host)
    const refusal = literal === undefined ? Reach.refusesName(policy, destination) : undefined
    if (refusal !== undefined) return yield* refused(host, refusal)
    const found =
      literal === undefined
        ? yield* wait.connecting(
            Effect.mapError(dns.lookup(host), ({ reason }) => failure(host, "unresolvable", reason))
          )
        : [literal]
    const judged = found.map((address) => ({ address, refusal: Reach.refusesAddress(policy, destination, address) }))
    const allowed = judged.flatMap(({ address, refusal }) => (refusal === undefined ? [address] : []))
    const [first] = judged
    return allowed.length > 0 || first?.refusal === undefined ? allowed : yield* refused(host, first.refusal)
  })

  const direct = Effect.fnUntraced(function* (destination: HostPattern.Destination, wait: Waiting) {
    const addresses = yield* resolve(destination, wait)
    return yield* connect(addresses, destination, "connection_failed", wait)
  })

  /** A connection to the host of the address, or to the proxy, and how the request is to name its path. */
  const open = Effect.fnUntraced(function* (url: URL, wait: Waiting) {
    const destination = { host: HostPattern.hostOf(url), port: portOf(url) }
    const secure = url.protocol === "https:"
    const path = `${url.pathname}${url.search}`
    const via = proxy === undefined || proxy.passes(destination) ? undefined : proxy
    const socket =
      via === undefined ? yield* direct(destination, wait) : yield* throughProxy(via, destination, secure, wait)
    const { host } = destination
    if (!secure) return { socket, path: via === undefined ? path : `${url.origin}${path}`, headers: via?.headers ?? {} }
    const secured = yield* wait.connecting(
      Effect.mapError(Sockets.tls(socket, host), ({ cause }) => failure(host, "tls_failed", cause))
    )
    return { socket: secured, path, headers: {} }
  })

  const throughProxy = Effect.fnUntraced(function* (
    via: Proxy.Proxy,
    destination: HostPattern.Destination,
    secure: boolean,
    wait: Waiting
  ) {
    const { host, port } = destination
    const literal = HostPattern.addressOf(host)
    const refusal =
      literal === undefined
        ? Reach.refusesUnresolved(policy, destination)
        : Reach.refusesAddress(policy, destination, literal)
    if (refusal !== undefined) return yield* refused(host, refusal)
    return yield* Proxy.open(via, dns, secure ? { host, port } : undefined).pipe(
      Effect.mapError((detail) => failure(host, "proxy_failed", detail)),
      wait.connecting
    )
  })

  /** One request and the head of its response. Closes with the scope. */
  const once = Effect.fnUntraced(function* (sent: Redirect.Sent, credentials: Credentials.Credentials, wait: Waiting) {
    const host = HostPattern.hostOf(sent.url)
    yield* Effect.annotateCurrentSpan({ "server.address": host })
    const { headers, path, socket } = yield* open(sent.url, wait)
    const own = Credentials.headers(credentials, sent.url)
    const request = { ...sent, headers: new Map([...sent.headers, ...own, ...Object.entries(headers)]) }
    return yield* Exchange.exchange(socket, request, path).pipe(
      Effect.mapError((reason) => failure(host, reason)),
      wait.idle
    )
  })

  const follow = Effect.fnUntraced(function* (
    sent: Redirect.Sent,
    options: Following,
    wait: Waiting,
    left: number
  ): Effect.fn.Return<
    { readonly sent: Redirect.Sent; readonly head: Exchange.Head },
    Outbound.OutboundError,
    Scope.Scope
  > {
    const { credentials = [], mayFollow, most } = options
    const host = HostPattern.hostOf(sent.url)
    const head = yield* once(sent, credentials, wait)
    const to = most === 0 ? undefined : Redirect.target(head.status, Outbound.header(head, "location"), sent.url)
    if (to === undefined) return { sent, head }
    head.body.destroy()
    if (to === null) return yield* failure(host, "invalid_redirect")
    if (left === 0) return yield* failure(host, "too_many_redirects")
    const next = Redirect.follow(sent, head.status, to)
    yield* Requests.check(next, secrets)
    if (mayFollow !== undefined && !(yield* mayFollow({ method: next.method, url: next.url.href }))) {
      return yield* failure(HostPattern.hostOf(next.url), "redirect_not_allowed")
    }
    return yield* follow(next, options, wait, left - 1)
  })

  const send = Effect.fn("Outbound.send")(
    function* (request: Outbound.Request) {
      yield* OutboundMetrics.requested
      yield* Effect.annotateCurrentSpan({ "http.request.method": request.method })
      const first = yield* Effect.flatMap(Requests.read(request, secrets, service), signed)
      const unfit = Credentials.refusal(request.credentials ?? [], first.url)
      if (unfit !== undefined) return yield* failure(HostPattern.hostOf(first.url), unfit)
      // A service is where the settings say; where it would send its callers to, nobody has said.
      const most = service === undefined ? (request.maxRedirects ?? 0) : 0
      const wait = yield* waitingFor(request.limits, HostPattern.hostOf(first.url))
      const [took, { head, sent }] = yield* Effect.timed(
        follow(first, { credentials: request.credentials, mayFollow: request.mayFollow, most }, wait, most)
      )
      yield* OutboundMetrics.answered(took)
      yield* Effect.annotateCurrentSpan({ "http.response.status_code": head.status })
      const host = HostPattern.hostOf(sent.url)
      const decompressed = yield* Decompression.decompress(head.body, encodingOf(sent, head)).pipe(
        Effect.mapError((reason) => failure(host, reason)),
        wait.idle
      )
      return {
        status: head.status,
        url: service === undefined ? sent.url.href : request.url,
        // Some servers, and all that help testing, send back what they were sent.
        headers: head.headers.map(([name, value]) => [name, secrets.text(value)] as const),
        body: Body.masked(
          Body.stream(decompressed, {
            limit: request.limits.body,
            fail: (reason) => failure(host, reason),
            waiting: wait.idle
          }),
          secrets.bytes
        )
      }
    },
    Effect.tapError(({ reason }) => OutboundMetrics.failed(reason))
  )

  /** With what the service knows its caller by, once the rest has been judged. */
  const signed = Effect.fnUntraced(function* (sent: Redirect.Sent) {
    if (service === undefined) return sent
    if (sent.url.origin !== URL.parse(service.address)?.origin) {
      return yield* failure(HostPattern.hostOf(sent.url), "denied_host", "the settings name another address")
    }
    const url = new URL(sent.url)
    for (const [name, value] of Object.entries(service.query ?? {})) url.searchParams.set(name, Redacted.value(value))
    const own = Object.entries(service.headers ?? {}).map(
      ([name, value]) => [name.toLowerCase(), Redacted.value(value)] as const
    )
    return { ...sent, url, headers: new Map([...sent.headers, ...own]) }
  })

  return { send }
}

/** The address of a service may be private, and need not be among those that tools may reach; what is denied stays denied. */
const policyFor = ({ address }: Outbound.Service, { deniedHosts }: Reach.Policy): Reach.Policy => {
  const url = URL.parse(address)
  const host = url === null ? "" : HostPattern.hostOf(url)
  const at = url === null ? [] : [`${host.includes(":") ? `[${host}]` : host}:${portOf(url)}`]
  return { allowPrivate: false, privateHosts: HostPattern.parseAll(at), allowedHosts: [], deniedHosts }
}

/** Lets every turn reach the network; which tools of it may is for their declarations. */
export const grant: Layer.Layer<never, never, Outbound.Outbound | Grants> = Layer.effectDiscard(
  Effect.gen(function* () {
    const outbound = yield* Outbound.Outbound
    yield* (yield* Grants).register(Outbound.Network, () => Effect.succeed({ send: outbound.send }))
  })
)

// ---------------------------------------------------------------------------------------------------------------------
// Helpers

type Failing<A, R> = Effect.Effect<A, Outbound.OutboundError, R>

/** Waits within the limits of a request. */
interface Waiting {
  readonly connecting: <A, R>(effect: Failing<A, R>) => Failing<A, R>
  readonly idle: <A, R>(effect: Failing<A, R>) => Failing<A, R>
}

/** The total time begins here. */
const waitingFor = Effect.fnUntraced(function* (limits: Outbound.Limits, host: string) {
  const expired = yield* Deferred.make<never, Outbound.OutboundError>()
  const late = (time: Duration.Duration, what: string) =>
    failure(host, "timeout", `${what} may take ${Duration.toSeconds(time)} seconds`)
  yield* AwakeTime.sleep(limits.total).pipe(
    Effect.andThen(Deferred.fail(expired, late(limits.total, "the whole"))),
    Effect.forkScoped
  )
  const within =
    (time: Duration.Duration, what: string): Waiting["idle"] =>
    (effect) =>
      AwakeTime.timeoutOrElse({ duration: time, orElse: () => Effect.fail(late(time, what)) })(
        Effect.raceFirst(effect, Deferred.await(expired))
      )
  return {
    connecting: within(limits.connect, "each step of connecting"),
    idle: within(limits.idle, "each step of the response")
  }
})

const connect = (
  addresses: ReadonlyArray<NetAddress.IpAddress>,
  { host, port }: HostPattern.Destination,
  reason: Outbound.Reason,
  wait: Waiting
): Failing<Net.Socket, Scope.Scope> =>
  wait.connecting(Effect.mapError(Sockets.tcp(addresses, port), ({ cause }) => failure(host, reason, cause)))

interface Following {
  readonly credentials?: Credentials.Credentials | undefined
  readonly mayFollow: Outbound.Request["mayFollow"]
  readonly most: number
}

const failure = (host: string, reason: Outbound.Reason, detail?: string): Outbound.OutboundError =>
  new Outbound.OutboundError({ host, reason, ...(detail === undefined ? {} : { detail }) })

const refused = (host: string, { detail, reason }: Reach.Refusal): Effect.Effect<never, Outbound.OutboundError> =>
  Effect.fail(failure(host, reason, detail))

const portOf = ({ port, protocol }: URL): number => (port === "" ? (protocol === "https:" ? 443 : 80) : Number(port))

/** Responses that have no body say nothing of how it is compressed. */
const encodingOf = ({ method }: Redirect.Sent, head: Exchange.Head): string | undefined =>
  method === "HEAD" || head.status === 204 || head.status === 304
    ? undefined
    : Outbound.header(head, "content-encoding")
