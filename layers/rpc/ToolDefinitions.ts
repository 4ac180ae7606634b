/** Tools as programs are told of them: everything that their declarations say. */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { ToolDefinition, ToolSummary } from "../../src/rpc/TroupeRpcs.ts"
import * as ParameterSchema from "../../src/tool/ParameterSchema.ts"
import type * as Tool from "../../src/tool/Tool.ts"
import * as Availability from "../../src/tools/Availability.ts"
import { catalogue } from "../../src/tools/Catalogue.ts"

export const define = (tool: Tool.Any, summary: ToolSummary): ToolDefinition => ({
  ...summary,
  parameters: jsonSchemaOf(tool.parameters),
  result: jsonSchemaOf(tool.success),
  failures: failures.get(tool.name) ?? null,
  limits: {
    timeout: tool.limits.timeout,
    maxChars: tool.limits.output.maxChars,
    spill: tool.limits.output.spill ?? null,
    concurrency: tool.limits.concurrency ?? null,
    perTurn: tool.limits.perTurn ?? null
  },
  enabledBy: Availability.enabledBy(tool.name)
})

const failures: ReadonlyMap<string, Readonly<Record<string, string>>> = new Map(
  catalogue.flatMap(({ items }) => items.map((item) => [item.tool.name, item.failures] as const))
)

/** A schema is JSON by its making; what is not would be a mistake in a tool, and is left out of the answer. */
const jsonSchemaOf = (schema: Tool.Any["success"]): Schema.Json =>
  Option.getOrElse(asJson(ParameterSchema.toJsonSchema(schema)), () => ({}))

const asJson = Schema.decodeUnknownOption(Schema.Json)
