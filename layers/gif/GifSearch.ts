/** The search of the settings, over the way out. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as ImageHeader from "../../src/attachment/ImageHeader.ts"
import { Settings } from "../../src/config/Settings.ts"
import type { SettingsValue } from "../../src/config/Settings.ts"
import * as GifMetrics from "../../src/gif/GifMetrics.ts"
import * as Contract from "../../src/gif/GifSearch.ts"
import * as Providers from "../../src/gif/Providers.ts"
import * as Outbound from "../../src/http/Outbound.ts"
import { Grants } from "../../src/tool/Capability.ts"

/** What a search answers of fifty pictures has about half of this. */
const largestReply = 2 * 1024 * 1024
const mostRedirects = 3

export const layer: Layer.Layer<Contract.GifSearch, never, Settings | Outbound.Outbound> = Layer.effect(
  Contract.GifSearch,
  Effect.gen(function* () {
    const { tools } = yield* Settings
    const outbound = yield* Outbound.Outbound
    const settings = tools.send_gif
    const provider = settings.provider === undefined ? undefined : Providers.providers[settings.provider]
    const limits = limitsOf(settings)
    const address = settings.base_url ?? provider?.address ?? ""
    const key = Redacted.value(settings.api_key)
    const search = outbound.to({
      address,
      query: provider === undefined || key === "" ? {} : { [provider.key]: settings.api_key }
    })
    /** Pictures that the search itself has: where it is on a private network, they are too. */
    const own = outbound.to({ address })

    const find = Effect.fnUntraced(function* (words: string, most: number) {
      if (provider === undefined) return yield* fail("not_configured")
      const url = new URL(`${address.replace(/\/+$/, "")}${provider.path}`)
      for (const [name, value] of Object.entries(provider.parameters(words, most, settings.rating))) {
        url.searchParams.set(name, value)
      }
      const request = { method: "GET", url: url.href, headers: { accept: "application/json" } } as const
      const response = yield* search.send({ ...request, limits: { ...limits, body: largestReply } })
      if (response.status !== 200) return yield* refusal(response.status)
      const { bytes } = yield* Outbound.readUpTo(response, largestReply)
      const found = provider.read(new TextDecoder().decode(bytes))
      if (found === undefined) return yield* fail("invalid_reply")
      const usable = found.filter(({ renditions }) => renditions.length > 0).slice(0, most)
      return usable.length === 0 ? yield* fail("no_result") : usable
    }, Effect.scoped)

    const fetch = Effect.fnUntraced(function* ({ renditions }: Contract.Gif) {
      const rendition = renditions.find(({ bytes }) => bytes === undefined || bytes <= settings.max_bytes)
      if (rendition === undefined) return yield* fail("too_large")
      const { url } = rendition
      const way = address !== "" && URL.parse(url)?.origin === URL.parse(address)?.origin ? own : outbound
      const response = yield* way.send({
        method: "GET",
        url,
        headers: { accept: "image/gif" },
        maxRedirects: mostRedirects,
        limits: { ...limits, body: Number.MAX_SAFE_INTEGER }
      })
      if (response.status !== 200) return yield* fail("unreachable", `status ${response.status} for the picture`)
      const { bytes: content, truncated } = yield* Outbound.readUpTo(response, settings.max_bytes)
      const header = ImageHeader.read(content)
      if (header?.mediaType !== "image/gif" || header.width === 0 || header.height === 0)
        return yield* fail("not_a_gif")
      return truncated ? yield* fail("too_large") : { url, content, width: header.width, height: header.height }
    }, Effect.scoped)

    return Contract.GifSearch.of({
      find: Effect.fn("GifSearch.find")(find, Effect.catchTag("OutboundError", ofOutbound), counting("find")),
      fetch: Effect.fn("GifSearch.fetch")(fetch, Effect.catchTag("OutboundError", ofOutbound), counting("fetch"))
    })
  })
)

/** Lets every turn look for pictures; which tools of it may is for their declarations. */
export const grant: Layer.Layer<never, never, Contract.GifSearch | Grants> = Layer.effectDiscard(
  Effect.gen(function* () {
    const search = yield* Contract.GifSearch
    yield* (yield* Grants).register(Contract.Gifs, () => Effect.succeed(search))
  })
)

// ---------------------------------------------------------------------------------------------------------------------
// Helpers

const limitsOf = ({ timeout_seconds: timeout }: SettingsValue["tools"]["send_gif"]) => ({
  connect: Duration.min(timeout, Duration.seconds(10)),
  idle: timeout,
  total: timeout
})

const counting =
  (what: "find" | "fetch") =>
  <A>(effect: Effect.Effect<A, Contract.GifError>): Effect.Effect<A, Contract.GifError> =>
    effect.pipe(
      Effect.tap(() => GifMetrics.counted(what, "ok")),
      Effect.tapError(({ reason }) => GifMetrics.counted(what, reason))
    )

const fail = (reason: Contract.Reason, detail?: string): Effect.Effect<never, Contract.GifError> =>
  Effect.fail(new Contract.GifError({ reason, ...(detail === undefined ? {} : { detail }) }))

/** What it says of its refusal is not told: the key may be in it. */
const refusal = (status: number) => {
  if (status === 401 || status === 403) return fail("unauthorized", `status ${status}`)
  return fail(status === 429 ? "rate_limited" : "search_failed", `status ${status}`)
}

const ofOutbound = (error: Outbound.OutboundError) => {
  if (error.reason === "timeout") return fail("timeout", error.message)
  return fail(unreadable.has(error.reason) ? "invalid_reply" : "unreachable", error.message)
}

const unreadable: ReadonlySet<Outbound.Reason> = new Set([
  "invalid_response",
  "headers_too_large",
  "body_too_large",
  "decompression_bomb",
  "unsupported_encoding",
  "invalid_encoding"
])
