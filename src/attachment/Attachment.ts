/**
 * Files that come with a message: judged before anything of them is written, since one that a provider refuses would be in every
 * later request as well. Pure.
 */
import * as Base64 from "effect/encoding/Base64"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as AudioFormat from "../audio/AudioFormat.ts"
import type { Settings } from "../config/Settings.ts"
import * as ImageHeader from "./ImageHeader.ts"

/** A file as it is handed in. `mediaType` is what the sender takes it for. */
export interface Given {
  readonly name: string
  readonly mediaType?: string
  readonly content: Uint8Array
}

/** A file that may come with a message. `mediaType` is what its content says; images have their size in pixels, recordings their length where it is known. */
export const Judged = Schema.Struct({
  name: Schema.String,
  mediaType: Schema.String,
  width: Schema.optionalKey(Schema.Int),
  height: Schema.optionalKey(Schema.Int),
  seconds: Schema.optionalKey(Schema.Finite),
  content: Schema.Uint8Array
})
export type Judged = typeof Judged.Type

/** The settings of `[attachments]`. `encoded`: as base64, in which files are sent to models. */
export interface Limits {
  readonly max_per_message: number
  readonly max_encoded_bytes: number
  readonly max_total_encoded_bytes: number
  readonly max_image_side: number
  /** Whether recordings may come: where something can be done with them, though no model is shown them. */
  readonly recordings?: boolean
}

/** The limits of an installation. */
export const limitsOf = ({ attachments, tools }: Pick<Settings["Service"], "attachments" | "tools">): Limits => ({
  ...attachments,
  recordings: tools.file_storage.enabled && tools.audio_transcription.enabled
})

const Reason = Schema.Literals([
  "not-base64",
  "too-many",
  "empty",
  "too-large",
  "too-large-together",
  "not-what-it-says",
  "unsupported",
  "no-size",
  "too-many-pixels",
  "animated",
  "remote"
])
export type Reason = typeof Reason.Type

/** A file cannot come with a message; nothing of the message was accepted. `index` counts from 0. */
export class AttachmentRefused extends Schema.TaggedError<AttachmentRefused>()("AttachmentRefused", {
  index: Schema.Int,
  reason: Reason,
  detail: Schema.String
}) {
  /** Stable error code, `subsystem:reason`. */
  get code(): string {
    return `attachment:${this.reason}`
  }
  override get message(): string {
    return `attachments[${this.index}]: ${this.detail}`
  }
}

/** Bytes of so many bytes in base64. */
export const encodedSize = (bytes: number): number => 4 * Math.ceil(bytes / 3)

/** A file whose content is in base64. */
export interface Encoded extends Omit<Given, "content"> {
  readonly data: string
}

/** The same as `judge`, of files in base64. */
export const judgeEncoded = (
  given: ReadonlyArray<Encoded>,
  limits: Limits
): Result.Result<ReadonlyArray<Judged>, AttachmentRefused> => {
  const decoded: Array<Given> = []
  for (const [index, { data, ...file }] of given.entries()) {
    const content = Base64.decode(data)
    if (Result.isFailure(content)) {
      const detail = "Expected its content in base64; found something else."
      return Result.fail(new AttachmentRefused({ index, reason: "not-base64", detail }))
    }
    decoded.push({ ...file, content: content.success })
  }
  return judge(decoded, limits)
}

/** All of them, or the first that cannot come. */
export const judge = (
  given: ReadonlyArray<Given>,
  limits: Limits
): Result.Result<ReadonlyArray<Judged>, AttachmentRefused> => {
  const refuse = (index: number, reason: Reason, detail: string) =>
    Result.fail(new AttachmentRefused({ index, reason, detail }))
  if (given.length > limits.max_per_message) {
    return refuse(limits.max_per_message, "too-many", `Expected at most ${limits.max_per_message} with one message.`)
  }
  let total = 0
  const judged: Array<Judged> = []
  for (const [index, file] of given.entries()) {
    total += encodedSize(file.content.length)
    const found = judgeOne(file, limits)
    if (Result.isFailure(found)) return refuse(index, ...found.failure)
    if (total > limits.max_total_encoded_bytes) return refuse(index, "too-large-together", together(limits))
    judged.push(found.success)
  }
  return Result.succeed(judged)
}

