import * as Schema from "effect/Schema"
import * as Outbound from "../../http/Outbound.ts"
import * as Action from "../../policy/Action.ts"
import * as Masking from "../../secret/Masking.ts"
import * as Tool from "../../tool/Tool.ts"
import * as SecretsParameter from "../vault/SecretsParameter.ts"

const problems = {
  body_and_json: "There are both body and json. Give one of them: body for any text, json for a JSON text.",
  invalid_json: "json is not valid JSON. Give a JSON text, or use body for another kind of text.",
  masked_value: `holds ${Masking.mark}, which stands where a secret of this installation was masked. Nothing was sent. Leave it out; a secret that may be sent is named in secrets, where this tool has that parameter.`
} as const

/** The parameters do not fit together, or cannot be what was meant. Nothing was sent. */
export class InvalidRequest extends Schema.TaggedError<InvalidRequest>()("InvalidRequest", {
  reason: Schema.Literals(["body_and_json", "invalid_json", "masked_value"]),
  /** The parameter with a masked value. */
  field: Schema.optionalKey(Schema.Literals(["url", "headers", "body", "json"]))
}) {
  get code() {
    return `http:${this.reason}`
  }
  override get message() {
    return this.reason === "masked_value"
      ? `${this.field ?? "The call"} ${problems.masked_value}`
      : problems[this.reason]
  }
}

/** Methods that by their definition change nothing. */
const reading: ReadonlySet<Outbound.Method> = new Set(["GET", "HEAD", "OPTIONS"])

const fields = {
  url: Schema.NonEmptyString.annotate({ description: "An http or https address." }),
  method: Schema.optionalKey(Schema.Literals(Outbound.methods).annotate({ description: "GET when left out." })),
  headers: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
  body: Schema.optionalKey(Schema.String.annotate({ description: "Text to send." })),
  json: Schema.optionalKey(
    Schema.String.annotate({ description: "JSON text to send, with its content type; instead of body." })
  )
}

const declaration = {
  description:
    "Makes an HTTP request. Pages come back as compact text with links, forms and tables. Any status is a result, an error status too.",
  success: Schema.Struct({
    status: Schema.Int,
    /** The first ten, under names in lower case. */
    headers: Schema.Record(Schema.String, Schema.String),
    body: Schema.String,
    body_storage: Schema.Literals(["inline", "managed_file"]),
    body_file_path: Schema.NullOr(Schema.String),
    body_file_absolute_path: Schema.NullOr(Schema.String),
    body_file_bytes_written: Schema.NullOr(Schema.Int),
    /** What is to be known of the body, where it is not simply all there. */
    body_notice: Schema.NullOr(Schema.String),
    /** Whether a part of what was sent was not looked at, since it is longer than the settings take. */
    truncated: Schema.Boolean,
    /** Whether what was made of it is longer than what is given. */
    truncated_chars: Schema.Boolean,
    processor_used: Schema.Literals(["none", "json", "compact", "text", "whitespace"]),
    content_type: Schema.NullOr(Schema.String)
  }),
  failure: Schema.Union([Outbound.OutboundError, InvalidRequest]),
  limits: { timeout: "10 minutes", output: { maxChars: 64_000, spill: "body" }, concurrency: 8 },
  cancellation: "interruptible",
  replay: "unknown",
  replayOf: ({ method = "GET" }: { readonly method?: Outbound.Method }) => (reading.has(method) ? "safe" : "unknown"),
  capabilities: [Outbound.Network],
  actions: ({
    method = "GET",
    secrets = [],
    url
  }: {
    readonly method?: Outbound.Method
    readonly url: string
    readonly secrets?: ReadonlyArray<string>
  }) => [Action.connect(method, url), ...secrets.map(Action.secret)],
  identifiedBy: ["method", "url"]
} as const

export const HttpRequest = Tool.make("http_request", { ...declaration, parameters: Schema.Struct(fields) })

/** The same where the settings let agents send secrets of the vault: by these names. */
export const withSecrets = (names: ReadonlyArray<string>) =>
  Tool.make("http_request", {
    ...declaration,
    parameters: Schema.Struct({ ...fields, secrets: SecretsParameter.requests(names) })
  })
