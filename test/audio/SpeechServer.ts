/**
 * Servers that transcribe, on loopback, by the protocols of whisper.cpp and of OpenAI. Forms are read by the parser that Node brings for
 * its own `Response`, and not by ours.
 */
import * as Http from "node:http"
import type { AddressInfo } from "node:net"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

export interface Asked {
  readonly path: string
  readonly authorization: string | undefined
  readonly fields: Readonly<Record<string, string>>
  readonly fileName: string
  readonly fileType: string
  readonly content: Uint8Array
}

export interface Answer {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: string
}

/** No answer at all: the connection stays as it is. */
export const never: Answer = { body: "" }

export interface SpeechServer {
  readonly url: (path?: string) => string
  readonly asked: ReadonlyArray<Asked>
}

/** A server that answers what `behave` says of each form. */
export const keep = (behave: (asked: Asked) => Answer): Effect.Effect<SpeechServer, never, Scope.Scope> =>
  Effect.gen(function* () {
    const asked: Array<Asked> = []
    const handle = async (request: Http.IncomingMessage, response: Http.ServerResponse) => {
      const one = await read(request)
      asked.push(one)
      const answer = behave(one)
      if (answer === never) return
      const { body, headers = { "content-type": "application/json" }, status = 200 } = answer
      response.writeHead(status, headers).end(body)
    }
    const server = yield* Effect.acquireRelease(
      Effect.callback<Http.Server>((resume) => {
        const made = Http.createServer((request, response) => {
          handle(request, response).catch((error: unknown) => response.writeHead(400).end(String(error)))
        })
        made.listen(0, "127.0.0.1", () => resume(Effect.succeed(made)))
      }),
      (made) =>
        Effect.sync(() => {
          made.closeAllConnections()
          made.close()
        })
    )
    const { port } = addressOf(server)
    return { url: (path = "/") => `http://127.0.0.1:${port}${path}`, asked }
  })

const addressOf = (server: Http.Server): AddressInfo => {
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("The server has no port.")
  return address
}

const read = async (request: Http.IncomingMessage): Promise<Asked> => {
  const pieces: Array<Buffer> = []
  for await (const piece of request) pieces.push(piece)
  const type = request.headers["content-type"] ?? ""
  const form = await new Response(Buffer.concat(pieces), { headers: { "content-type": type } }).formData()
  const file = form.get("file")
  if (!(file instanceof File)) throw new Error("The form has no file.")
  const fields = [...form].flatMap(([name, value]) => (typeof value === "string" ? [[name, value] as const] : []))
  return {
    path: request.url ?? "",
    authorization: request.headers.authorization,
    fields: Object.fromEntries(fields),
    fileName: file.name,
    fileType: file.type,
    content: new Uint8Array(await file.arrayBuffer())
  }
}

/** What whisper.cpp's server answers when it is asked for `verbose_json`. */
export const whisperReply = (text: string, task = "transcribe"): string =>
  JSON.stringify({
    task,
    language: "english",
    duration: 3.25,
    text: ` ${text}\n`,
    segments: [
      {
        id: 0,
        text: ` ${text}`,
        start: 0,
        end: 3.25,
        tokens: [50_364, 2425],
        words: [{ word: " x", start: 0, end: 1, t_dtw: -1, probability: 0.9 }],
        temperature: 0,
        avg_logprob: -0.3,
        no_speech_prob: 0.01
      }
    ],
    detected_language: "english",
    detected_language_probability: 0.97,
    language_probabilities: { en: 0.97, de: 0.01 }
  })

/** What OpenAI's answers when it is asked for `verbose_json`. */
export const openaiReply = (text: string): string =>
  JSON.stringify({
    task: "transcribe",
    language: "english",
    duration: 3.25,
    text,
    segments: [{ id: 0, seek: 0, start: 0, end: 3.25, text: ` ${text}`, tokens: [1], temperature: 0 }],
    usage: { type: "duration", seconds: 4 }
  })
