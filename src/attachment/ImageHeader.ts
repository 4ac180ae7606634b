/**
 * What the first bytes of an image say of it: its kind, its size in pixels, and whether it moves. The name and the type that came
 * with a file are only claims.
 */

export interface ImageHeader {
  readonly mediaType: "image/png" | "image/jpeg" | "image/gif" | "image/webp"
  /** Pixels; 0 where the header does not say. */
  readonly width: number
  readonly height: number
  readonly animated: boolean
}

/** Undefined when it is none of the kinds that models take. */
export const read = (bytes: Uint8Array): ImageHeader | undefined => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (startsWith(bytes, 0, "\x89PNG\r\n\x1a\n")) return png(bytes, view)
  if (startsWith(bytes, 0, "\xff\xd8\xff")) return jpeg(view)
  if (startsWith(bytes, 0, "GIF87a") || startsWith(bytes, 0, "GIF89a")) return gif(view)
  if (startsWith(bytes, 0, "RIFF") && startsWith(bytes, 8, "WEBP")) return webp(bytes, view)
  return undefined
}

/** Whether the bytes at a place are these characters, one byte each. */
export const startsWith = (bytes: Uint8Array, at: number, text: string): boolean =>
  bytes.length >= at + text.length && Array.from(text).every((char, index) => bytes[at + index] === char.charCodeAt(0))

const size = (width: number, height: number) => ({ width, height })
const unknown = size(0, 0)

const png = (bytes: Uint8Array, view: DataView): ImageHeader => ({
  mediaType: "image/png",
  ...(view.byteLength >= 24 && startsWith(bytes, 12, "IHDR") ? size(view.getUint32(16), view.getUint32(20)) : unknown),
  // The marks of an animation stand before the first image data, which all viewers show.
  animated: false
})

/** Sizes stand in the frame header, behind segments of any number; those before it say how long they are. */
const jpeg = (view: DataView): ImageHeader => ({ mediaType: "image/jpeg", ...frameOf(view), animated: false })

const frameOf = (view: DataView) => {
  let at = 2
  while (at + 9 < view.byteLength && view.getUint8(at) === 0xff) {
    const marker = view.getUint8(at + 1)
    if (marker === 0xff) at += 1
    else if (isFrame(marker)) return size(view.getUint16(at + 7), view.getUint16(at + 5))
    else at += 2 + view.getUint16(at + 2)
  }
  return unknown
}

/** Start of a frame, of whatever coding: all of C0 to CF but the three that are tables. */
const isFrame = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc

const gif = (view: DataView): ImageHeader => ({
  mediaType: "image/gif",
  ...(view.byteLength >= 10 ? size(view.getUint16(6, true), view.getUint16(8, true)) : unknown),
  animated: gifFrames(view, 2) > 1
})

/** Counts the frames up to `most`, from block to block. */
const gifFrames = (view: DataView, most: number): number => {
  const byte = (at: number) => (at < view.byteLength ? view.getUint8(at) : 0)
  const colours = (flags: number) => ((flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 7) + 1))
  const behindBlocks = (from: number) => {
    let at = from
    while (byte(at) !== 0) at += byte(at) + 1
    return at + 1
  }
  let at = 13 + colours(byte(10))
  let frames = 0
  while (at < view.byteLength && frames < most) {
    if (byte(at) === 0x21) at = behindBlocks(at + 2)
    else if (byte(at) === 0x2c) {
      frames++
      at = behindBlocks(at + 11 + colours(byte(at + 9)))
    } else break
  }
  return frames
}

const webp = (bytes: Uint8Array, view: DataView): ImageHeader => {
  const image = { mediaType: "image/webp", animated: false } as const
  if (view.byteLength < 30) return { ...image, ...unknown }
  const int24 = (at: number) => view.getUint16(at, true) + (view.getUint8(at + 2) << 16)
  if (startsWith(bytes, 12, "VP8X")) {
    return { ...image, ...size(int24(24) + 1, int24(27) + 1), animated: (view.getUint8(20) & 0x02) !== 0 }
  }
  if (startsWith(bytes, 12, "VP8L") && view.getUint8(20) === 0x2f) {
    const bits = view.getUint32(21, true)
    return { ...image, ...size((bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1) }
  }
  if (startsWith(bytes, 12, "VP8 ")) {
    return { ...image, ...size(view.getUint16(26, true) & 0x3fff, view.getUint16(28, true) & 0x3fff) }
  }
  return { ...image, ...unknown }
}
