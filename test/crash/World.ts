/**
 * The world around the process under test, in the process that tests it: the model, what the tools do, where replies arrive, and
 * the feed that messages come from. It survives every crash and remembers everything.
 */
import * as Schema from "effect/Schema"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { setTimeout as pause } from "node:timers/promises"
import * as Model from "./Model.ts"
import * as Protocol from "./Protocol.ts"

export interface World {
  readonly url: string
  readonly effects: ReadonlyArray<Protocol.Effected>
  readonly deliveries: ReadonlyArray<Protocol.Delivered>
  readonly feed: Array<Protocol.FeedItem>
  /** What a strict model would have refused in the requests. */
  readonly refused: ReadonlyArray<string>
  /** The model is asked and says nothing. */
  silent: boolean
  /** Called at the points of a model's answer. */
  onModel: (point: string) => void
  readonly close: () => Promise<void>
}

const decode = <S extends Schema.Constraint & { readonly DecodingServices: never }>(schema: S) =>
  Schema.decodeUnknownSync(Schema.fromJsonString(schema))
const decodeEffect = decode(Protocol.Effected)
const decodeDelivery = decode(Protocol.Delivered)

const read = async (request: IncomingMessage): Promise<string> => {
  const pieces: Array<Buffer> = []
  for await (const piece of request) pieces.push(piece)
  return Buffer.concat(pieces).toString("utf8")
}

export const open = async (random: () => number): Promise<World> => {
  const effects: Array<Protocol.Effected> = []
  const deliveries: Array<Protocol.Delivered> = []
  const feed: Array<Protocol.FeedItem> = []
  const refused: Array<string> = []
  let requests = 0
  const moment = (millis: number) => pause(random() * millis)

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? "/", "http://world")
    const body = await read(request)
    switch (url.pathname) {
      case "/effect": {
        effects.push(decodeEffect(body))
        await moment(30)
        return void response.end("done")
      }
      case "/deliver": {
        deliveries.push(decodeDelivery(body))
        await moment(30)
        return void response.end("done")
      }
      case "/feed": {
        const after = Number(url.searchParams.get("after"))
        return void response.end(JSON.stringify(feed.filter(({ number }) => number > after).slice(0, 10)))
      }
      default: {
        requests += 1
        const messages = Model.readRequest(body)
        refused.push(...Model.problems(messages))
        world.onModel("model asked")
        if (world.silent) return
        await moment(60)
        response.writeHead(200, { "content-type": "text/event-stream" })
        for (const piece of Model.answer(messages, `${requests}`)) {
          response.write(piece)
          world.onModel("model half way")
          await moment(15)
        }
        response.end()
        world.onModel("model answered")
      }
    }
  }

  const server = createServer((request, response) => {
    request.on("error", () => {})
    response.on("error", () => {})
    // A request that a killed process did not finish is nobody's fault.
    serve(request, response).catch((error: unknown) => {
      if (!request.destroyed) refused.push(`the world could not answer ${request.url}: ${String(error)}`)
      response.destroy()
    })
  })
  // A process that was suspended finds its connections as it left them: the tools and the channel of the rig do not try again.
  server.keepAliveTimeout = 0
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  const world: World = {
    url: `http://127.0.0.1:${port}`,
    effects,
    deliveries,
    feed,
    refused,
    silent: false,
    onModel: () => {},
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      })
  }
  return world
}
