/**
 * Looking for animated pictures with the search of `[tools.send_gif]`. What the search says is a stranger's word: addresses are
 * reached as any that a model names, and what comes back is judged by its content.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Capability from "../tool/Capability.ts"

/** One size of a picture. `bytes` where the search says. */
export interface Rendition {
  readonly url: string
  readonly bytes: number | undefined
}

/** A picture that was found: `renditions` from the largest to the smallest, `page` where people can look at it. */
export interface Gif {
  readonly id: string
  readonly title: string
  readonly page: string | null
  readonly renditions: ReadonlyArray<Rendition>
}

export interface Picture {
  readonly url: string
  readonly content: Uint8Array
  readonly width: number
  readonly height: number
}

export const Reason = Schema.Literals([
  "not_configured",
  "no_result",
  "unreachable",
  "timeout",
  "unauthorized",
  "rate_limited",
  "search_failed",
  "invalid_reply",
  "too_large",
  "not_a_gif"
])
export type Reason = typeof Reason.Type

/** Reason → what it means, and what to do. */
const explanations: Readonly<Record<Reason, string>> = {
  not_configured: "no search is configured; a person can name one in [tools.send_gif].provider",
  no_result: "the search found no such picture; other words may",
  unreachable: "the search or its picture could not be reached",
  timeout: "it took longer than [tools.send_gif].timeout_seconds",
  unauthorized: "the search does not accept the key in [tools.send_gif].api_key",
  rate_limited: "the search takes no more requests for now; try again later",
  search_failed: "the search failed",
  invalid_reply: "what the search answered is no list of pictures",
  too_large: "the picture is larger than [tools.send_gif].max_bytes",
  not_a_gif: "what the search called a picture is no GIF"
}

/** Code → what it means, for the catalogue of tools. */
export const meanings: Readonly<Record<string, string>> = Object.fromEntries(
  Reason.literals.map((reason) => [`gif:${reason}`, explanations[reason]])
)

/** No picture. Neither the words that were looked for nor the key are in it. */
export class GifError extends Schema.TaggedError<GifError>()("GifError", {
  reason: Reason,
  detail: Schema.optionalKey(Schema.String)
}) {
  /** Stable error code, `subsystem:reason`. */
  get code(): string {
    return `gif:${this.reason}`
  }
  override get message(): string {
    const more = this.detail === undefined ? "" : ` (${this.detail})`
    return `No GIF was sent: ${explanations[this.reason]}${more}.`
  }
}

export interface GifSearchShape {
  /** The pictures for these words, best first: at most `most`. At least one. */
  readonly find: (words: string, most: number) => Effect.Effect<ReadonlyArray<Gif>, GifError>
  /** Its largest rendition that may be taken, whole, in memory. */
  readonly fetch: (gif: Gif) => Effect.Effect<Picture, GifError>
}

export class GifSearch extends Context.Service<GifSearch, GifSearchShape>()("troupe/gif/GifSearch") {}

/** The capability to look for animated pictures. */
export class Gifs extends Capability.Service<Gifs, GifSearchShape>()("Gifs") {}
