import { assert, describe, it } from "@effect/vitest"
import * as WrittenCall from "../../src/turn/WrittenCall.ts"

const tools = new Set(["look", "current_datetime"])
const isIn = (text: string) => WrittenCall.isIn(text, (name) => tools.has(name))

describe("a call that was written instead of made", () => {
  const written = [
    '<tool_call>\n{"name": "look", "arguments": {"text": "a"}}\n</tool_call>',
    'Let me see. <tool_call>{"name":"current_datetime"}</tool_call>',
    "<tool_call><function=look><parameter=text>a</parameter></function></tool_call>",
    '<function_calls><invoke name="look"><parameter name="text">a</parameter></invoke></function_calls>',
    '<function=look>{"text": "a"}</function>',
    '[TOOL_CALLS][{"name": "look", "arguments": {"text": "a"}}]',
    "<|tool_call|>look(text='a')",
    "<|tool▁calls▁begin|><|tool▁call▁begin|>function<|tool▁sep|>look\n",
    '{"name": "look", "arguments": {"text": "a"}}',
    '```json\n{"name": "look", "parameters": {}}\n```',
    '```\n<tool_call>{"name": "look"}</tool_call>\n```'
  ]
  for (const text of written) it(`is ${JSON.stringify(text)}`, () => assert.isTrue(isIn(text)))

  const other = [
    "",
    "I would call look if I could.",
    'A model of this family writes `<tool_call>{"name": "look"}</tool_call>` into its answer.',
    'It looks like this:\n```\n<tool_call>{"name": "look"}</tool_call>\n```\nand so on.',
    '<tool_call>{"name": "no_such_tool"}</tool_call>',
    '{"name": "look"}',
    '{"name": "Ada", "arguments": {}}',
    "[TOOL_CALLS] is a mark of one family of models.",
    "a < tool_call, and look"
  ]
  for (const text of other) it(`is not ${JSON.stringify(text)}`, () => assert.isFalse(isIn(text)))

  it("is looked for in a time that does not grow out of hand", () => {
    const long = "<tool_call> ".repeat(50_000) + "`".repeat(50_001)
    assert.isFalse(isIn(long))
  })
})
