/** Archives as an attacker makes them, byte by byte: no library would write most of them. */
import { crc32, deflateRawSync } from "node:zlib"
import { pack } from "tar-stream"
import type { Header } from "tar-stream"

export interface ZipEntry {
  readonly name: string
  readonly content?: Uint8Array | string
  /** What the directory declares instead of the truth. */
  readonly declaredSize?: number
  readonly declaredCrc?: number
  /** The mode of Unix; a file's without. */
  readonly mode?: number
  readonly flags?: number
  readonly method?: number
}

/** A zip file. `declaredCount`: entries that its end speaks of instead of those that are there. */
export const zip = (entries: ReadonlyArray<ZipEntry>, options: { readonly declaredCount?: number } = {}): Buffer => {
  const parts: Array<Buffer> = []
  const directory: Array<Buffer> = []
  let offset = 0
  for (const entry of entries) {
    const content = Buffer.from(entry.content ?? "")
    const packed = deflateRawSync(content)
    const name = Buffer.from(entry.name)
    const size = entry.declaredSize ?? content.length
    const local = Buffer.alloc(30)
    local.writeUInt32LE(0x04034b50, 0)
    local.writeUInt16LE(20, 4)
    local.writeUInt16LE((entry.flags ?? 0) | 0x800, 6)
    local.writeUInt16LE(entry.method ?? 8, 8)
    local.writeUInt32LE(entry.declaredCrc ?? crc32(content), 14)
    local.writeUInt32LE(packed.length, 18)
    local.writeUInt32LE(size, 22)
    local.writeUInt16LE(name.length, 26)
    const head = Buffer.alloc(46)
    head.writeUInt32LE(0x02014b50, 0)
    head.writeUInt16LE((3 << 8) | 20, 4)
    head.writeUInt16LE(20, 6)
    local.copy(head, 8, 6, 30)
    head.writeUInt16LE(name.length, 28)
    head.writeUInt32LE(((entry.mode ?? 0o100644) * 0x10000) >>> 0, 38)
    head.writeUInt32LE(offset, 42)
    directory.push(head, name)
    parts.push(local, name, packed)
    offset += local.length + name.length + packed.length
  }
  const listed = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(options.declaredCount ?? entries.length, 8)
  end.writeUInt16LE(options.declaredCount ?? entries.length, 10)
  end.writeUInt32LE(listed.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...parts, listed, end])
}

export interface TarEntry extends Partial<Header> {
  readonly name: string
  readonly content?: string
}

/** A tar file. */
export const tar = async (entries: ReadonlyArray<TarEntry>): Promise<Buffer> => {
  const packing = pack()
  for (const { content = "", ...header } of entries) packing.entry(header, content)
  packing.finalize()
  const pieces: Array<Uint8Array> = []
  for await (const piece of packing) pieces.push(piece as Uint8Array)
  return Buffer.concat(pieces)
}
