/** Which tools the main agent does without, and which setting says so: what people need to know when a tool is not used. */
import type { Settings } from "../config/Settings.ts"
import * as PolicyPatterns from "../tool/PolicyPatterns.ts"
import { catalogue } from "./Catalogue.ts"

/** The setting that keeps the tool from the main agent, such as `[tools.wait].enabled`; null when none does. */
export const keptOffBy = ({ orchestration, tools }: Settings["Service"], name: string): string | null => {
  const { tools_allow: allow, tools_deny: deny } = orchestration.main_agent
  const section = sections.get(name)
  if (section !== undefined && turnedOff(tools).has(section)) return `[${section}].enabled`
  if (PolicyPatterns.allows({ allow, deny }, name)) return null
  return `[orchestration.main_agent].${deny.length > 0 ? "tools_deny" : "tools_allow"}`
}

/** Tool → the section of the settings with its switch. */
const sections: ReadonlyMap<string, string> = new Map(
  catalogue.flatMap(({ items }) =>
    items.flatMap(({ section, tool }) => (section === undefined ? [] : [[tool.name, section.join(".")] as const]))
  )
)

const turnedOff = (tools: Settings["Service"]["tools"]): ReadonlySet<string> =>
  new Set(
    Object.entries(tools).flatMap(([key, section]) =>
      "enabled" in section && !section.enabled ? [`tools.${key}`] : []
    )
  )
