/**
 * How long recordings are, from their headers and, where those do not say, from the frames. Whatever the bytes are, each step goes
 * forward, so that reading ends. Undefined where nothing can be said.
 */
import { startsWith } from "../attachment/ImageHeader.ts"
import type { Format } from "./AudioFormat.ts"

type Read = (bytes: Uint8Array) => number | undefined

const viewOf = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** `undefined` for a division that says nothing. */
const ratio = (count: number, perSecond: number): number | undefined => (perSecond > 0 ? count / perSecond : undefined)

// ---------------------------------------------------------------------------------------------------------------------
// WAV: chunks of a name and a length

/**
 * By the sound that is there: what the header says of its length, or of how much goes by in a second, may be anything.
 */
const wav: Read = (bytes) => {
  const view = viewOf(bytes)
  let bytesPerSecond = 0
  let sound = 0
  let first: number | undefined
  let at = 12
  while (at + 8 <= bytes.length && isChunkName(bytes, at)) {
    const length = view.getUint32(at + 4, true)
    if (startsWith(bytes, at, "fmt ") && at + 24 <= bytes.length) bytesPerSecond = wavRate(view, at + 8)
    if (startsWith(bytes, at, "data")) {
      first ??= at + 8
      sound += length
    }
    at += 8 + length + (length % 2)
  }
  if (first === undefined) return undefined
  // Where no other chunk follows up to the end, all the rest is sound: whoever writes to a pipe does not know how much there will be.
  const isWhole = sound > 0 && (at === bytes.length || at === bytes.length + 1)
  return ratio(isWhole ? sound : bytes.length - first, bytesPerSecond)
}

/** Names of chunks are four letters; sound between them is none. */
const isChunkName = (bytes: Uint8Array, at: number): boolean =>
  bytes.subarray(at, at + 4).every((byte) => byte >= 0x20 && byte < 0x7f)

/** Samples that are numbers say themselves how large they are; other encodings have the header alone. */
const wavRate = (view: DataView, at: number): number => {
  const sampleBytes = view.getUint16(at + 2, true) * Math.ceil(view.getUint16(at + 14, true) / 8)
  const isPlain = plainSamples.has(view.getUint16(at, true)) && sampleBytes > 0
  return isPlain ? view.getUint32(at + 4, true) * sampleBytes : view.getUint32(at + 8, true)
}

/** Whole numbers, fractions, the two laws of telephones, and any of them with more said of the channels. */
const plainSamples: ReadonlySet<number> = new Set([1, 3, 6, 7, 0xfffe])

// ---------------------------------------------------------------------------------------------------------------------
// Ogg: pages say which sample they end with, for each stream in the file; packets of Opus say how long they are

/** `rate`: samples in a second. `skipped`: samples at the beginning that are not played. */
interface OggKind {
  readonly rate: number
  readonly skipped: number
  readonly isOpus: boolean
}

/** What is in an Ogg file, by its first packet; undefined for anything but sound. */
export const oggKind = (bytes: Uint8Array): OggKind | undefined => {
  const view = viewOf(bytes)
  const packet = bytes.length > 27 ? 27 + view.getUint8(26) : bytes.length
  if (packet + 16 > bytes.length) return undefined
  if (startsWith(bytes, packet, "OpusHead"))
    return { rate: 48_000, skipped: view.getUint16(packet + 10, true), isOpus: true }
  if (startsWith(bytes, packet, "\x01vorbis"))
    return { rate: view.getUint32(packet + 12, true), skipped: 0, isOpus: false }
  if (startsWith(bytes, packet, "\x7fFLAC") && packet + 40 <= bytes.length) {
    return { rate: view.getUint32(packet + 27) >>> 12, skipped: 0, isOpus: false }
  }
  return undefined
}

const ogg: Read = (bytes) => {
  const kind = oggKind(bytes)
  if (kind === undefined) return undefined
  const view = viewOf(bytes)
  const ends = new Map<number, number>()
  let packets = 0
  for (let at = nextPage(bytes, 0); at !== undefined; at = nextPage(bytes, at + 27)) {
    const stream = view.getUint32(at + 14, true)
    // Pages on which no packet ends have none.
    const granule = Number(view.getBigInt64(at + 6, true))
    if (granule >= 0) ends.set(stream, Math.max(granule, ends.get(stream) ?? 0))
    packets += opusTime(bytes, at)
  }
  if (ends.size === 0) return undefined
  const written = [...ends.values()].reduce((sum, end) => sum + Math.max(0, end - kind.skipped), 0)
  const seconds = ratio(written, kind.rate)
  // The skipped beginning is in the packets.
  return seconds === undefined || !kind.isOpus ? seconds : Math.max(seconds, packets / 1000 - kind.skipped / kind.rate)
}

