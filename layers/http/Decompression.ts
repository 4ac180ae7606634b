/** Bodies as they were before they were compressed. Nothing is decompressed that is not asked for. */
import { pipeline } from "node:stream"
import type { Readable, Transform } from "node:stream"
import * as Zlib from "node:zlib"
import * as Effect from "effect/Effect"

export interface Decompressed {
  readonly body: Readable
  /** Bytes that have gone in so far; undefined for a body that was not compressed. */
  readonly taken: (() => number) | undefined
}

/** What is asked for. */
export const accepted = "gzip, deflate, br, zstd"

/** The body of a response with this `content-encoding`. One coding is understood, as servers use them; a pile of them is not. */
export const decompress = (
  body: Readable,
  encoding: string | undefined
): Effect.Effect<Decompressed, "unsupported_encoding"> => {
  const [coding = "identity", ...others] = (encoding ?? "")
    .split(",")
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== "" && name !== "identity")
  if (others.length > 0) return Effect.fail("unsupported_encoding")
  if (coding === "identity") return Effect.succeed({ body, taken: undefined })
  const engine = engines.get(coding)
  if (engine === undefined) return Effect.fail("unsupported_encoding")
  return Effect.map(firstByte(body), (first) =>
    // What is empty is not compressed, whatever its head says.
    first === undefined ? { body, taken: undefined } : through(body, engine(first))
  )
}

type Engine = Transform & { readonly bytesWritten: number }

/** Coding → what undoes it, for a body that begins with this byte. */
const engines: ReadonlyMap<string, (first: number) => Engine> = new Map<string, (first: number) => Engine>([
  ["gzip", () => Zlib.createGunzip()],
  ["x-gzip", () => Zlib.createGunzip()],
  // The zlib format, but some servers send what is inside it alone. The first half-byte tells.
  ["deflate", (first) => ((first & 0x0f) === 8 ? Zlib.createInflate() : Zlib.createInflateRaw())],
  ["br", () => Zlib.createBrotliDecompress()],
  ["zstd", () => Zlib.createZstdDecompress()]
])

/** Whether an error is one of decompression, rather than of what was to be decompressed. */
export const isOurs = (code: string): boolean =>
  /^(Z_|ERR_(_ERROR_|PADDING|BROTLI|ZSTD|ZLIB)|ERR_.*(BROTLI|ZSTD)|ZSTD_)/.test(code)

/** An error of either comes out at the end. */
const through = (body: Readable, engine: Engine): Decompressed => ({
  body: pipeline(body, engine, () => {}),
  taken: () => engine.bytesWritten
})

/** Undefined for an empty body, and for one that broke before it began: its reader hears of that. */
const firstByte = (body: Readable): Effect.Effect<number | undefined> =>
  Effect.callback((resume) => {
    const look = () => {
      const piece: unknown = body.read()
      if (!(piece instanceof Uint8Array)) return
      body.unshift(piece)
      done(piece[0])
    }
    const end = () => done(undefined)
    const done = (byte: number | undefined) => {
      body.off("readable", look).off("end", end).off("close", end)
      resume(Effect.succeed(byte))
    }
    body.on("readable", look).on("end", end).on("close", end)
  })
