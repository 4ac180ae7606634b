import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import * as AudioFormat from "../../src/audio/AudioFormat.ts"
import * as Images from "../attachment/Images.ts"
import * as Needs from "../rigs/Needs.ts"
import * as Speech from "./Speech.ts"

const words = "Good morning. Please turn on the light."

describe("a recording is known by its content", () => {
  const formats: ReadonlyArray<readonly [Speech.Encoding, AudioFormat.Format, string]> = [
    ["wav", "wav", "audio/wav"],
    ["ogg", "ogg", "audio/ogg"],
    ["ogg-vorbis", "ogg", "audio/ogg"],
    ["mp3", "mp3", "audio/mpeg"],
    ["m4a", "m4a", "audio/mp4"],
    ["flac", "flac", "audio/flac"],
    ["webm", "webm", "audio/webm"],
    ["aac", "aac", "audio/aac"]
  ]
  for (const [encoding, format, mediaType] of formats) {
    it.skipIf(Speech.ffmpeg.missing)(Needs.titled(Speech.ffmpeg, `${encoding}, and so is its length`), () => {
      const wav = Speech.say(words)
      const spoken = AudioFormat.read(wav)?.seconds ?? 0
      assert.isAbove(spoken, 1)
      const found = AudioFormat.read(Speech.convert(wav, encoding))
      assert.strictEqual(found?.format, format)
      assert.strictEqual(found?.mediaType, mediaType)
      // Encoders fill up their last frames.
      assert.approximately(found?.seconds ?? 0, spoken, 0.15)
    })
  }

  it("and a silence that was made by hand is as long as it was made", () => {
    assert.deepStrictEqual(AudioFormat.read(Speech.silence(2.5)), {
      format: "wav",
      mediaType: "audio/wav",
      seconds: 2.5
    })
  })

  it("and one whose writer did not know its length is as long as what is there", () => {
    const wav = Speech.silence(2)
    new DataView(wav.buffer).setUint32(40, 0xffffffff, true)
    assert.strictEqual(AudioFormat.read(wav)?.seconds, 2)
  })

  const lies: ReadonlyArray<readonly [string, (view: DataView) => void]> = [
    ["that there is none", (view) => view.setUint32(40, 0, true)],
    ["that there is little", (view) => view.setUint32(40, 3200, true)],
    ["that much of it goes by in a second", (view) => view.setUint32(28, 0x7fffffff, true)],
    ["that nothing of it goes by in a second", (view) => view.setUint32(28, 0, true)]
  ]
  for (const [lie, tell] of lies) {
    it(`and one whose header says ${lie} is as long as what is there`, () => {
      const wav = Speech.silence(2).slice()
      tell(new DataView(wav.buffer))
      assert.approximately(AudioFormat.read(wav)?.seconds ?? 0, 2, 0.001)
    })
  }

  it("and what is said of it behind it is no part of it, where a second piece of it is", () => {
    const wav = Speech.silence(2)
    const list = new Uint8Array(8 + 1000)
    list.set(new TextEncoder().encode("LIST"))
    new DataView(list.buffer).setUint32(4, 1000, true)
    assert.strictEqual(AudioFormat.read(Buffer.concat([wav, list]))?.seconds, 2)
    assert.strictEqual(AudioFormat.read(Buffer.concat([wav, list, wav.subarray(36)]))?.seconds, 4)
  })

  it.skipIf(Speech.ffmpeg.missing)(
    Needs.titled(
      Speech.ffmpeg,
      "and one that says less than it has, or has something in between, is not shorter for it"
    ),
    () => {
      const wav = Speech.silence(30)
      const ogg = Speech.convert(wav, "ogg")
      const pages = new DataView(ogg.buffer, ogg.byteOffset, ogg.byteLength)
      for (let at = 0; at + 27 < ogg.length; at++)
        if (new TextDecoder().decode(ogg.subarray(at, at + 4)) === "OggS") pages.setBigInt64(at + 6, 1000n, true)
      assert.approximately(AudioFormat.read(ogg)?.seconds ?? 0, 30, 0.2)
      for (const encoding of ["mp3", "aac"] as const) {
        const short = Speech.convert(Speech.silence(1), encoding)
        const joined = Uint8Array.from([...short, 0, 1, 2, 3, 4, ...Speech.convert(wav, encoding)])
        assert.approximately(AudioFormat.read(joined)?.seconds ?? 0, 31, 0.6)
      }
      const m4a = Speech.convert(wav, "m4a")
      const view = new DataView(m4a.buffer, m4a.byteOffset, m4a.byteLength)
      const movie = Buffer.from(m4a).indexOf("mvhd")
      view.setUint32(movie + 4 + 16, 1000)
      assert.approximately(AudioFormat.read(m4a)?.seconds ?? 0, 30, 0.2)
    }
  )

  it("and pictures, texts and films are none", () => {
    for (const other of [
      Images.png(),
      Images.gif(),
      Images.jpeg(),
      Images.pdf,
      new TextEncoder().encode("RIFF WAVE")
    ]) {
      assert.isUndefined(AudioFormat.read(other))
    }
    assert.isUndefined(AudioFormat.read(new Uint8Array(0)))
  })
})

describe("whatever the bytes are", () => {
  const beginnings = [
    "RIFF\x24\0\0\0WAVE",
    "OggS\0\x02",
    "fLaC\0\0\0\x22",
    "\0\0\0\x1cftypM4A ",
    "\x1a\x45\xdf\xa3",
    "\xff\xfb",
    "\xff\xf1",
    "ID3\x04\0\0"
  ]
  const Bytes = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 }))).check(
    Schema.isMaxLength(400)
  )
  const Beginning = Schema.Literals(beginnings)

  it.prop(
    "reading ends, and a length is none or a time",
    { beginning: Beginning, bytes: Bytes },
    ({ beginning, bytes }) => {
      const all = Uint8Array.from([...Array.from(beginning, (char) => char.charCodeAt(0)), ...bytes])
      const seconds = AudioFormat.read(all)?.seconds
      assert.isTrue(seconds === undefined || (seconds >= 0 && seconds <= 24 * 60 * 60))
    }
  )

  it.skipIf(Speech.ffmpeg.missing)(
    Needs.titled(Speech.ffmpeg, "a recording that was cut off anywhere is read to its end"),
    () => {
      const wav = Speech.say("Cut off.")
      for (const encoding of ["wav", "ogg", "mp3", "m4a", "flac", "webm", "aac"] as const) {
        const whole = Speech.convert(wav, encoding)
        for (let length = 0; length < whole.length; length += 997) AudioFormat.read(whole.subarray(0, length))
      }
    }
  )
})
