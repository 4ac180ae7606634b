import { assert, describe, it } from "@effect/vitest"
import * as ModelTable from "../../src/model/ModelTable.ts"

describe("what is known of models", () => {
  for (const [model, family, schemas, reasoning] of [
    ["gpt-5-mini", "gpt", "strict", true],
    ["openai/gpt-5-mini", "gpt", "strict", true],
    [" OpenAI/GPT-4o-2024-08-06 ", "gpt", "strict", false],
    ["gpt-5-chat-latest", "gpt", "strict", false],
    ["gpt-4", "gpt", "plain", false],
    ["o3-mini-2025-01-31", "o", "strict", true],
    ["openai/gpt-oss-120b", "gpt-oss", "relaxed", true],
    ["deepseek/deepseek-r1:free", "deepseek", "relaxed", true],
    ["Qwen/Qwen3-8B", "qwen", "relaxed", undefined],
    ["anthropic/claude-sonnet-4", "claude", "plain", undefined],
    ["something-else", "unknown", "plain", undefined],
    ["", "unknown", "plain", undefined]
  ] as const) {
    it(`"${model}" is of the family ${family}`, () => {
      const info = ModelTable.infoOf(model)
      assert.deepStrictEqual([info.family, info.toolSchemas, info.reasoning], [family, schemas, reasoning])
    })
  }

  it("the settings know better, also that something is not so", () => {
    const info = ModelTable.infoOf("gpt-5", { reasoning: false, contextTokens: 8000, toolSchemas: "plain" })
    assert.deepStrictEqual(info, {
      ...ModelTable.infoOf("gpt-5"),
      reasoning: false,
      contextTokens: 8000,
      toolSchemas: "plain"
    })
    assert.isTrue(info.images)
  })
})
