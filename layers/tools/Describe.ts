/** The reference part of `docs/tools.md`, written from the tools' own definitions. */
import * as Outline from "../../src/config/Outline.ts"
import { schema } from "../../src/config/Settings.ts"
import * as ParameterSchema from "../../src/tool/ParameterSchema.ts"
import type * as Tool from "../../src/tool/Tool.ts"
import { catalogue } from "../../src/tools/Catalogue.ts"
import type { Group, Item } from "../../src/tools/Catalogue.ts"

/** The page with its reference part written anew; a page without the marks as it is. */
export const intoPage = (page: string): string => {
  const start = page.indexOf(startMark)
  const end = page.indexOf(endMark)
  return start === -1 || end === -1
    ? page
    : `${page.slice(0, start + startMark.length)}\n\n${reference()}\n\n${page.slice(end)}`
}

const startMark = "<!-- reference: written by `npm run docs:tools` -->"
const endMark = "<!-- end of reference -->"

/** Every group and tool of the catalogue. */
export const reference = (): string => catalogue.flatMap(groupLines).join("\n").trim()

const groupLines = (group: Group): ReadonlyArray<string> => [
  `## ${group.title}`,
  "",
  ...(group.page === "tools.md" ? [] : [`What it is about: [${group.page}](${group.page}).`, ""]),
  ...group.items.flatMap(itemLines)
]

const itemLines = (item: Item): ReadonlyArray<string> => [
  `### \`${item.tool.name}\``,
  "",
  plain(item.tool.description),
  "",
  ...fieldTable("parameter", item.tool.parameters, "It takes no parameters."),
  ...fieldTable("result", item.tool.success, "It gives an empty result."),
  ...failureLines(item),
  ...ruleLines(item.tool),
  ...settingLines(item)
]

/** Text that means nothing to Markdown. */
const plain = (text: string): string => text.replace(/[*_|<]/g, "\\$&")

const ruleLines = ({ cancellation, capabilities, limits, replay, replayOf }: Tool.Any): ReadonlyArray<string> => [
  `- **Limits:** ${limits.timeout}; ${limits.output.maxChars} characters inline` +
    (limits.output.spill === undefined ? "" : `, beyond which \`${limits.output.spill}\` moves to a file`) +
    (limits.concurrency === undefined ? "" : `; ${limits.concurrency} at the same time`) +
    (limits.perTurn === undefined ? "" : `; ${limits.perTurn} in a turn`),
  `- **When it is stopped:** ${stops[cancellation]}`,
  `- **After a crash:** ${replays[replay]}${replayOf === undefined ? "" : " Some calls are safer, by their parameters."}`,
  `- **Capabilities:** ${capabilities.length === 0 ? "none" : capabilities.map(({ capability }) => `\`${capability}\``).join(", ")}`
]

const stops: Readonly<Record<Tool.Cancellation, string>> = {
  interruptible: "interruptible: it ends at once.",
  atomic: "atomic: it finishes or undoes itself, and is waited for."
}

const replays: Readonly<Record<Tool.Replay, string>> = {
  safe: "safe: a call that was running is run again.",
  idempotent: "idempotent: a call that was running is run again under the same key, which changes nothing twice.",
  unknown: "unknown: a call that was running is not run again, and the model is told that nobody knows."
}

const failureLines = ({ failures }: Item): ReadonlyArray<string> =>
  Object.keys(failures).length === 0
    ? ["It has no failures of its own.", ""]
    : [
        "| failure | when |",
        "| --- | --- |",
        ...Object.entries(failures).map(([code, meaning]) => `| \`${code}\` | ${meaning} |`),
        ""
      ]

const settingLines = ({ needs, section, skill }: Item): ReadonlyArray<string> => {
  if (skill !== undefined) {
    return [
      `- **Offered:** unless \`native_disabled\` of \`[tools.skills]\` names \`${skill}\`, or \`native\` is false`,
      ""
    ]
  }
  if (section === undefined) return ["- **Offered:** always", ""]
  const table = Outline.at(schema.ast, section)
  const keys = table === undefined ? [] : Outline.entries(table)
  const isOn = keys.some((entry) => entry.name === "enabled" && entry.notes?.fallback === true)
  return [
    `- **Offered:** while \`[${section.join(".")}].enabled\` is true, which it is ${isOn ? "" : "not "}by default${alsoNeeded(needs)}`,
    `- **Settings:** ${keys.map((entry) => `\`${entry.name}\` (${JSON.stringify(entry.notes?.fallback ?? null)})`).join(", ")}`,
    ""
  ]
}

const alsoNeeded = (section: Item["needs"]): string =>
  section === undefined ? "" : `, and \`[${section.join(".")}].enabled\` too`

// ---------------------------------------------------------------------------------------------------------------------
// Fields

interface Field {
  readonly name: string
  readonly kind: string
  readonly needed: boolean
  readonly meaning: string
}

const fieldTable = (title: string, schemaOf: Tool.Any["success"], empty: string): ReadonlyArray<string> => {
  const fields = fieldsOf(ParameterSchema.toJsonSchema(schemaOf), "")
  if (fields.length === 0) return [empty, ""]
  const isParameter = title === "parameter"
  return [
    `| ${title} | kind |${isParameter ? " meaning |" : ""}`,
    `| --- | --- |${isParameter ? " --- |" : ""}`,
    ...fields.map(
      ({ kind, meaning, name, needed }) =>
        `| \`${name}\` | ${kind}${needed ? "" : ", optional"} |${isParameter ? ` ${plain(meaning)} |` : ""}`
    ),
    ""
  ]
}

/** The fields of an object and of the objects in it, under dotted names; `[]` stands for the items of a list. */
const fieldsOf = (json: unknown, inside: string): ReadonlyArray<Field> => {
  const properties = record(record(json)["properties"])
  const required = record(json)["required"]
  return Object.entries(properties).flatMap(([key, property]) => {
    const name = inside + key
    const needed = Array.isArray(required) && required.includes(key)
    const { description } = record(property)
    const field: Field = {
      name,
      kind: kindOf(property),
      needed,
      meaning: typeof description === "string" ? description : ""
    }
    return [field, ...fieldsOf(property, `${name}.`), ...fieldsOf(record(property)["items"], `${name}[].`)]
  })
}

const kindOf = (json: unknown): string => {
  const { anyOf, enum: words, items, maximum, maxLength, minimum, minLength, type } = record(json)
  if (Array.isArray(anyOf)) return anyOf.map(kindOf).join(" or ")
  if (Array.isArray(words)) return words.map((word) => `\`${String(word)}\``).join(", ")
  if (type === "array") return `list of ${kindOf(items)}`
  const bounds = [
    minimum === undefined ? "" : `from ${String(minimum)}`,
    maximum === undefined ? "" : `to ${String(maximum)}`,
    minLength === 1 ? "not empty" : "",
    maxLength === undefined ? "" : `at most ${String(maxLength)} characters`
  ]
  return [kinds.get(String(type)) ?? "anything", ...bounds].filter((word) => word !== "").join(" ")
}

const kinds: ReadonlyMap<string, string> = new Map([
  ["string", "text"],
  ["integer", "whole number"],
  ["number", "number"],
  ["boolean", "true or false"],
  ["object", "object"],
  ["null", "null"]
])

const record = (json: unknown): Readonly<Record<string, unknown>> =>
  typeof json === "object" && json !== null ? Object.fromEntries(Object.entries(json)) : {}