const together = (limits: Limits) =>
  `Expected at most ${limits.max_total_encoded_bytes} bytes in all files of a message, counted as base64, in which they are sent.`

type Refusal = readonly [reason: Reason, detail: string]

const judgeOne = ({ content, mediaType = "", name }: Given, limits: Limits): Result.Result<Judged, Refusal> => {
  const refuse = (reason: Reason, detail: string) => Result.fail([reason, detail] as const)
  if (content.length === 0) return refuse("empty", "Expected a file with something in it; found an empty one.")
  const encoded = encodedSize(content.length)
  if (encoded > limits.max_encoded_bytes) {
    return refuse(
      "too-large",
      `Expected at most ${limits.max_encoded_bytes} bytes as base64, in which files are sent; found ${encoded}.`
    )
  }
  const image = ImageHeader.read(content)
  if (image !== undefined) return judgeImage(name, content, image, limits)
  if (/^image\//i.test(mediaType)) {
    return refuse("not-what-it-says", `Expected ${imageKinds}; found content that is none, whatever its name says.`)
  }
  const kind = kindOf(content)
  if (kind !== undefined) return Result.succeed({ name, mediaType: kind, content })
  const recording = AudioFormat.read(content)
  if (recording === undefined || limits.recordings !== true) {
    const found = recording === undefined ? "something else" : noRecordings
    return refuse("unsupported", `Expected ${kinds(limits)}; found ${found}.`)
  }
  const { mediaType: type, seconds } = recording
  return Result.succeed({ name, mediaType: type, ...(seconds === undefined ? {} : { seconds }), content })
}

const judgeImage = (
  name: string,
  content: Uint8Array,
  { animated, height, mediaType, width }: ImageHeader.ImageHeader,
  { max_image_side: side }: Limits
): Result.Result<Judged, Refusal> => {
  if (width === 0 || height === 0) {
    return Result.fail(["no-size", "Expected an image whose header tells its size; found none, or no pixel at all."])
  }
  if (Math.max(width, height) > side) {
    return Result.fail([
      "too-many-pixels",
      `Expected at most ${side} pixels on a side; found ${width} × ${height}. Make it smaller.`
    ])
  }
  if (animated) return Result.fail(["animated", "Expected an image that stands still; found one that moves."])
  return Result.succeed({ name, mediaType, width, height, content })
}

const imageKinds = "a PNG, JPEG, GIF or WebP image"

const kinds = ({ recordings }: Limits): string =>
  `${imageKinds}, a PDF${recordings === true ? ", a recording" : ""} or plain text in UTF-8`

const noRecordings =
  "a recording, which is taken where [tools.audio_transcription] and [tools.file_storage] are both enabled"

const kindOf = (content: Uint8Array): string | undefined => {
  if (ImageHeader.startsWith(content, 0, "%PDF-")) return pdf
  return isText(content) ? plainText : undefined
}

const pdf = "application/pdf"
export const plainText = "text/plain"

/** Models are not shown recordings: what is said in them is for transcribing to tell. */
export const isRecording = (mediaType: string): boolean => mediaType.startsWith("audio/")

const isImage = (mediaType: string): boolean => mediaType.startsWith("image/")

/** The words of a text file. */
export const textOf = (content: Uint8Array): string => decoder.decode(content)

const decoder = new TextDecoder()

const isText = (content: Uint8Array): boolean => !/[\0\u{FFFD}]/u.test(textOf(content))

/** A rough count of the tokens that a file takes when a model is shown it. */
export const tokensOf = ({ bytes, mediaType }: { readonly bytes: number; readonly mediaType: string }): number => {
  if (isImage(mediaType)) return tokensOfImage
  return mediaType === pdf ? Math.max(tokensOfImage, Math.ceil(bytes / bytesPerTokenOfPdf)) : Math.ceil(bytes / 4)
}

/** Providers scale large images down to about this. */
const tokensOfImage = 1600
const bytesPerTokenOfPdf = 20
