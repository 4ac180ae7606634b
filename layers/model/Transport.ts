/**
 * The HTTP side of the model adapters: a `fetch` for the SDK, over one pool of connections.
 *
 * It exists for three reasons. The built-in `fetch` gives up on a response after five silent minutes, which a local model
 * reading a long prompt exceeds; the deadlines here belong to the adapter. Only headers named in the settings are sent,
 * whatever the environment of the process says. And the key is added here and nowhere else, so no error or log of the SDK can
 * contain it. What is read of a successful answer is bounded by `Body`; here, what the SDK itself reads of another.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as Undici from "undici"

/** Bounds of a response, in bytes as they come from the network. */
export interface Limits {
  /** Everything together. */
  readonly total: number
  /** One line of an event stream, which is kept in memory until it ends. */
  readonly line: number
  /** The body of an answer that is not a success. It is cut there, and then not understood. */
  readonly errorBody: number
}

/** Several times what an answer of the longest accepted text takes with its framing: 8 million characters. */
export const defaultLimits: Limits = { total: 64 * 1024 * 1024, line: 16 * 1024 * 1024, errorBody: 256 * 1024 }

/** One pool of connections. */
export interface Transport {
  /** The `fetch` of a provider. The body of a response that is not a success is cut at its limit. */
  readonly fetch: (options: {
    readonly apiKey: Redacted.Redacted<string> | undefined
    readonly headers: Readonly<Record<string, Redacted.Redacted<string>>>
  }) => typeof globalThis.fetch
  /** For who reads the bodies. */
  readonly limits: Limits
}

/** Opens a pool; it closes with the scope, cutting what is still running. */
export const make = (options: {
  readonly connectTimeout: Duration.Duration
  readonly limits?: Limits | undefined
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
    (agent): Transport => ({
      fetch: fetchOver(agent, options.limits ?? defaultLimits),
      limits: options.limits ?? defaultLimits
    })
  )

// This is the edge to a promise-based library: `async` is its language.
const fetchOver =
  (agent: Undici.Agent, limits: Limits): Transport["fetch"] =>
  ({ apiKey, headers }) =>
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
    const body = response.ok ? response.body : response.body?.pipeThrough(cutAt(limits.errorBody))
    return new Response(body ?? null, { status: response.status, headers: [...response.headers] })
  }

const cutAt = (limit: number): TransformStream<Uint8Array, Uint8Array> => {
  let left = limit
  return new TransformStream({
    transform: (chunk, controller) => {
      controller.enqueue(chunk.subarray(0, left))
      left -= chunk.length
      if (left < 0) controller.terminate()
    }
  })
}
