/**
 * The result contract of every tool: a status, the words the model reads, and data for people and programs.
 *
 * A foreseeable refusal is an error, never a success that describes one. `data` holds confirmed effects and public fields
 * only, also those of effects that happened before a failure; never a credential, never a whole internal record.
 */
import * as Schema from "effect/Schema"
import * as Entry from "../thread/Entry.ts"

export const Status = Schema.Literals(["success", "error"])
export type Status = typeof Status.Type

export const ToolResult = Schema.Struct({
  status: Status,
  outcome: Entry.CallOutcome,
  text: Schema.String,
  data: Schema.Json,
  errorCode: Schema.optionalKey(Schema.String),
  /** What was read that others wrote, in one line. */
  untrusted: Schema.optionalKey(Schema.String),
  /** A person, or an earlier yes of theirs, allowed it. */
  approved: Schema.optionalKey(Schema.Boolean)
})
export type ToolResult = typeof ToolResult.Type

/** The data of an error: what the model needs in order not to make the same call again. */
export const errorData = (options: {
  readonly tool: string
  readonly code: string
  readonly message: string
  readonly signature: string
}): Schema.Json => ({
  ok: false,
  tool: options.tool,
  error_code: options.code,
  error: options.message,
  failure_signature: options.signature,
  is_repeated_failure_candidate: true
})
