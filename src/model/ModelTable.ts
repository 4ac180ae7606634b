/**
 * What is known of models by their names, so that nobody has to configure it: the shape in which a model takes the schemas
 * of tools, and what it can do. Settings say otherwise where they know better; an unknown model is asked in the plainest
 * way that every server understands.
 */

/**
 * How the parameters of tools are written for a model. `strict`: so that the provider can hold the model to them, every
 * property required, nothing else allowed. `relaxed`: without what some servers cannot read. `plain`: as they are.
 */
export type ToolSchemas = "strict" | "relaxed" | "plain"

/** What is known of a model. `undefined` where nothing is. */
export interface ModelInfo {
  readonly family: string
  /** Tokens that the model can read and write in one request. */
  readonly contextTokens: number | undefined
  readonly toolSchemas: ToolSchemas
  /** Whether it thinks before it answers, and takes settings for that. */
  readonly reasoning: boolean | undefined
  /** Whether it can be shown images. */
  readonly images: boolean | undefined
}

/** What the settings say of a model, in place of the table. */
export type Overrides = { readonly [Key in keyof Omit<ModelInfo, "family">]?: ModelInfo[Key] | undefined }

type Row = readonly [
  start: string,
  family: string,
  toolSchemas: ToolSchemas,
  contextTokens: number | undefined,
  reasoning: boolean | undefined,
  images: boolean | undefined
]

/**
 * By the start of the name behind the last slash, in lower case; the longest start that fits wins. Open models have no
 * context here: it is set by whoever serves them.
 */
const rows: ReadonlyArray<Row> = [
  ["gpt-", "gpt", "strict", undefined, undefined, undefined],
  ["gpt-3.5", "gpt", "plain", 16_385, false, false],
  ["gpt-4", "gpt", "plain", 8_192, false, false],
  ["gpt-4-turbo", "gpt", "plain", 128_000, false, true],
  ["gpt-4o", "gpt", "strict", 128_000, false, true],
  ["gpt-4.1", "gpt", "strict", 1_047_576, false, true],
  ["gpt-5", "gpt", "strict", 400_000, true, true],
  ["gpt-5-chat", "gpt", "strict", 128_000, false, true],
  ["gpt-oss", "gpt-oss", "relaxed", undefined, true, false],
  ["chatgpt-", "gpt", "strict", 128_000, false, true],
  ["codex-", "gpt", "strict", 200_000, true, true],
  ["o1", "o", "strict", 200_000, true, true],
  ["o1-mini", "o", "plain", 128_000, true, false],
  ["o3", "o", "strict", 200_000, true, true],
  ["o3-mini", "o", "strict", 200_000, true, false],
  ["o4", "o", "strict", 200_000, true, true],
  ["claude-", "claude", "plain", 200_000, undefined, true],
  ["gemini-", "gemini", "relaxed", 1_048_576, undefined, true],
  ["gemma", "gemma", "relaxed", undefined, false, undefined],
  ["deepseek", "deepseek", "relaxed", undefined, undefined, false],
  ["deepseek-chat", "deepseek", "relaxed", 128_000, false, false],
  ["deepseek-reasoner", "deepseek", "relaxed", 128_000, true, false],
  ["deepseek-r", "deepseek", "relaxed", undefined, true, false],
  ["qwen", "qwen", "relaxed", undefined, undefined, undefined],
  ["qwq", "qwen", "relaxed", undefined, true, false],
  ["llama", "llama", "relaxed", undefined, false, undefined],
  ["mistral", "mistral", "relaxed", undefined, false, undefined],
  ["ministral", "mistral", "relaxed", undefined, false, undefined],
  ["magistral", "mistral", "relaxed", undefined, true, undefined],
  ["grok-", "grok", "plain", undefined, undefined, undefined],
  ["kimi-", "kimi", "relaxed", undefined, undefined, undefined],
  ["glm-", "glm", "relaxed", undefined, undefined, undefined]
]

const unknown: ModelInfo = {
  family: "unknown",
  contextTokens: undefined,
  toolSchemas: "plain",
  reasoning: undefined,
  images: undefined
}

/** What is known of a model, by the name that its provider uses, such as `gpt-5-mini` or `openai/gpt-5-mini`. */
export const infoOf = (model: string, overrides: Overrides = {}): ModelInfo => {
  const name = model.trim().toLowerCase().split("/").at(-1) ?? ""
  const row = rows
    .filter(([start]) => name.startsWith(start))
    .reduce<Row | undefined>(
      (best, next) => (best !== undefined && best[0].length >= next[0].length ? best : next),
      undefined
    )
  const known = row === undefined ? unknown : fromRow(row)
  return {
    family: known.family,
    contextTokens: overrides.contextTokens ?? known.contextTokens,
    toolSchemas: overrides.toolSchemas ?? known.toolSchemas,
    reasoning: overrides.reasoning ?? known.reasoning,
    images: overrides.images ?? known.images
  }
}

const fromRow = ([, family, toolSchemas, contextTokens, reasoning, images]: Row): ModelInfo => ({
  family,
  contextTokens,
  toolSchemas,
  reasoning,
  images
})
