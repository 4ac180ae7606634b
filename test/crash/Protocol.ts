/** What the process under test and the outside world say to each other. */
import * as Schema from "effect/Schema"

/** The tools, by what a restart may do with a call of them. */
export const tools = ["look", "put", "fire", "careful"] as const
export type ToolName = (typeof tools)[number]

export const Effected = Schema.Struct({
  tool: Schema.Literals(tools),
  callId: Schema.String,
  key: Schema.String,
  tag: Schema.String
})
export type Effected = typeof Effected.Type

export const Delivered = Schema.Struct({
  id: Schema.String,
  threadId: Schema.String,
  text: Schema.String,
  inDoubt: Schema.Boolean
})
export type Delivered = typeof Delivered.Type

/** One message of the outside channel's feed. Its number is the cursor, and its tag is its id. */
export const FeedItem = Schema.Struct({
  number: Schema.Int,
  chat: Schema.String,
  tag: Schema.String,
  text: Schema.String,
  delivery: Schema.Literals(["now", "after-tool", "after-turn"])
})
export type FeedItem = typeof FeedItem.Type

export const Feed = Schema.Array(FeedItem)

/** The text of a message: its tag, and the tools that the model shall call for it. */
export const textOf = (tag: string, calls: ReadonlyArray<ToolName>): string => `<${tag}> ${calls.join(" ")}`

const message = /<([^>]+)>((?: \w+)*)/

/** Reads it back; undefined for any other text. */
export const readText = (
  text: string
): { readonly tag: string; readonly calls: ReadonlyArray<ToolName> } | undefined => {
  const found = message.exec(text)
  const tag = found?.[1]
  if (found === null || tag === undefined) return undefined
  const words = (found[2] ?? "").split(" ")
  return { tag, calls: words.flatMap((word) => tools.filter((tool) => tool === word)) }
}
