/** Whether a recording is taken, before any engine sees it. */
import * as Result from "effect/Result"
import * as AudioFormat from "./AudioFormat.ts"
import { TranscriptionError } from "./Transcriber.ts"
import type { Reason } from "./Transcriber.ts"

export interface Limits {
  readonly maxBytes: number
  /** In seconds, where the length is known. */
  readonly longest: number
}

export const of = (
  content: Uint8Array,
  { longest, maxBytes }: Limits
): Result.Result<AudioFormat.AudioFormat, TranscriptionError> => {
  if (content.length === 0) return refuse("empty")
  if (content.length > maxBytes) return refuse("too_large", `${content.length} bytes, and ${maxBytes} are taken`)
  const format = AudioFormat.read(content)
  if (format === undefined) return refuse("unsupported_format", `expected ${AudioFormat.expected}`)
  return format.seconds !== undefined && format.seconds > longest
    ? refuse("too_long", `${Math.round(format.seconds)} seconds, and ${longest} are taken`)
    : Result.succeed(format)
}

const refuse = (reason: Reason, detail?: string) =>
  Result.fail(new TranscriptionError({ reason, ...(detail === undefined ? {} : { detail }) }))
