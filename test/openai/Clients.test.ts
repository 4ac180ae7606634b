/** Clients that others wrote, each holding a conversation through the endpoint. */
import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import { assert, describe, it } from "@effect/vitest"
import { Agent, OpenAIProvider, Runner, tool as agentTool } from "@openai/agents"
import { generateText, jsonSchema, streamText, tool } from "ai"
import type { ModelMessage } from "ai"
import * as Effect from "effect/Effect"
import OpenAI from "openai"
import * as Threads from "../../src/thread/Threads.ts"
import * as Endpoint from "./Endpoint.ts"

/** Runs a program of promises against an endpoint whose model counts its answers. */
const against = <A>(use: (baseURL: string) => Promise<A>) =>
  Effect.gen(function* () {
    const url = yield* Endpoint.url
    const result = yield* Effect.promise(() => use(`${url}/v1`))
    const { threads } = yield* (yield* Threads.Threads).list({ limit: 10 })
    return { result, heard: yield* Endpoint.heard, threads }
  }).pipe(Effect.provide(Endpoint.layer({ scripts: Endpoint.counting })))

/** The second request to the model, when the second message went on in the thread of the first. */
const continued = ["user: first question", "assistant: answer 1", "user: second question"]

const lookUp: OpenAI.ChatCompletionTool = {
  type: "function",
  function: { name: "look_up", parameters: { type: "object", properties: { word: { type: "string" } } } }
}
const lookUpTools: Pick<OpenAI.ChatCompletionCreateParams, "tools" | "tool_choice"> = {
  tools: [lookUp],
  tool_choice: "auto"
}
const noTools: typeof lookUpTools = {}

describe("the openai SDK", () => {
  const clientOf = (baseURL: string) => new OpenAI({ baseURL, apiKey: Endpoint.token, maxRetries: 0 })

  for (const [name, tools] of [
    ["without tools", noTools],
    ["with tools", lookUpTools]
  ] as const) {
    it.live(`talks in chat completions, ${name}`, () =>
      Effect.gen(function* () {
        const { heard, result, threads } = yield* against(async (baseURL) => {
          const client = clientOf(baseURL)
          const messages: Array<OpenAI.ChatCompletionMessageParam> = [{ role: "user", content: "first question" }]
          const first = await client.chat.completions.create({ model: "troupe", messages, ...tools })
          messages.push(first.choices[0]!.message, { role: "user", content: "second question" })
          const second = await client.chat.completions.create({ model: "troupe", messages, ...tools })
          return [first, second]
        })
        assert.deepStrictEqual(
          result.map(({ choices }) => [
            choices[0]?.message.content,
            choices[0]?.finish_reason,
            choices[0]?.message.tool_calls
          ]),
          [
            ["answer 1", "stop", undefined],
            ["answer 2", "stop", undefined]
          ]
        )
        assert.deepInclude(result[0]?.usage, { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 })
        assert.deepStrictEqual(heard[1], continued)
        assert.strictEqual(threads.length, 1)
      })
    )

    it.live(`streams chat completions, ${name}`, () =>
      Effect.gen(function* () {
        const { heard, result, threads } = yield* against(async (baseURL) => {
          const client = clientOf(baseURL)
          const messages: Array<OpenAI.ChatCompletionMessageParam> = [{ role: "user", content: "first question" }]
          const ask = () =>
            client.chat.completions
              .stream({ model: "troupe", messages, ...tools, stream_options: { include_usage: true } })
              .finalChatCompletion()
          const first = await ask()
          messages.push(first.choices[0]!.message, { role: "user", content: "second question" })
          return [first, await ask()]
        })
        assert.deepStrictEqual(
          result.map(({ choices, usage }) => [choices[0]?.message.content, usage?.total_tokens]),
          [
            ["answer 1", 15],
            ["answer 2", 15]
          ]
        )
        assert.deepStrictEqual(heard[1], continued)
        assert.strictEqual(threads.length, 1)
      })
    )
  }

  it.live("talks in responses, by the id of the one before", () =>
    Effect.gen(function* () {
      const { heard, result, threads } = yield* against(async (baseURL) => {
        const client = clientOf(baseURL)
        const first = await client.responses.create({ model: "troupe", input: "first question" })
        const second = await client.responses.create({
          model: "troupe",
          input: "second question",
          previous_response_id: first.id,
          tools: [{ type: "function", name: "look_up", parameters: null, strict: null }]
        })
        return [first, second]
      })
      assert.deepStrictEqual(
        result.map((response) => [response.output_text, response.status, response.usage?.total_tokens]),
        [
          ["answer 1", "completed", 15],
          ["answer 2", "completed", 15]
        ]
      )
      assert.deepStrictEqual(heard[1], continued)
      assert.strictEqual(threads.length, 1)
    })
  )

  it.live("reads and deletes a response by its id", () =>
    Effect.gen(function* () {
      const { result } = yield* against(async (baseURL) => {
        const client = clientOf(baseURL)
        const first = await client.responses.create({ model: "troupe", input: "first question" })
        const read = await client.responses.retrieve(first.id)
        await client.responses.delete(first.id)
        const gone = await client.responses.retrieve(first.id).catch((error: unknown) => error)
        return { first, read, gone }
      })
      assert.strictEqual(result.read.output_text, "answer 1")
      assert.deepStrictEqual(result.read.output, result.first.output)
      assert.instanceOf(result.gone, OpenAI.NotFoundError)
    })
  )

  it.live("streams responses, and sends the output back as the next input", () =>
    Effect.gen(function* () {
      const { heard, result, threads } = yield* against(async (baseURL) => {
        const client = clientOf(baseURL)
        const input: Array<OpenAI.Responses.ResponseInputItem> = [{ role: "user", content: "first question" }]
        const ask = () => client.responses.stream({ model: "troupe", input }).finalResponse()
        const first = await ask()
        // Its types do not let the output of every kind be an input.
        input.push(...first.output.filter((item) => item.type === "message"), {
          role: "user",
          content: "second question"
        })
        const second = await ask()
        const events: Array<string> = []
        const third = await client.responses.create({
          model: "troupe",
          stream: true,
          input: "third question",
          previous_response_id: second.id
        })
        for await (const event of third) {
          assert.strictEqual(event.sequence_number, events.length)
          events.push(event.type)
        }
        return { texts: [first.output_text, second.output_text], events }
      })
      assert.deepStrictEqual(result.texts, ["answer 1", "answer 2"])
      assert.deepStrictEqual(result.events, [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed"
      ])
      assert.deepStrictEqual(heard[1], continued)
      assert.strictEqual(threads.length, 1)
    })
  )

  it.live("lists the agents, and reads the errors", () =>
    Effect.gen(function* () {
      const { result } = yield* against(async (baseURL) => {
        const client = clientOf(baseURL)
        const models: Array<string> = []
        for await (const model of client.models.list()) models.push(model.id)
        const one = await client.models.retrieve("troupe")
        const unknown = await client.chat.completions
          .create({ model: "gpt-5", messages: [{ role: "user", content: "hi" }] })
          .catch((error: unknown) => error)
        const stranger = await new OpenAI({ baseURL, apiKey: "wrong", maxRetries: 0 }).models
          .list()
          .catch((error: unknown) => error)
        return { models, one: one.id, unknown, stranger }
      })
      assert.deepStrictEqual(result.models, ["troupe"])
      assert.strictEqual(result.one, "troupe")
      assert.instanceOf(result.unknown, OpenAI.NotFoundError)
      assert.strictEqual(result.unknown.code, "model_not_found")
      assert.strictEqual(result.unknown.param, "model")
      assert.instanceOf(result.stranger, OpenAI.AuthenticationError)
      assert.strictEqual(result.stranger.code, "invalid_api_key")
    })
  )
})

