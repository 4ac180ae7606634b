/** The protocols of searches: how one is asked, and what its answer says. Pure. */
import * as Schema from "effect/Schema"
import type { Gif, Rendition } from "./GifSearch.ts"

export type Rating = "g" | "pg" | "pg-13" | "r"

export interface Provider {
  /** Where its own server is. */
  readonly address: string
  readonly path: string
  /** The name of the parameter with the key. */
  readonly key: string
  readonly parameters: (words: string, most: number, rating: Rating) => Readonly<Record<string, string>>
  /** Undefined for what is no answer of its protocol. */
  readonly read: (text: string) => ReadonlyArray<Gif> | undefined
}

/** Sizes are texts there. Whatever else there is of a picture is left alone. */
const GiphyImage = Schema.Struct({
  url: Schema.optionalKey(Schema.String),
  size: Schema.optionalKey(Schema.Union([Schema.Finite, Schema.FiniteFromString]))
})
const GiphyReply = Schema.Struct({
  data: Schema.Array(
    Schema.Struct({
      id: Schema.String,
      title: Schema.optionalKey(Schema.String),
      url: Schema.optionalKey(Schema.String),
      images: Schema.Struct({
        original: Schema.optionalKey(GiphyImage),
        downsized: Schema.optionalKey(GiphyImage),
        fixed_height: Schema.optionalKey(GiphyImage),
        fixed_height_small: Schema.optionalKey(GiphyImage)
      })
    })
  )
})
const decodeGiphy = Schema.decodeUnknownOption(Schema.fromJsonString(GiphyReply))

const giphy: Provider = {
  address: "https://api.giphy.com",
  path: "/v1/gifs/search",
  key: "api_key",
  // It takes no more than fifty characters.
  parameters: (words, most, rating) => ({ q: words.slice(0, 50), limit: String(most), offset: "0", rating }),
  read: (text) => {
    const reply = decodeGiphy(text)
    if (reply._tag === "None") return undefined
    return reply.value.data.map(({ id, images, title = "", url }) => ({
      id,
      title,
      page: url ?? null,
      renditions: [images.original, images.downsized, images.fixed_height, images.fixed_height_small].flatMap((image) =>
        renditionOf(image?.url, image?.size)
      )
    }))
  }
}

const TenorMedia = Schema.Struct({
  url: Schema.String,
  size: Schema.optionalKey(Schema.Finite)
})
const TenorReply = Schema.Struct({
  results: Schema.Array(
    Schema.Struct({
      id: Schema.String,
      title: Schema.optionalKey(Schema.String),
      content_description: Schema.optionalKey(Schema.String),
      itemurl: Schema.optionalKey(Schema.String),
      media_formats: Schema.Struct({
        gif: Schema.optionalKey(TenorMedia),
        mediumgif: Schema.optionalKey(TenorMedia),
        tinygif: Schema.optionalKey(TenorMedia)
      })
    })
  )
})
const decodeTenor = Schema.decodeUnknownOption(Schema.fromJsonString(TenorReply))

/** Its words for the same: high lets through what is fit for everybody, and so on. */
const contentFilter: Readonly<Record<Rating, string>> = { g: "high", pg: "medium", "pg-13": "low", r: "off" }

const tenor: Provider = {
  address: "https://tenor.googleapis.com",
  path: "/v2/search",
  key: "key",
  parameters: (words, most, rating) => ({
    q: words,
    limit: String(most),
    contentfilter: contentFilter[rating],
    media_filter: "gif,mediumgif,tinygif"
  }),
  read: (text) => {
    const reply = decodeTenor(text)
    if (reply._tag === "None") return undefined
    return reply.value.results.map(({ content_description, id, itemurl, media_formats: media, title = "" }) => ({
      id,
      title: title === "" ? (content_description ?? "") : title,
      page: itemurl ?? null,
      renditions: [media.gif, media.mediumgif, media.tinygif].flatMap((one) => renditionOf(one?.url, one?.size))
    }))
  }
}

const renditionOf = (url: string | undefined, bytes: number | undefined): ReadonlyArray<Rendition> =>
  url === undefined || url === "" ? [] : [{ url, bytes }]

export const providers = { giphy, tenor } as const
