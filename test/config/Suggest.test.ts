import { assert, describe, it } from "@effect/vitest"
import * as Suggest from "../../src/config/Suggest.ts"

const keys = ["provider", "model", "temperature", "max_new_tokens", "port", "host", "log_level", "auth_token"]

describe("Suggest", () => {
  it.each([
    ["temprature", "temperature"],
    ["tempertaure", "temperature"],
    ["Temperature", "temperature"],
    ["maxNewTokens", "max_new_tokens"],
    ["max-new-token", "max_new_tokens"],
    ["models", "model"],
    ["prot", "port"],
    ["hots", "host"],
    ["level", "log_level"],
    ["levle", "log_level"],
    ["token", "auth_token"],
    ["colour", undefined],
    ["x", undefined],
    ["", undefined]
  ])("%s: %s", (word, expected) => {
    assert.strictEqual(Suggest.nearest(word, keys), expected)
  })
})
