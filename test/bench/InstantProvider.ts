/**
 * A chat completions server, run as a process of its own, that answers at once: the first request of a turn with a tool
 * call, the second with a text. Prints its port. What is left of a turn's time is the runtime's.
 */
import { createServer } from "node:http"

const chunk = (delta: unknown, finish: string | null) =>
  `data: ${JSON.stringify({
    id: "chatcmpl-bench",
    object: "chat.completion.chunk",
    created: 0,
    model: "bench",
    choices: [{ index: 0, delta, finish_reason: finish }]
  })}\n\n`

const usage = `data: ${JSON.stringify({
  id: "chatcmpl-bench",
  object: "chat.completion.chunk",
  created: 0,
  model: "bench",
  choices: [],
  usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 }
})}\n\ndata: [DONE]\n\n`

const toolCall =
  chunk(
    {
      role: "assistant",
      tool_calls: [
        {
          index: 0,
          id: "call_1",
          type: "function",
          function: { name: "calculate_expression", arguments: '{"expression":"12*(3+4)"}' }
        }
      ]
    },
    null
  ) + chunk({}, "tool_calls")

const text = chunk({ role: "assistant", content: "It is " }, null) + chunk({ content: "84." }, null) + chunk({}, "stop")

const server = createServer((request, response) => {
  const parts: Array<Buffer> = []
  request.on("data", (part: Buffer) => parts.push(part))
  request.on("end", () => {
    const body = Buffer.concat(parts).toString("utf8")
    const last = body.lastIndexOf('"role":"tool"') > body.lastIndexOf('"role":"user"')
    response.writeHead(200, { "content-type": "text/event-stream" })
    response.end((last ? text : toolCall) + usage)
  })
})

server.listen(0, "127.0.0.1", () => {
  const address = server.address()
  process.stdout.write(`${typeof address === "object" && address !== null ? address.port : ""}\n`)
})
