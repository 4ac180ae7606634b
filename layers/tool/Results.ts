/** From how a call went to the result that is stored and that the model reads. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Digest from "effect/crypto/Digest"
import type { KnownSecrets } from "../../src/secret/KnownSecrets.ts"
import type * as Entry from "../../src/thread/Entry.ts"
import * as WellFormed from "../../src/thread/WellFormed.ts"
import * as Excerpt from "../../src/tool/Excerpt.ts"
import * as FailureSignature from "../../src/tool/FailureSignature.ts"
import type * as Registration from "../../src/tool/Registration.ts"
import type * as Tool from "../../src/tool/Tool.ts"
import * as ToolError from "../../src/tool/ToolError.ts"
import * as ToolResult from "../../src/tool/ToolResult.ts"

/** The longest words of a failure. */
const maxMessage = 4000

export const completed = (output: Registration.Output): ToolResult.ToolResult => ({
  status: "success",
  outcome: "completed",
  text: WellFormed.text(output.text),
  data: clean(output.data)
})

export const failed = Effect.fnUntraced(function* (failure: {
  readonly tool: string
  readonly arguments: Schema.Json
  readonly error: Tool.Failure
  /** The fields of a declared failure, null when there are none. */
  readonly details: Schema.Json
  readonly secrets: KnownSecrets["Service"]
}): Effect.fn.Return<ToolResult.ToolResult, never, Digest.Digest> {
  const { error, secrets, tool } = failure
  const message = Excerpt.startAndEnd(secrets.piece(error.message), maxMessage)
  const signature = yield* FailureSignature.make({ tool, arguments: failure.arguments, code: error.code, message })
  const data = ToolResult.errorData({ tool, code: error.code, message, signature })
  const details = fieldsOf(
    error instanceof ToolError.ToolDenied ? { reason: error.reason } : secrets.json(failure.details)
  )
  const whole = clean(
    details.length === 0 || !isRecord(data) ? data : { ...data, details: Object.fromEntries(details) }
  )
  return { status: "error", outcome: outcomeOf(error), text: JSON.stringify(whole), data: whole, errorCode: error.code }
})

const outcomeOf = (error: Tool.Failure): Entry.CallOutcome => {
  if (error instanceof ToolError.InvalidToolArguments) return "invalid"
  if (error instanceof ToolError.ToolDenied) return "denied"
  if (error instanceof ToolError.ToolForbidden) return "forbidden"
  if (error instanceof ToolError.ToolTimeout) return "timeout"
  if (error instanceof ToolError.ToolCancelled) return "cancelled"
  return "failed"
}

const said: ReadonlySet<string> = new Set(["_tag", "code", "message"])

const fieldsOf = (details: Schema.Json): ReadonlyArray<readonly [string, Schema.Json]> =>
  isRecord(details) ? Object.entries(details).filter(([key]) => !said.has(key)) : []

const isRecord = (data: Schema.Json): data is { readonly [key: string]: Schema.Json } =>
  typeof data === "object" && data !== null && !Array.isArray(data)

/** Every string inside well-formed and without NUL. */
const clean = (value: Schema.Json): Schema.Json => {
  if (typeof value === "string") return WellFormed.text(value)
  if (Array.isArray(value)) return value.map(clean)
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [WellFormed.text(key), clean(item)]))
}
