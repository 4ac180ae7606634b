/** Small images and other files, made byte by byte: only their headers are what a test is about. */
import * as Base64 from "effect/encoding/Base64"

const bytes = (...parts: ReadonlyArray<string | ReadonlyArray<number>>): Uint8Array =>
  Uint8Array.from(
    parts.flatMap((part) => (typeof part === "string" ? Array.from(part, (char) => char.charCodeAt(0)) : part))
  )
const big = (size: number, value: number) =>
  Array.from({ length: size }, (_, i) => (value >>> (8 * (size - 1 - i))) & 255)
const little = (size: number, value: number) => big(size, value).toReversed()

/** `filler`: how many more bytes there are, as if of a large picture. */
export const png = (width = 8, height = 6, filler = 0): Uint8Array =>
  bytes(
    "\x89PNG\r\n\x1a\n",
    big(4, 13),
    "IHDR",
    big(4, width),
    big(4, height),
    [8, 6, 0, 0, 0],
    Array.from({ length: filler }, () => 7)
  )

/** With a thumbnail's worth of other segments before the frame. */
export const jpeg = (width = 8, height = 6): Uint8Array =>
  bytes(
    [0xff, 0xd8, 0xff, 0xe0],
    big(2, 4),
    [1, 2],
    [0xff, 0xc4],
    big(2, 3),
    [9],
    [0xff, 0xff, 0xc2],
    big(2, 17),
    [8],
    big(2, height),
    big(2, width),
    [3, 0, 0]
  )

export const gif = (width = 8, height = 6, frames = 1): Uint8Array =>
  bytes(
    "GIF89a",
    little(2, width),
    little(2, height),
    [0x80, 0, 0],
    [0, 0, 0, 255, 255, 255],
    ...Array.from({ length: frames }, () => [...frameControl, ...frame]),
    [0x3b]
  )

const frameControl = [0x21, 0xf9, 4, 0, 0, 0, 0, 0]
const frame = [0x2c, 0, 0, 0, 0, 8, 0, 6, 0, 0, 2, 2, 0x4c, 0x01, 0]

const riff = (kind: string, rest: ReadonlyArray<number>) =>
  bytes(
    "RIFF",
    little(4, 100),
    "WEBP",
    kind,
    little(4, 50),
    rest,
    Array.from({ length: 20 }, () => 0)
  )

export const webp = {
  extended: (width = 8, height = 6, animated = false): Uint8Array =>
    riff("VP8X", [animated ? 2 : 0, 0, 0, 0, ...little(3, width - 1), ...little(3, height - 1)]),
  lossless: (width = 8, height = 6): Uint8Array =>
    riff("VP8L", [0x2f, ...little(4, (width - 1) | ((height - 1) << 14))]),
  lossy: (width = 8, height = 6): Uint8Array =>
    riff("VP8 ", [1, 2, 3, 0x9d, 0x01, 0x2a, ...little(2, width), ...little(2, height)])
}

export const pdf = bytes("%PDF-1.7\n", [0xe2, 0xe3, 0xff])

export const dataUrl = (content: Uint8Array, mediaType = "image/png"): string =>
  `data:${mediaType};base64,${Base64.encode(content)}`