describe("the ai SDK with its OpenAI-compatible provider", () => {
  const modelOf = (baseURL: string) =>
    createOpenAICompatible({ name: "troupe", baseURL, apiKey: Endpoint.token, includeUsage: true })("troupe")
  const tools = {
    look_up: tool({
      description: "Looks a word up",
      inputSchema: jsonSchema<{ word: string }>({ type: "object", properties: { word: { type: "string" } } }),
      execute: async () => "nothing"
    })
  }

  for (const [name, extra] of [
    ["without tools", {}],
    ["with tools", { tools }]
  ] as const) {
    it.live(`generates and streams text, ${name}`, () =>
      Effect.gen(function* () {
        const { heard, result, threads } = yield* against(async (baseURL) => {
          const model = modelOf(baseURL)
          const messages: Array<ModelMessage> = [{ role: "user", content: "first question" }]
          const first = await generateText({ model, messages, maxRetries: 0, ...extra })
          messages.push(...first.response.messages, { role: "user", content: "second question" })
          const second = streamText({ model, messages, maxRetries: 0, ...extra })
          const pieces: Array<string> = []
          for await (const piece of second.textStream) pieces.push(piece)
          return { first: first.text, pieces, finish: await second.finishReason, usage: await second.totalUsage }
        })
        assert.strictEqual(result.first, "answer 1")
        assert.deepStrictEqual(result.pieces, ["answer ", "2"])
        assert.strictEqual(result.finish, "stop")
        assert.strictEqual(result.usage.totalTokens, 15)
        assert.deepStrictEqual(heard[1], continued)
        assert.strictEqual(threads.length, 1)
      })
    )
  }
})

describe("@openai/agents", () => {
  const agent = (tools: boolean) =>
    new Agent({
      name: "Caller",
      model: "troupe",
      instructions: "Be brief.",
      tools: tools
        ? [
            agentTool({
              name: "look_up",
              description: "Looks a word up",
              parameters: {
                type: "object",
                properties: { word: { type: "string" } },
                required: ["word"],
                additionalProperties: false
              },
              strict: true,
              execute: async () => "nothing"
            })
          ]
        : []
    })
  const runnerOf = (baseURL: string, useResponses: boolean) =>
    new Runner({
      tracingDisabled: true,
      modelProvider: new OpenAIProvider({ baseURL, apiKey: Endpoint.token, useResponses })
    })

  for (const [api, useResponses] of [
    ["responses", true],
    ["chat completions", false]
  ] as const) {
    for (const tools of [false, true]) {
      it.live(`runs an agent over ${api}, ${tools ? "with" : "without"} tools`, () =>
        Effect.gen(function* () {
          const { heard, result, threads } = yield* against(async (baseURL) => {
            const runner = runnerOf(baseURL, useResponses)
            const first = await runner.run(agent(tools), "first question")
            const second = await runner.run(
              agent(tools),
              [...first.history, { role: "user", content: "second question" }],
              { stream: true }
            )
            const streamed = second.toTextStream({ compatibleWithNodeStreams: true })
            let text = ""
            for await (const piece of streamed) text += String(piece)
            await second.completed
            return [first.finalOutput, second.finalOutput, text]
          })
          assert.deepStrictEqual(result, ["answer 1", "answer 2", "answer 2"])
          assert.deepStrictEqual(heard[1]?.slice(1), continued.slice(1))
          assert.include(heard[1]?.[0], "Be brief.")
          assert.include(heard[1]?.[0], "first question")
          assert.strictEqual(threads.length, 1)
        })
      )
    }
  }
})
