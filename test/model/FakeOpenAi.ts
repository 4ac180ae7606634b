/**
 * A chat completions server on the loopback interface that answers as told: any status, headers and bytes, in any
 * pieces, with pauses, cut connections and silence. It notes what it was asked and which clients went away.
 *
 * It is written on `node:http` directly, since it must be able to do what a well-behaved server never does.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Http from "node:http"

/** What happens next on the connection. */
export type Step =
  | { readonly _tag: "Send"; readonly bytes: Uint8Array }
  | { readonly _tag: "Pause"; readonly millis: number }
  | { readonly _tag: "Cut" }
  | { readonly _tag: "Hang" }

export interface Reply {
  readonly status?: number
  readonly headers?: Record<string, string>
  readonly steps: ReadonlyArray<Step>
}

export interface Received {
  readonly path: string
  readonly headers: Http.IncomingHttpHeaders
  /** The decoded JSON object. */
  readonly body: Readonly<Record<string, unknown>>
}

const encoder = new TextEncoder()

/** Bytes as they are. */
export const send = (bytes: string | Uint8Array): Step => ({
  _tag: "Send",
  bytes: typeof bytes === "string" ? encoder.encode(bytes) : bytes
})

/** Real time; keep it short. */
export const pause = (millis: number): Step => ({ _tag: "Pause", millis })

/** The connection is reset. */
export const cut: Step = { _tag: "Cut" }

/** Nothing more comes and the connection stays open. */
export const hang: Step = { _tag: "Hang" }

/** One event. */
export const event = (data: unknown): Step => send(`data: ${JSON.stringify(data)}\n\n`)

/** The end mark of a stream. */
export const done: Step = send("data: [DONE]\n\n")

/** A chunk with a delta. */
export const delta = (fields: object, finishReason: string | null = null): Step =>
  event({
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1_700_000_000,
    model: "fake-1",
    choices: [{ index: 0, delta: fields, finish_reason: finishReason }]
  })

/** The chunk with the token counts. */
export const usage = (fields: object): Step => event({ id: "chatcmpl-1", choices: [], usage: fields })

/** A streamed answer. */
export const stream = (...steps: ReadonlyArray<Step>): Reply => ({ steps })

/** A response that calls one tool. */
export const calls = (name: string, parameters: object): Reply =>
  stream(
    delta({
      role: "assistant",
      tool_calls: [
        { index: 0, id: `call_${name}`, type: "function", function: { name, arguments: JSON.stringify(parameters) } }
      ]
    }),
    delta({}, "tool_calls"),
    done
  )

/** An answer in one piece. */
export const json = (value: unknown, status = 200, headers: Record<string, string> = {}): Reply => ({
  status,
  headers: { "content-type": "application/json", ...headers },
  steps: [send(JSON.stringify(value))]
})

export interface FakeOpenAi {
  readonly baseUrl: string
  /** Requests so far. */
  readonly received: ReadonlyArray<Received>
  /** Completes when request number `index` has arrived. */
  readonly arrived: (index: number) => Effect.Effect<void>
  /** Completes when the client of request number `index` has gone before its answer was complete. */
  readonly abandoned: (index: number) => Effect.Effect<void>
  /** Bytes accepted by the system for sending so far. */
  readonly sent: () => number
}

/** A reply, or one that depends on what was asked. */
export type Answering = Reply | ((received: Received) => Reply)

/** Starts a server that answers the requests with the replies in order; one more gets a 500. */
export const make = Effect.fnUntraced(function* (
  replies: ReadonlyArray<Answering>
): Effect.fn.Return<FakeOpenAi, never, Scope.Scope> {
  const received: Array<Received> = []
  const arrived = replies.map(() => Deferred.makeUnsafe<void>())
  const abandoned = replies.map(() => Deferred.makeUnsafe<void>())
  let sent = 0

  const server = Http.createServer((request, response) => {
    let body = ""
    request.on("data", (piece) => (body += piece))
    request.on("end", () => {
      const asked: Received = { path: request.url ?? "", headers: request.headers, body: readBody(body) }
      const index = received.push(asked) - 1
      const answering = replies[index] ?? json({ error: { message: "no reply left" } }, 500)
      const reply = typeof answering === "function" ? answering(asked) : answering
      response.on("close", () => {
        if (!response.writableFinished) completeAt(abandoned, index)
      })
      completeAt(arrived, index)
      play(reply, response, (bytes) => (sent += bytes))
    })
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => {
      server.listen(0, "127.0.0.1", () => resume(Effect.void))
    }),
    () =>
      Effect.callback<void>((resume) => {
        server.closeAllConnections()
        server.close(() => resume(Effect.void))
      })
  )
  const address = server.address()
  const port = address !== null && typeof address === "object" ? address.port : 0
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    received,
    arrived: (index) => awaitAt(arrived, index),
    abandoned: (index) => awaitAt(abandoned, index),
    sent: () => sent
  }
})

const readBody = (text: string): Readonly<Record<string, unknown>> =>
  Option.getOrElse(decodeBody(text), () => ({ unreadable: text }))

const decodeBody = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Record(Schema.String, Schema.Unknown)))

type Marks = ReadonlyArray<Deferred.Deferred<void>>

const completeAt = (marks: Marks, index: number) => {
  const mark = marks[index]
  if (mark !== undefined) Deferred.doneUnsafe(mark, Effect.void)
}

const awaitAt = (marks: Marks, index: number) => {
  const mark = marks[index]
  return mark === undefined ? Effect.die(new Error(`there is no reply ${index}`)) : Deferred.await(mark)
}

const play = (reply: Reply, response: Http.ServerResponse, onSent: (bytes: number) => void) => {
  response.writeHead(reply.status ?? 200, { "content-type": "text/event-stream", ...reply.headers })
  response.flushHeaders()
  const steps = [...reply.steps]
  const next = (): void => {
    const step = steps.shift()
    if (step === undefined) {
      response.end()
      return
    }
    switch (step._tag) {
      case "Send":
        onSent(step.bytes.length)
        // Waiting for room keeps `sent` honest about what the client has taken.
        if (response.write(step.bytes)) setImmediate(next)
        else response.once("drain", next)
        return
      case "Pause":
        setTimeout(next, step.millis)
        return
      case "Cut":
        response.socket?.resetAndDestroy()
        return
      case "Hang":
        return
    }
  }
  next()
}
