/** Talks to an agent of a running daemon with the openai package: `node OpenAiClient.ts URL TOKEN` */
import OpenAI from "openai"

const [url = "", token = ""] = process.argv.slice(2)
const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: token })
const model = "troupe"

// A conversation that the client keeps and sends whole.
const messages: Array<OpenAI.ChatCompletionMessageParam> = [{ role: "user", content: "what is 6*7?" }]
const first = await client.chat.completions.create({ model, messages })
console.log(first.choices[0]?.message.content)
messages.push({ role: "assistant", content: first.choices[0]?.message.content ?? "" })
messages.push({ role: "user", content: "what is 2+2?" })
const stream = await client.chat.completions.create({ model, messages, stream: true })
for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta.content ?? "")
console.log()

// A conversation that the daemon keeps, under a name.
const headers = { "X-Troupe-Thread": "desk", "Idempotency-Key": "question-1" }
const named = await client.responses.create({ model, input: "what is 12*(3+4)?" }, { headers })
console.log(named.output_text)
