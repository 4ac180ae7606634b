/** Servers that transcribe: whisper.cpp's own, and those that speak OpenAI's protocol. Both take a form with the recording in it. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as AudioFormat from "../../src/audio/AudioFormat.ts"
import * as ServerReply from "../../src/audio/ServerReply.ts"
import * as Contract from "../../src/audio/Transcriber.ts"
import type { SettingsValue } from "../../src/config/Settings.ts"
import * as Outbound from "../../src/http/Outbound.ts"
import * as Redaction from "../../src/tool/Redaction.ts"
import type { Engine, Job } from "./Engine.ts"
import * as Multipart from "./Multipart.ts"

type Settings = SettingsValue["tools"]["audio_transcription"]
type Fields = ReadonlyArray<readonly [name: string, value: string]>

/** A whisper.cpp server. Without a path in its address, that of its own default. */
export const whisper = (outbound: Outbound.Outbound["Service"], address: string, settings: Settings): Engine => {
  const url = new URL(address)
  if (url.pathname === "/") url.pathname = "/inference"
  const service = outbound.to({ address })
  return {
    name: "whisper_server",
    run: (job) =>
      ask(service, url.href, job, [
        ["response_format", "verbose_json"],
        ["temperature", "0.0"],
        ["beam_size", String(settings.beam_size)],
        // Its own default is what it was started with, mostly English.
        ["language", job.language ?? "auto"],
        ["translate", String(job.task === "translate")]
      ]).pipe(Effect.map((reply) => ({ ...reply, ...unknown, task: job.task, engine: "whisper_server", model: null })))
  }
}

/** A server of OpenAI's protocol, which has an address for each task; translations are always into English. */
export const openai = (outbound: Outbound.Outbound["Service"], address: string, settings: Settings): Engine => {
  const { api_format, api_key, model } = settings
  const base = address.replace(/\/+$/, "")
  const key = Redacted.value(api_key)
  const headers: Outbound.Service["headers"] = key === "" ? {} : { authorization: Redacted.make(`Bearer ${key}`) }
  const service = outbound.to({ address, headers })
  const language = ({ language, task }: Job): Fields =>
    language === undefined || task === "translate" ? [] : [["language", language]]
  return {
    name: "openai",
    run: (job) =>
      ask(service, `${base}/audio/${job.task === "translate" ? "translations" : "transcriptions"}`, job, [
        ["model", model],
        ["response_format", api_format],
        ...language(job)
      ]).pipe(Effect.map((reply) => ({ ...reply, ...unknown, task: job.task, engine: "openai", model })))
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Helpers

/** What only the server knows. */
const unknown = { device: null, computeType: null } as const

/** An hour of speech with its segments, words and tokens has about a third of this. */
const largestReply = 8 * 1024 * 1024
const connect = Duration.seconds(15)
/** Characters of what a server says of its failure. */
const mostOfProblem = 300

const ask = Effect.fnUntraced(
  function* (service: Outbound.OutboundShape, url: string, job: Job, fields: Fields) {
    const form = yield* Multipart.encode(fields, {
      field: "file",
      name: AudioFormat.fileName(job.format.format),
      mediaType: job.format.mediaType,
      content: job.content
    })
    const response = yield* service.send({
      method: "POST",
      url,
      headers: { accept: "application/json", "content-type": form.contentType },
      body: form.body,
      // Nothing is said until all is done.
      limits: { connect, idle: job.timeout, total: job.timeout, body: largestReply }
    })
    const { bytes } = yield* Outbound.readUpTo(response, largestReply)
    const text = new TextDecoder().decode(bytes)
    if (response.status < 200 || response.status > 299) return yield* refusal(response, clipped(text))
    const reply = ServerReply.decode(text)
    if (reply._tag === "Some") return ServerReply.read(reply.value)
    const problem = clipped(text)
    return yield* problem === undefined ? fail("invalid_reply", typeOf(response)) : fail("rejected", problem)
  },
  Effect.scoped,
  Effect.catchTag("OutboundError", (error) => Effect.fail(ofOutbound(error)))
)

const fail = (reason: Contract.Reason, detail?: string): Effect.Effect<never, Contract.TranscriptionError> =>
  Effect.fail(new Contract.TranscriptionError({ reason, ...(detail === undefined ? {} : { detail }) }))

const typeOf = (response: Outbound.Response): string =>
  `${Outbound.header(response, "content-type")?.split(";", 1)[0] ?? "no content type"}, not the JSON of a transcription`

/** What a server says of its failure. Some repeat the key that they were given: the way out has masked it. */
const clipped = (text: string): string | undefined => {
  const said = ServerReply.problemIn(text)
  return said === undefined ? undefined : Redaction.clip(said, mostOfProblem)
}

const refusal = (response: Outbound.Response, said: string | undefined) => {
  const { status } = response
  const words = said === undefined ? `status ${status}` : `status ${status}: ${said}`
  if (status === 401 || status === 403) return fail("unauthorized", `status ${status}`)
  if (status === 429) return fail("rate_limited", waitOf(response))
  return status >= 500 ? fail("server_failed", words) : fail("rejected", words)
}

const waitOf = (response: Outbound.Response): string => {
  const seconds = Outbound.header(response, "retry-after")
  return seconds !== undefined && /^\d{1,6}$/.test(seconds) ? `in ${seconds} seconds` : "status 429"
}

const ofOutbound = (error: Outbound.OutboundError): Contract.TranscriptionError => {
  const reason = reasons[error.reason] ?? "unreachable"
  return new Contract.TranscriptionError({ reason, detail: error.message })
}

const reasons: Partial<Record<Outbound.Reason, Contract.Reason>> = {
  timeout: "timeout",
  invalid_response: "invalid_reply",
  headers_too_large: "invalid_reply",
  body_too_large: "invalid_reply",
  decompression_bomb: "invalid_reply",
  unsupported_encoding: "invalid_reply",
  invalid_encoding: "invalid_reply"
}
