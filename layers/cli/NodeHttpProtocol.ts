/**
 * One call, one HTTP request, over Node's own client. It does what `TroupeClient.layerHttp` does with `fetch`, whose
 * loading would take longer than all else that a command like `troupe status` does. No streams: the answer is read whole.
 */
import * as Effect from "effect/Effect"
import * as HttpClientError from "effect/http/HttpClientError"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as RpcClient from "effect/rpc/RpcClient"
import { RpcClientDefect, RpcClientError } from "effect/rpc/RpcClientError"
import type { FromServerEncoded } from "effect/rpc/RpcMessage"
import * as RpcSerialization from "effect/rpc/RpcSerialization"
import * as Schema from "effect/Schema"
import { urlOf } from "../../src/client/TroupeClient.ts"
import type { Options } from "../../src/client/TroupeClient.ts"
import * as Unreachable from "../../src/client/Unreachable.ts"
import * as Wire from "../../src/rpc/Wire.ts"

/** Not imported, because an import reads every export of the module, and one of them loads the whole of `fetch`. */
const Http = process.getBuiltinModule("node:http")

export const layer = (options: Options, silenceMillis = longestSilenceMillis): Layer.Layer<RpcClient.Protocol> =>
  Layer.effect(
    RpcClient.Protocol,
    RpcClient.Protocol.make((writeResponse) =>
      Effect.succeed({
        send: (clientId, request) =>
          request._tag === "Request"
            ? Effect.flatMap(urlOf(options), (url) =>
                post(url, options, `${JSON.stringify(request)}\n`, silenceMillis)
              ).pipe(
                Effect.flatMap(messages),
                Effect.flatMap((answers) =>
                  Effect.forEach(answers, (answer) => writeResponse(clientId, answer), { discard: true })
                )
              )
            : Effect.void,
        supportsAck: false,
        supportsTransferables: false,
        codecFor: RpcSerialization.ndjson.codecFor
      })
    )
  )

const longestSilenceMillis = 10_000

const post = (
  url: string,
  options: Options,
  body: string,
  silenceMillis: number
): Effect.Effect<string, RpcClientError> =>
  Effect.callback((resume) => {
    const request = Http.request(
      new URL(Wire.httpPath, url),
      {
        method: "POST",
        agent: false,
        headers: {
          authorization: `Bearer ${Redacted.value(options.token)}`,
          "content-type": RpcSerialization.ndjson.contentType,
          "content-length": Buffer.byteLength(body)
        }
      },
      (response) => {
        const parts: Array<Buffer> = []
        response.on("data", (part: Buffer) => parts.push(part))
        response.on("error", (cause) => resume(Effect.fail(unreachable(cause))))
        response.on("end", () => {
          const { statusCode: status = 0 } = response
          resume(
            status === 200
              ? Effect.succeed(Buffer.concat(parts).toString("utf8"))
              : Effect.fail(Unreachable.answered(status))
          )
        })
      }
    )
    // A daemon that is stopped or stuck takes the connection and says nothing; nobody should have to guess that.
    request.setTimeout(silenceMillis, () => request.destroy(new Unreachable.DaemonSilent({ millis: silenceMillis })))
    request.on("error", (cause) => resume(Effect.fail(unreachable(cause))))
    request.end(body)
    return Effect.sync(() => request.destroy())
  })

const messages = (text: string): Effect.Effect<ReadonlyArray<FromServerEncoded>, RpcClientError> =>
  Effect.forEach(
    text.split("\n").filter((line) => line !== ""),
    (line) =>
      Effect.mapError(decode(line), (cause) => {
        const message = "The answer is not in the form the interface declares"
        return new RpcClientError({ reason: new RpcClientDefect({ message, cause }) })
      })
  )

/** What comes back for a call: its end, or word that the connection as a whole is of no use. */
const Message = Schema.Union([
  Schema.Struct({
    _tag: Schema.Literal("Exit"),
    requestId: Schema.Union([Schema.String, Schema.Number]),
    exit: Schema.Union([
      Schema.Struct({ _tag: Schema.Literal("Success"), value: Schema.Unknown }),
      Schema.Struct({
        _tag: Schema.Literal("Failure"),
        cause: Schema.Array(
          Schema.Union([
            Schema.Struct({ _tag: Schema.Literal("Fail"), error: Schema.Unknown }),
            Schema.Struct({ _tag: Schema.Literal("Die"), defect: Schema.Unknown }),
            Schema.Struct({ _tag: Schema.Literal("Interrupt"), fiberId: Schema.NullishOr(Schema.Number) })
          ])
        )
      })
    ])
  }),
  Schema.Struct({ _tag: Schema.Literal("Defect"), defect: Schema.Unknown })
])
const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(Message))

const unreachable = (cause: Error) =>
  new RpcClientError({
    reason: new HttpClientError.HttpClientErrorSchema({ _tag: "HttpError", kind: "TransportError", cause })
  })
