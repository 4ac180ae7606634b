/** The handler with the wrappers of extensions around it. */
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import type { JsonObject } from "../../src/tool/Arguments.ts"
import type * as Registration from "../../src/tool/Registration.ts"
import type * as Tool from "../../src/tool/Tool.ts"
import * as ToolError from "../../src/tool/ToolError.ts"
import type { Invocation } from "./Invocation.ts"

/** Runs the handler. Changed parameters and results are decoded anew, so that no wrapper can break a tool's types. */
export const run = (
  invocation: Invocation,
  wrappers: ReadonlyArray<Registration.Wrapper>
): Effect.Effect<Registration.Output, Tool.Failure> =>
  wrappers.length === 0 ? invocation.prepared.effect : Effect.suspend(() => wrapped(invocation, wrappers))

const wrapped = Effect.fnUntraced(function* (
  invocation: Invocation,
  wrappers: ReadonlyArray<Registration.Wrapper>
): Effect.fn.Return<Registration.Output, Tool.Failure> {
  const { call: context, registration } = invocation
  const { tool } = registration
  let output: Registration.Output | undefined

  const handle = Effect.fnUntraced(function* (parameters: JsonObject): Effect.fn.Return<Schema.Json, Tool.Failure> {
    const prepared =
      parameters === invocation.parameters
        ? invocation.prepared
        : yield* registration.prepare({ call: context, granted: invocation.tools.granted, parameters })
    output = yield* prepared.effect
    return output.data
  })

  const outermost = wrappers.reduce<(parameters: JsonObject) => Effect.Effect<Schema.Json, Tool.Failure>>(
    (next, wrapper) => (parameters) => wrapper.wrap({ tool, context, parameters }, next),
    handle
  )
  const data = yield* outermost(invocation.parameters)
  return output !== undefined && output.data === data
    ? output
    : yield* Effect.mapError(registration.output(data), () => unfitting(tool))
})

const unfitting = (tool: Tool.Any): ToolError.ToolRefused =>
  new ToolError.ToolRefused({
    tool: tool.name,
    code: "tool:unfitting_result",
    reason: "an extension changed its result into one that the tool cannot have"
  })
