/**
 * Keeps a long output out of the model's context: it moves to a file where a tool of the turn can read it back, and is
 * cut in the middle otherwise.
 */
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import type * as Spill from "../../src/spill/Spill.ts"
import * as Excerpt from "../../src/tool/Excerpt.ts"
import type * as Registration from "../../src/tool/Registration.ts"
import type { Invocation, Stage } from "./Invocation.ts"

export const make =
  (spill: Spill.Spill["Service"]): Stage =>
  (invocation, inner) =>
    invocation.reader === "code" || invocation.call.parentCallId !== undefined
      ? inner
      : Effect.flatMap(inner, (output) => bounded(spill, invocation, output))

const bounded = Effect.fnUntraced(function* (
  spill: Spill.Spill["Service"],
  invocation: Invocation,
  output: Registration.Output
): Effect.fn.Return<Registration.Output> {
  const {
    registration: { tool },
    tools
  } = invocation
  const allowance = spill.inlineChars(tool.limits.output.maxChars)
  if (output.text.length <= allowance || spill.excluded(tool.name)) return output
  if (!spill.available(Array.from(tools.registrations.keys()))) return yield* cut(invocation, output, allowance)
  const field = spillField(invocation, output)
  const moved =
    field === undefined ? wholeToFile(spill, invocation, output) : fieldToFile(spill, invocation, output, field)
  return yield* moved.pipe(
    Effect.catchTag("SpillFailed", (failure) =>
      Effect.logWarning("A long tool output stays inline, cut", failure.message).pipe(
        Effect.annotateLogs({ tool: tool.name }),
        Effect.andThen(cut(invocation, output, allowance))
      )
    )
  )
})

/** A text field of the output that is to move, with the object it is in. */
interface Field {
  readonly name: string
  readonly content: string
  readonly data: { readonly [key: string]: Schema.Json }
}

const spillField = ({ registration: { tool } }: Invocation, { data }: Registration.Output): Field | undefined => {
  const name = tool.limits.output.spill
  if (name === undefined || !isObject(data)) return undefined
  const content = data[name]
  return typeof content === "string" ? { name, content, data } : undefined
}

const isObject = (data: Schema.Json): data is { readonly [key: string]: Schema.Json } =>
  typeof data === "object" && data !== null && !Array.isArray(data)

/** Only the declared field moves: its place keeps the preview, and the other fields stay. */
const fieldToFile = Effect.fnUntraced(function* (
  spill: Spill.Spill["Service"],
  invocation: Invocation,
  output: Registration.Output,
  field: Field
): Effect.fn.Return<Registration.Output, Spill.SpillFailed> {
  const { tool } = invocation.registration
  const written = yield* spill.write({ tool: tool.name, content: field.content, extension: "txt" })
  const rest = yield* rewritten(invocation, output, { ...field.data, [field.name]: written.preview })
  const pointer = { output_field: field.name, ...pointerTo(written, field.content.length) }
  return {
    value: output.value,
    data: isObject(rest.data) ? { ...rest.data, ...pointer } : pointer,
    text: `${rest.text}\n${JSON.stringify(pointer)}`
  }
})

const wholeToFile = Effect.fnUntraced(function* (
  spill: Spill.Spill["Service"],
  { registration: { tool } }: Invocation,
  output: Registration.Output
): Effect.fn.Return<Registration.Output, Spill.SpillFailed> {
  const isJson = tool.text(output.value) === undefined
  const written = yield* spill.write({ tool: tool.name, content: output.text, extension: isJson ? "json" : "txt" })
  const data = {
    ok: true,
    tool: tool.name,
    ...pointerTo(written, output.text.length),
    output_preview: written.preview
  }
  return { value: output.value, data, text: JSON.stringify(data) }
})

const pointerTo = (written: Spill.Spilled, characters: number) => ({
  output_storage: "managed_file",
  output_file_path: written.path,
  output_file_absolute_path: written.absolutePath,
  output_bytes_written: written.bytes,
  output_notice:
    `The output has ${characters} characters, more than fit here, and is in the file. ` +
    "Read what you need of it with grep, code_read, read_file or bash."
})

/** The output with its middle left out, in the declared field or in the whole. */
const cut = Effect.fnUntraced(function* (
  invocation: Invocation,
  output: Registration.Output,
  allowance: number
): Effect.fn.Return<Registration.Output> {
  const field = spillField(invocation, output)
  if (field !== undefined) {
    const others = output.text.length - field.content.length
    const shortened = Excerpt.startAndEnd(field.content, Math.max(0, allowance - Math.max(0, others)))
    const shorter = yield* rewritten(invocation, output, { ...field.data, [field.name]: shortened })
    if (shorter.text.length <= allowance) return shorter
  }
  const text = Excerpt.startAndEnd(output.text, allowance)
  const data = { ok: true, output_truncated: true, output_characters: output.text.length, output: text }
  return { value: output.value, data: JSON.stringify(output.data).length <= allowance ? output.data : data, text }
})

/** The output with other data, in the tool's own words; as it was where the tool's schema does not take the change. */
const rewritten = (
  { registration }: Invocation,
  output: Registration.Output,
  data: Schema.Json
): Effect.Effect<Registration.Output> =>
  Effect.catch(registration.output(data), () =>
    Effect.succeed({ value: output.value, data, text: JSON.stringify(data) })
  )