const nextPage = (bytes: Uint8Array, from: number): number | undefined => {
  for (let at = bytes.indexOf(0x4f, from); at >= 0 && at + 27 <= bytes.length; at = bytes.indexOf(0x4f, at + 1)) {
    if (startsWith(bytes, at, "OggS")) return at
  }
  return undefined
}

/** Milliseconds of the packets that begin on a page. */
const opusTime = (bytes: Uint8Array, page: number): number => {
  const segments = bytes[page + 26] ?? 0
  let at = page + 27 + segments
  let sum = 0
  let begins = ((bytes[page + 5] ?? 0) & 1) === 0
  for (const length of bytes.subarray(page + 27, page + 27 + segments)) {
    if (begins && length > 0 && !startsWith(bytes, at, "Opus")) sum += packetTime(bytes, at)
    begins = length < 255
    at += length
  }
  return sum
}

const silkTimes = [10, 20, 40, 60]
const celtTimes = [2.5, 5, 10, 20]

/** Milliseconds of a packet: its first byte says how long its frames are, and how many there are or where that stands. */
const packetTime = (bytes: Uint8Array, at: number): number => {
  const first = bytes[at] ?? 0
  const kind = first >>> 3
  const times = kind < 12 ? silkTimes : kind < 16 ? silkTimes.slice(0, 2) : celtTimes
  const count = [1, 2, 2, (bytes[at + 1] ?? 0) & 63][first & 3] ?? 0
  return (times[kind % times.length] ?? 0) * count
}

// ---------------------------------------------------------------------------------------------------------------------
// FLAC: the block that every file begins with

const flac: Read = (bytes) => {
  if (bytes.length < 26) return undefined
  const view = viewOf(bytes)
  const rate = (view.getUint16(18) << 4) | (view.getUint8(20) >>> 4)
  const samples = (view.getUint8(21) & 0x0f) * 2 ** 32 + view.getUint32(22)
  return samples === 0 ? undefined : ratio(samples, rate)
}

// ---------------------------------------------------------------------------------------------------------------------
// M4A: boxes in boxes

interface Box {
  readonly from: number
  readonly to: number
}

/** The boxes of this name among those between two places. */
const boxes = (bytes: Uint8Array, { from, to }: Box, name: string): ReadonlyArray<Box> => {
  const view = viewOf(bytes)
  const found: Array<Box> = []
  let at = from
  while (at + 8 <= to) {
    const written = view.getUint32(at)
    const large = written === 1 && at + 16 <= to
    const head = large ? 16 : 8
    const size = large ? Number(view.getBigUint64(at + 8)) : written === 0 ? to - at : written
    if (size < head) break
    if (startsWith(bytes, at + 4, name)) found.push({ from: at + head, to: Math.min(to, at + size) })
    at += size
  }
  return found
}

const inside = (bytes: Uint8Array, path: ReadonlyArray<string>): ReadonlyArray<Box> =>
  path.reduce<ReadonlyArray<Box>>(
    (within, name) => within.flatMap((box) => boxes(bytes, box, name)),
    [{ from: 0, to: bytes.length }]
  )

export const hasVideoTrack = (bytes: Uint8Array): boolean =>
  inside(bytes, ["moov", "trak", "mdia", "hdlr"]).some(({ from }) => startsWith(bytes, from + 8, "vide"))

/** The longest of what the whole, its tracks and the samples of the tracks say. */
const m4a: Read = (bytes) => {
  const [header] = inside(bytes, ["moov", "mvhd"])
  const whole = header === undefined ? undefined : headerTime(bytes, header)
  const tracks = inside(bytes, ["moov", "trak", "mdia"]).map((media) => trackTime(bytes, media))
  const known = [whole, ...tracks].filter((time) => time !== undefined)
  return known.length === 0 ? undefined : Math.max(...known)
}

