/** What the first request of a turn sends to a model, with the settings as they are by default. */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { createServer } from "node:http"
import * as TroupeClient from "../../src/client/TroupeClient.ts"
import { ThreadKey } from "../../src/thread/Threads.ts"
import * as Daemons from "./Daemons.ts"
import type { Measurement } from "./Report.ts"

const text = "what is 12*(3+4)?"

export const measure = async (): Promise<ReadonlyArray<Measurement>> => {
  const provider = await recorder()
  const settings = `[llm]
provider = "bench"
model = "bench"
[providers.bench]
base_url = "${provider.url}"
api_key = "none"
`
  try {
    return await Daemons.inPlace(settings, (place) =>
      Daemons.serving(place, async ({ token, url }) => {
        await Effect.runPromise(
          Effect.provide(
            Effect.flatMap(TroupeClient.TroupeClient, (client) =>
              client.Send({ thread: ThreadKey.make("rpc:bench"), text })
            ),
            TroupeClient.layerHttp({ url, token: Redacted.make(token), name: "bench" })
          )
        )
        const body = await provider.first
        const { messages, tools } = JSON.parse(body)
        return [
          {
            name: "first request of a turn",
            value: Buffer.byteLength(body),
            unit: "B",
            target: 8_000,
            note: `${tools.length} tools: ${bytes(tools)} B, ${messages.length} messages: ${bytes(messages)} B`
          }
        ]
      })
    )
  } finally {
    provider.close()
  }
}

const bytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

/** A model's server that refuses everything and keeps what it was asked first. */
const recorder = async () => {
  const first = Promise.withResolvers<string>()
  const server = createServer((request, response) => {
    const parts: Array<Buffer> = []
    request.on("data", (part: Buffer) => parts.push(part))
    request.on("end", () => {
      first.resolve(Buffer.concat(parts).toString("utf8"))
      response.writeHead(400).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  return {
    url: `http://127.0.0.1:${port}/v1`,
    first: first.promise,
    close: () => {
      server.closeAllConnections()
      server.close()
    }
  }
}
