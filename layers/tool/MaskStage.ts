/**
 * Masks the secrets of this process in what a tool gives, next to the handler: whatever is written of a call after that (to the
 * model, the journal, a spill file, an event) has none.
 */
import * as Effect from "effect/Effect"
import type { KnownSecrets } from "../../src/secret/KnownSecrets.ts"
import * as SecretMetrics from "../../src/secret/SecretMetrics.ts"
import type * as Registration from "../../src/tool/Registration.ts"
import type * as Tool from "../../src/tool/Tool.ts"
import * as ToolError from "../../src/tool/ToolError.ts"
import type { Invocation, Stage } from "./Invocation.ts"

export const make =
  (secrets: KnownSecrets["Service"]): Stage =>
  (invocation, inner) =>
    Effect.flatMap(inner, (output) => masked(secrets, invocation, output))

const masked = Effect.fnUntraced(function* (
  secrets: KnownSecrets["Service"],
  { reader, registration }: Invocation,
  output: Registration.Output
): Effect.fn.Return<Registration.Output, Tool.Failure> {
  const data = secrets.json(output.data)
  const text = secrets.piece(output.text)
  if (data === output.data && text === output.text) return output
  yield* SecretMetrics.maskedIn(registration.tool.name)
  if (data === output.data) return { ...output, text }
  // Code gets the value and not the words, so it must have been masked as well.
  return yield* registration.output(data).pipe(
    Effect.map((again) => ({ ...again, text: secrets.piece(again.text) })),
    Effect.catch(() =>
      reader === "code" ? Effect.fail(unmaskable(registration.tool)) : Effect.succeed({ value: null, data, text })
    )
  )
})

const unmaskable = (tool: Tool.Any): ToolError.ToolRefused =>
  new ToolError.ToolRefused({
    tool: tool.name,
    code: "tool:secret_in_result",
    reason: "its result holds a secret of this installation where none can be masked"
  })
