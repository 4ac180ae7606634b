/** Recordings for tests: speech that espeak-ng makes, in the formats that ffmpeg writes, and small files made byte by byte. */
import { spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type * as AudioFormat from "../../src/audio/AudioFormat.ts"
import type { Need } from "../rigs/Needs.ts"

const missing = (program: string, argument: string): Need => ({
  missing: spawnSync(program, [argument]).status !== 0,
  reason: `${program} is not installed`
})

const espeak = missing("espeak-ng", "--version")
export const ffmpeg: Need = espeak.missing ? espeak : missing("ffmpeg", "-version")
export const pocketsphinx: Need = espeak.missing
  ? espeak
  : {
      // It ends with an error when it is asked for nothing, and cannot be started when it is not there.
      missing: spawnSync("pocketsphinx_continuous", []).error !== undefined,
      reason: "pocketsphinx is not installed"
    }

/** How ffmpeg is to write each format. */
const encodings: Readonly<Record<AudioFormat.Format | "ogg-vorbis", ReadonlyArray<string>>> = {
  wav: ["-f", "wav"],
  ogg: ["-c:a", "libopus", "-f", "ogg"],
  "ogg-vorbis": ["-c:a", "libvorbis", "-f", "ogg"],
  mp3: ["-f", "mp3"],
  m4a: ["-c:a", "aac", "-f", "ipod"],
  flac: ["-f", "flac"],
  webm: ["-c:a", "libopus", "-f", "webm"],
  aac: ["-c:a", "aac", "-f", "adts"]
}
export type Encoding = keyof typeof encodings

/** What espeak-ng says, as WAV. */
export const say = (words: string): Uint8Array => run("espeak-ng", ["-v", "en-us", "-s", "120", "-w", "out.wav", words])

/** The same sound in another format, or as the 16 kHz that recognisers take. */
export const convert = (wav: Uint8Array, to: Encoding): Uint8Array =>
  run("ffmpeg", ["-loglevel", "error", "-y", "-i", "pipe:0", ...encodings[to], "out.wav"], wav)

export const at16kHz = (recording: Uint8Array): Uint8Array =>
  run(
    "ffmpeg",
    ["-loglevel", "error", "-y", "-i", "pipe:0", "-ac", "1", "-ar", "16000", "-f", "wav", "out.wav"],
    recording
  )

/** The file that a program writes as `out.wav` in a folder of its own. */
const run = (program: string, args: ReadonlyArray<string>, input?: Uint8Array): Uint8Array => {
  const folder = mkdtempSync(join(tmpdir(), "troupe-speech-"))
  const { status, stderr } = spawnSync(program, args, { cwd: folder, input })
  const written = status === 0 ? new Uint8Array(readFileSync(join(folder, "out.wav"))) : undefined
  rmSync(folder, { recursive: true, force: true })
  if (written === undefined) throw new Error(`${program} has failed: ${stderr?.toString()}`)
  return written
}

/** Silence of so many seconds: 8 kHz, 8 bits. */
export const silence = (seconds: number): Uint8Array => {
  const samples = Math.round(seconds * 8000)
  const bytes = new Uint8Array(44 + samples).fill(128)
  const view = new DataView(bytes.buffer)
  const text = (at: number, word: string) => bytes.set(new TextEncoder().encode(word), at)
  text(0, "RIFF")
  view.setUint32(4, 36 + samples, true)
  text(8, "WAVEfmt ")
  view.setUint32(16, 16, true)
  view.setUint16(20, 1, true)
  view.setUint16(22, 1, true)
  view.setUint32(24, 8000, true)
  view.setUint32(28, 8000, true)
  view.setUint16(32, 1, true)
  view.setUint16(34, 8, true)
  text(36, "data")
  view.setUint32(40, samples, true)
  return bytes
}
