/** What it costs to look for the secrets of the process in everything that leaves it. */
import * as Redacted from "effect/Redacted"
import * as Masker from "../../src/secret/Masker.ts"
import * as Report from "./Report.ts"

const runs = 9

export const measure = async (): Promise<ReadonlyArray<Report.Measurement>> => {
  const words = "The quick brown fox, 0123456789 and sk-proj keys in base64 YWJjZGVmZ2hpamtsbW5v jump.\n".repeat(60_000)
  const bytes = new TextEncoder().encode(words)
  const secrets = Array.from({ length: 50 }, (_, index) => Redacted.make(`sk-proj-${"aBc0".repeat(10)}-${index}`))
  const pem = Redacted.make(
    Array.from({ length: 27 }, (_, line) => `${line}${"MIIEvQIBADANBgkq".repeat(4)}`).join("\n")
  )
  const none = Masker.make([])
  const known = Masker.make([...secrets, pem])
  const built = timed(() => Masker.make([...secrets, pem]).text("something that is long enough"))
  return [
    rate("text with nothing known", bytes.length, () => none.text(words), 1000),
    rate("text with 51 secrets known", bytes.length, () => known.text(words), 20),
    rate("stream of bytes with 51 secrets known", bytes.length, () => stream(known, bytes), 20),
    { name: "building for 51 secrets, one of them a key file", value: built * 1000, unit: "ms", target: 500 }
  ]
}

const stream = (masker: Masker.Masker, bytes: Uint8Array): void => {
  const masking = masker.bytes()
  for (let at = 0; at < bytes.length; at += 16_384) masking.take(bytes.subarray(at, at + 16_384))
  masking.rest({ cut: true })
}

const rate = (name: string, length: number, run: () => void, target: number): Report.Measurement => ({
  name: `masking: ${name}`,
  value: length / 1e6 / timed(run),
  unit: "MB/s",
  target,
  better: "higher"
})

/** Seconds of the processor, in the middle of many runs. */
const timed = (run: () => unknown): number =>
  Report.median(
    Array.from({ length: runs }, () => {
      const began = process.cpuUsage()
      run()
      return Math.max(process.cpuUsage(began).user, 1) / 1e6
    })
  )
