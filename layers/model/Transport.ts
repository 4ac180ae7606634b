/**
 * The HTTP side of the model adapters: a `fetch` for the SDK, over one pool of connections.
 *
 * It exists for four reasons. The built-in `fetch` gives up on a response after five silent minutes, which a local
 * model reading a long prompt exceeds; the deadlines here belong to the adapter. Only headers named in the settings
 * are sent, whatever the environment of the process says. The key is added here and nowhere else, so no error or log
 * of the SDK can contain it. And it counts the bytes received, so that keep-alive comments, which the SDK swallows,
 * count as signs of life.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as Undici from "undici"

/** One pool of connections. */
export interface Transport {
  /** A `fetch` for one request; `onBytes` runs whenever something arrives. */
  readonly fetch: (options: {
    readonly apiKey: Redacted.Redacted<string> | undefined
    readonly headers: Readonly<Record<string, Redacted.Redacted<string>>>
    readonly onBytes: () => void
  }) => typeof globalThis.fetch
}

/** Opens a pool; it closes with the scope, cutting what is still running. */
export const make = (options: {
  readonly connectTimeout: Duration.Duration
}): Effect.Effect<Transport, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(
        () =>
          new Undici.Agent({
            connect: { timeout: Duration.toMillis(options.connectTimeout) },
            headersTimeout: 0,
            bodyTimeout: 0
          })
      ),
      (agent) => Effect.promise(() => agent.destroy())
    ),
    (agent): Transport => ({ fetch: fetchOver(agent) })
  )

// This is the edge to a promise-based library: `async` is its language.
const fetchOver =
  (agent: Undici.Agent): Transport["fetch"] =>
  ({ apiKey, headers, onBytes }) =>
  async (input, init) => {
    const response = await Undici.fetch(input instanceof Request ? input.url : input, {
      method: init?.method ?? "POST",
      body: typeof init?.body === "string" ? init.body : null,
      signal: init?.signal ?? null,
      // A key must not follow a redirection to another address.
      redirect: "manual",
      dispatcher: agent,
      headers: {
        accept: "text/event-stream, application/json",
        "content-type": "application/json",
        "user-agent": "troupe",
        ...(apiKey === undefined ? {} : { authorization: `Bearer ${Redacted.value(apiKey)}` }),
        ...Object.fromEntries(
          Object.entries(headers).map(([name, value]) => [name.toLowerCase(), Redacted.value(value)])
        )
      }
    })
    const body = response.body?.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform: (chunk, controller) => {
          onBytes()
          controller.enqueue(chunk)
        }
      })
    )
    return new Response(body ?? null, { status: response.status, headers: [...response.headers] })
  }
