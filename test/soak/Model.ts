/** A chat completions server that answers at once: with a call of the tool that the last message names, then with a text. */
import { createServer } from "node:http"

export interface Model {
  readonly url: string
  readonly close: () => Promise<void>
}

export const open = async (): Promise<Model> => {
  let requests = 0
  const server = createServer((request, response) => {
    const parts: Array<Buffer> = []
    request.on("data", (part: Buffer) => parts.push(part))
    request.on("end", () => {
      requests += 1
      const { messages } = JSON.parse(Buffer.concat(parts).toString("utf8"))
      response.writeHead(200, { "content-type": "text/event-stream" })
      response.end(answer(messages.at(-1), requests))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  return {
    url: `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      })
  }
}

const answer = (last: { readonly role: string; readonly content: unknown }, salt: number): string => {
  const tool = last.role === "user" ? /\b(small|large)\b/.exec(JSON.stringify(last.content))?.[1] : undefined
  const delta =
    tool === undefined
      ? { role: "assistant", content: "Done." }
      : {
          role: "assistant",
          tool_calls: [{ index: 0, id: `call_${salt}`, type: "function", function: { name: tool, arguments: "{}" } }]
        }
  return (
    chunk([{ index: 0, delta, finish_reason: null }]) +
    chunk([{ index: 0, delta: {}, finish_reason: tool === undefined ? "stop" : "tool_calls" }]) +
    chunk([], { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 }) +
    "data: [DONE]\n\n"
  )
}

const chunk = (choices: ReadonlyArray<unknown>, usage?: unknown): string =>
  `data: ${JSON.stringify({ id: "soak", object: "chat.completion.chunk", created: 0, model: "soak", choices, usage })}\n\n`
