import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Digest from "effect/crypto/Digest"
import { Settings } from "../../../src/config/Settings.ts"
import type { SettingsValue } from "../../../src/config/Settings.ts"
import * as Workspace from "../../../src/file/Workspace.ts"
import * as Outbound from "../../../src/http/Outbound.ts"
import * as ResponseFile from "../../../src/http/ResponseFile.ts"
import { Policy } from "../../../src/policy/Policy.ts"
import * as Masking from "../../../src/secret/Masking.ts"
import * as Redaction from "../../../src/tool/Redaction.ts"
import { ToolCallContext } from "../../../src/tool/ToolContext.ts"
import * as ToolRegistry from "../../../src/tool/ToolRegistry.ts"
import { HttpRequest, InvalidRequest, withSecrets } from "../../../src/tools/http/HttpRequest.ts"
import * as SecretUse from "../../../src/vault/SecretUse.ts"
import * as Redirects from "./Redirects.ts"
import * as Rendering from "./Rendering.ts"

type Parameters = typeof HttpRequest.parameters.Type
type Result = typeof HttpRequest.success.Type

type Asked = Parameters & { readonly secrets?: ReadonlyArray<string> }

const handlers = Effect.gen(function* () {
  const { tools } = yield* Settings
  const use = yield* SecretUse.current
  const mayFollow = Redirects.make(yield* Policy)
  const { writing } = yield* Workspace.Workspace
  const digest = yield* Digest.Digest
  const settings = tools.http_client
  const inline = settings.max_chars ?? settings.max_bytes
  const spills = settings.spill_to_managed_file && tools.file_storage.enabled
  /** Only what may be used is read. */
  const most = Math.max(settings.max_bytes, settings.max_parse_bytes, spills ? settings.max_spill_bytes : 0)

  /** Why it is not in a file, or where it is. */
  const toFile = Effect.fnUntraced(function* (url: string, contentType: string | undefined, read: Outbound.Read) {
    if (read.truncated || read.bytes.length > settings.max_spill_bytes) {
      return `was not written to a file, since it has more than ${settings.max_spill_bytes} bytes`
    }
    const name = yield* ResponseFile.name(url, contentType)
    return yield* writing
      .write(`${settings.spill_subdir}/${name}`, read.bytes, { overwrite: false, most: settings.max_spill_bytes })
      .pipe(
        Effect.catchTag("FileError", ({ reason }) => Effect.succeed(`could not be written to a file (file:${reason})`))
      )
  })

  const bodyOf = Effect.fnUntraced(
    function* (response: Outbound.Response, read: Outbound.Read) {
      const contentType = Outbound.header(response, "content-type")
      const kind = Rendering.kindOf(contentType, read.bytes)
      const mostChars = Math.max(inline, settings.spill_after_chars) + 1
      const { processor, text, truncated } = Rendering.render(read, kind, contentType, settings, mostChars)
      const long = text.length > settings.spill_after_chars || (kind === "binary" && read.bytes.length > 0)
      const filed = spills && long ? yield* toFile(response.url, contentType, read) : undefined
      const written = typeof filed === "object" ? filed : undefined
      const shown = Redaction.head(text, written === undefined ? inline : settings.spill_preview_chars)
      const notices = [
        kind === "binary" && read.bytes.length > 0 ? "The body is no text and is not shown." : "",
        typeof filed === "string" ? `The body ${filed}.` : "",
        written === undefined
          ? ""
          : "The body is in the file as it was sent. Read what you need of it with grep, code_read, read_file or bash.",
        shown.length < text.length ? `Only the first ${shown.length} characters are shown.` : "",
        truncated && written === undefined ? "The body is longer than what is read of it here." : ""
      ].filter((notice) => notice !== "")
      return {
        body: shown,
        body_storage: written === undefined ? "inline" : "managed_file",
        body_file_path: written?.place.relative ?? null,
        body_file_absolute_path: written?.place.absolute ?? null,
        body_file_bytes_written: written?.bytes ?? null,
        body_notice: notices.length === 0 ? null : notices.join(" "),
        truncated,
        truncated_chars: shown.length < text.length,
        processor_used: processor,
        content_type: contentType ?? null
      } satisfies Partial<Result>
    },
    Effect.provideService(Digest.Digest, digest)
  )

  return {
    http_request: ({ secrets = [], ...parameters }: Asked) =>
      Effect.scoped(
        Effect.gen(function* () {
          const network = yield* Outbound.Network
          const response = yield* network.send({
            ...(yield* requestOf(parameters, settings)),
            mayFollow: mayFollow(yield* ToolCallContext, parameters),
            credentials: use.credentials(secrets)
          })
          const read = yield* Outbound.readUpTo(response, most)
          return { status: response.status, headers: firstHeaders(response), ...(yield* bodyOf(response, read)) }
        })
      )
  }
})

const options = {
  offeredWhen: Settings.useSync(
    ({ tools }) =>
      () =>
        tools.http_client.enabled
  )
}

export const layer = Layer.unwrap(
  Effect.map(SecretUse.current, ({ forRequests }) =>
    forRequests.length === 0
      ? ToolRegistry.layer([HttpRequest], handlers, options)
      : ToolRegistry.layer([withSecrets(forRequests)], handlers, options)
  )
).pipe(Layer.provide(Digest.layerWebCrypto))

const requestOf = Effect.fnUntraced(function* (
  parameters: Parameters,
  settings: SettingsValue["tools"]["http_client"]
) {
  const { body, headers = {}, json, method = "GET", url } = parameters
  const masked = maskedIn(parameters)
  if (masked !== undefined) return yield* new InvalidRequest({ reason: "masked_value", field: masked })
  if (body !== undefined && json !== undefined) return yield* new InvalidRequest({ reason: "body_and_json" })
  if (json !== undefined) {
    yield* Effect.mapError(readJson(json), () => new InvalidRequest({ reason: "invalid_json" }))
  }
  const hasType = Object.keys(headers).some((name) => name.toLowerCase() === "content-type")
  const sent = json ?? body
  const request: Outbound.Request = {
    method,
    url,
    headers: json === undefined || hasType ? headers : { ...headers, "content-type": "application/json" },
    ...(sent === undefined ? {} : { body: sent }),
    maxRedirects: settings.follow_redirects ? settings.max_redirects : 0,
    limits: {
      connect: settings.timeout_seconds,
      idle: settings.timeout_seconds,
      total: Duration.times(settings.timeout_seconds, 3),
      // Reading stops before.
      body: Number.MAX_SAFE_INTEGER
    }
  }
  return request
})

/**
 * The parameter in which a secret was masked on its way here: a model's calls are masked before tools have them. A server would
 * take the mark for the value.
 */
const maskedIn = ({ body = "", headers = {}, json = "", url }: Parameters) => {
  const texts = { url: [url], headers: Object.entries(headers).flat(), body: [body], json: [json] }
  return fieldNames.find((name) => texts[name].some(holdsMark))
}

const fieldNames = ["url", "headers", "body", "json"] as const

/** As it stands, and as an address or a form writes it. */
const holdsMark = (text: string): boolean => text.replace(/%5b/gi, "[").replace(/%5d/gi, "]").includes(Masking.mark)

const readJson = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Unknown))

const mostHeaders = 10
const longestHeader = 1000

const firstHeaders = (response: Outbound.Response): Record<string, string> =>
  Object.fromEntries(
    [...new Set(response.headers.map(([name]) => name))]
      .slice(0, mostHeaders)
      .map((name) => [name, Redaction.clip(Outbound.header(response, name) ?? "", longestHeader)])
  )