const trackTime = (bytes: Uint8Array, media: Box): number | undefined => {
  const [header] = boxes(bytes, media, "mdhd")
  if (header === undefined) return undefined
  const view = viewOf(bytes)
  const [units] = unitsOf(view, header) ?? [0]
  const within = (box: Box, name: string) => boxes(bytes, box, name)
  const tables = within(media, "minf").flatMap((box) => within(box, "stbl").flatMap((inner) => within(inner, "stts")))
  let count = 0
  for (const { from, to } of tables) {
    for (let at = from + 8; at + 8 <= to; at += 8) count += view.getUint32(at) * view.getUint32(at + 4)
  }
  const ofSamples = count === 0 ? undefined : ratio(count, units)
  const written = headerTime(bytes, header)
  return ofSamples === undefined || written === undefined ? (ofSamples ?? written) : Math.max(ofSamples, written)
}

const headerTime = (bytes: Uint8Array, header: Box): number | undefined => {
  const [units, count] = unitsOf(viewOf(bytes), header) ?? [0, 0]
  // In pieces that follow each other, as live recordings are, it stands as nothing.
  return count === 0 ? undefined : ratio(count, units)
}

/** Units in a second, and how many there are, as the headers of the whole and of a track say it. */
const unitsOf = (view: DataView, header: Box): readonly [units: number, count: number] | undefined => {
  if (header.to - header.from < 20) return undefined
  const at = header.from
  if (view.getUint8(at) !== 1) return [view.getUint32(at + 12), view.getUint32(at + 16)]
  return header.to - at < 32 ? undefined : [view.getUint32(at + 20), Number(view.getBigUint64(at + 24))]
}

// ---------------------------------------------------------------------------------------------------------------------
// WebM: elements of an id and a length; times in units of the segment

const webm: Read = (bytes) => {
  const view = viewOf(bytes)
  let scale = 1_000_000
  let cluster = 0
  let last: number | undefined
  let written: number | undefined
  let at = 0
  while (at < bytes.length) {
    const id = vint(view, at, true)
    const size = id === undefined ? undefined : vint(view, at + id.length, false)
    if (id === undefined || size === undefined) break
    const from = at + id.length + size.length
    // Those that hold others are entered; of the others the end is next.
    if (containers.has(id.value)) {
      at = from
      continue
    }
    const to = from + size.value
    if (to > bytes.length || size.unknown) break
    if (id.value === timestampScale) scale = unsigned(view, from, size.value)
    if (id.value === clusterTime) cluster = unsigned(view, from, size.value)
    if (id.value === duration) written = float(view, from, size.value)
    if (id.value === simpleBlock) last = Math.max(last ?? 0, cluster + timeOfBlock(view, from, to))
    at = to
  }
  return last === undefined && written === undefined ? undefined : ratio(Math.max(last ?? 0, written ?? 0) * scale, 1e9)
}

/** Segment, Info, Cluster, BlockGroup. */
const containers: ReadonlySet<number> = new Set([0x18538067, 0x1549a966, 0x1f43b675, 0xa0])
const timestampScale = 0x2ad7b1
const duration = 0x4489
const clusterTime = 0xe7
const simpleBlock = 0xa3

interface Vint {
  readonly value: number
  readonly length: number
  readonly unknown: boolean
}

/** A number whose first bits say how long it is; ids keep those bits. */
const vint = (view: DataView, at: number, id: boolean): Vint | undefined => {
  if (at >= view.byteLength) return undefined
  const first = view.getUint8(at)
  const length = Math.clz32(first) - 23
  if (length > 8 || at + length > view.byteLength) return undefined
  let value = id ? first : first & (0xff >>> length)
  let full = (first & (0xff >>> length)) === 0xff >>> length
  for (let i = 1; i < length; i++) {
    const next = view.getUint8(at + i)
    full &&= next === 0xff
    value = value * 256 + next
  }
  return { value, length, unknown: !id && full }
}

const unsigned = (view: DataView, at: number, length: number): number => {
  let value = 0
  for (let i = 0; i < Math.min(length, 8); i++) value = value * 256 + view.getUint8(at + i)
  return value
}

const float = (view: DataView, at: number, length: number): number =>
  length === 8 ? view.getFloat64(at) : length === 4 ? view.getFloat32(at) : 0

