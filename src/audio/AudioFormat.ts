/**
 * What a recording is, by its content, and how long it is. The name and the type that came with it are only claims. Pure; nothing
 * is decoded, and time is in proportion to the length.
 */
import { startsWith } from "../attachment/ImageHeader.ts"
import * as Duration from "./AudioDuration.ts"

export const formats = ["wav", "ogg", "mp3", "m4a", "flac", "webm", "aac"] as const
export type Format = (typeof formats)[number]

export interface AudioFormat {
  readonly format: Format
  readonly mediaType: string
  /** Undefined where the content does not say, as in recordings that were cut off or are still being made. */
  readonly seconds: number | undefined
}

/** Undefined for what is no recording, and for films. `bytes`: all of it; of a part, only the kind is right. */
export const read = (bytes: Uint8Array): AudioFormat | undefined => {
  const format = formatOf(bytes)
  if (format === undefined) return undefined
  const seconds = Duration.of[format](bytes)
  return { format, mediaType: mediaTypes[format], seconds: isTime(seconds) ? seconds : undefined }
}

/** The name that servers are to know the format by, whatever the file is called. */
export const fileName = (format: Format): string => `audio.${format}`

/** The formats in words, for what is said of something else. */
export const expected = "a recording: WAV, Ogg (Opus or Vorbis), MP3, M4A, FLAC, WebM or AAC"

const mediaTypes: Readonly<Record<Format, string>> = {
  wav: "audio/wav",
  ogg: "audio/ogg",
  mp3: "audio/mpeg",
  m4a: "audio/mp4",
  flac: "audio/flac",
  webm: "audio/webm",
  aac: "audio/aac"
}

const formatOf = (bytes: Uint8Array): Format | undefined => {
  if (startsWith(bytes, 0, "RIFF") && startsWith(bytes, 8, "WAVE")) return "wav"
  if (startsWith(bytes, 0, "OggS")) return isOggAudio(bytes) ? "ogg" : undefined
  if (startsWith(bytes, 0, "fLaC")) return "flac"
  if (startsWith(bytes, 4, "ftyp")) return isM4a(bytes) ? "m4a" : undefined
  if (startsWith(bytes, 0, "\x1a\x45\xdf\xa3")) return isWebmAudio(bytes) ? "webm" : undefined
  if (Duration.adts(bytes, 0) !== undefined) return "aac"
  return Duration.firstFrame(bytes) === undefined ? undefined : "mp3"
}

const isOggAudio = (bytes: Uint8Array): boolean => Duration.oggKind(bytes) !== undefined

/** Brands of files with sound alone, and those that say nothing of it, where no track of pictures is found. */
const isM4a = (bytes: Uint8Array): boolean => !Duration.hasVideoTrack(bytes)

/** A film has an element that says how large its pictures are. */
const isWebmAudio = (bytes: Uint8Array): boolean => {
  const head = bytes.subarray(0, 4096)
  return contains(head, "A_OPUS") || contains(head, "A_VORBIS")
    ? !contains(head, "V_VP") && !contains(head, "V_AV1")
    : false
}

const contains = (bytes: Uint8Array, text: string): boolean => {
  for (let at = 0; at + text.length <= bytes.length; at++) if (startsWith(bytes, at, text)) return true
  return false
}

/** A day: more than this is a header that lies. */
const longest = 24 * 60 * 60

const isTime = (seconds: number | undefined): boolean => seconds !== undefined && seconds >= 0 && seconds <= longest
