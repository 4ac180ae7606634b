/**
 * Answers over HTTP. The calls of a body are all handed over before the first answer is read, so whoever gives an answer on the
 * way must not wait until there is room for it: with a few of them, nobody would ever read. Pieces of streams do wait.
 */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as RpcServer from "effect/rpc/RpcServer"

type Protocol = RpcServer.Protocol["Service"]

/** The same protocol; the end of a response comes after all answers. */
export const unhurried = Effect.fnUntraced(function* (protocol: Protocol) {
  const scope = yield* Effect.scope
  const given = new Map<number, Set<Fiber.Fiber<void>>>()
  const give = Effect.fnUntraced(function* (clientId: number, answer: Effect.Effect<void>) {
    const answers = given.get(clientId) ?? new Set()
    given.set(clientId, answers)
    const fiber = yield* Effect.forkIn(answer, scope)
    answers.add(fiber)
    fiber.addObserver(() => {
      answers.delete(fiber)
      if (answers.size === 0) given.delete(clientId)
    })
  })
  const wrapped: Protocol = {
    ...protocol,
    send: (clientId, response, transferables) => {
      const sent = protocol.send(clientId, response, transferables)
      return response._tag === "Chunk" ? sent : give(clientId, sent)
    },
    end: (clientId) =>
      Effect.suspend(() => Fiber.awaitAll([...(given.get(clientId) ?? [])])).pipe(
        Effect.andThen(protocol.end(clientId)),
        Effect.forkIn(scope),
        Effect.asVoid
      )
  }
  return wrapped
})