const timeOfBlock = (view: DataView, from: number, to: number): number => {
  const track = vint(view, from, false)
  return track === undefined || from + track.length + 2 > to ? 0 : view.getInt16(from + track.length)
}

// ---------------------------------------------------------------------------------------------------------------------
// MP3 and AAC: frames, one after the other

interface Frame {
  readonly bytes: number
  readonly samples: number
  readonly rate: number
}

const bitrates1 = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320]
const bitrates2 = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160]

/** A frame of MPEG layer III. */
const mpeg = (bytes: Uint8Array, at: number): Frame | undefined => {
  if (at + 4 > bytes.length) return undefined
  const word = viewOf(bytes).getUint32(at)
  const version = (word >>> 19) & 3
  const kbits = (version === 3 ? bitrates1 : bitrates2)[(word >>> 12) & 15] ?? 0
  const rate = [44_100, 48_000, 32_000][(word >>> 10) & 3] ?? 0
  if (word >>> 21 !== 0x7ff || version === 1 || ((word >>> 17) & 3) !== 1 || kbits === 0 || rate === 0) return undefined
  const slower = version === 3 ? 1 : version === 2 ? 2 : 4
  const samples = version === 3 ? 1152 : 576
  const padding = (word >>> 9) & 1
  return {
    bytes: Math.floor((samples / 8) * ((kbits * 1000) / (rate / slower))) + padding,
    samples,
    rate: rate / slower
  }
}

/** Where the first frame of an MP3 stands: behind its tags, and with another one behind it. */
export const firstFrame = (bytes: Uint8Array): number | undefined => {
  const from = behindTags(bytes)
  for (let at = from; at < Math.min(bytes.length, from + 4096); at++) {
    const frame = mpeg(bytes, at)
    if (frame === undefined) continue
    const next = at + frame.bytes
    if (next === bytes.length || mpeg(bytes, next) !== undefined) return at
  }
  return undefined
}

const behindTags = (bytes: Uint8Array): number => {
  let at = 0
  while (startsWith(bytes, at, "ID3") && at + 10 <= bytes.length) {
    const length = bytes.subarray(at + 6, at + 10).reduce((sum, byte) => sum * 128 + (byte & 127), 0)
    at += 10 + length
  }
  return at
}

/** A frame of AAC with its own header. */
export const adts = (bytes: Uint8Array, at: number): Frame | undefined => {
  if (at + 7 > bytes.length) return undefined
  const view = viewOf(bytes)
  const rate = aacRates[(view.getUint8(at + 2) >>> 2) & 15] ?? 0
  const length = ((view.getUint8(at + 3) & 3) << 11) | (view.getUint8(at + 4) << 3) | (view.getUint8(at + 5) >>> 5)
  if ((view.getUint16(at) & 0xfff6) !== 0xfff0 || rate === 0 || length < 7) return undefined
  return { bytes: length, samples: 1024 * ((view.getUint8(at + 6) & 3) + 1), rate }
}

const aacRates = [96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350]

const frames = (bytes: Uint8Array, from: number, frameAt: typeof mpeg): number | undefined => {
  let seconds = 0
  let at = from
  while (at >= 0 && at < bytes.length) {
    const frame = frameAt(bytes, at)
    // Whoever plays it goes on behind what is no frame: so does this, where two frames follow one another.
    if (frame === undefined) {
      at = nextFrame(bytes, at + 1, frameAt)
      continue
    }
    seconds += frame.samples / frame.rate
    at += frame.bytes
  }
  return seconds
}

/** Below 0 where there is none. */
const nextFrame = (bytes: Uint8Array, from: number, frameAt: typeof mpeg): number => {
  for (let at = bytes.indexOf(0xff, from); at >= 0; at = bytes.indexOf(0xff, at + 1)) {
    const frame = frameAt(bytes, at)
    if (frame !== undefined && frameAt(bytes, at + frame.bytes) !== undefined) return at
  }
  return -1
}

const mp3: Read = (bytes) => {
  const first = firstFrame(bytes)
  return first === undefined ? undefined : frames(bytes, first, mpeg)
}

const aac: Read = (bytes) => frames(bytes, 0, adts)

export const of: Readonly<Record<Format, Read>> = { wav, ogg, mp3, m4a, flac, webm, aac }
