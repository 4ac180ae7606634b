/** Which tools the main agent does without, and which setting says so: what people need to know when a tool is not used. */
import type { Settings } from "../config/Settings.ts"
import * as PolicyPatterns from "../tool/PolicyPatterns.ts"
import { catalogue } from "./Catalogue.ts"

/** The setting that keeps the tool from the main agent, such as `[tools.wait].enabled`; null when none does. */
export const keptOffBy = ({ orchestration, tools, vault }: Settings["Service"], name: string): string | null => {
  const { tools_allow: allow, tools_deny: deny } = orchestration.main_agent
  const skill = skills.get(name)
  if (skill !== undefined && !tools.skills.native) return "[tools.skills].native"
  if (skill !== undefined && tools.skills.native_disabled.includes(skill)) return "[tools.skills].native_disabled"
  const section = sections.get(name)
  const missing = [section, needed.get(name)].find((one) => one !== undefined && turnedOff(tools, vault).has(one))
  if (missing !== undefined) return `[${missing}].enabled`
  if (PolicyPatterns.allows({ allow, deny }, name)) return null
  return `[orchestration.main_agent].${deny.length > 0 ? "tools_deny" : "tools_allow"}`
}

/** The setting that turns the tool on and off; null for one that is always on, or that is not built in. */
export const enabledBy = (name: string): string | null => {
  if (skills.has(name)) return "[tools.skills].native_disabled"
  const section = sections.get(name)
  return section === undefined ? null : `[${section}].enabled`
}

/** Tool → the section of the settings with its switch. */
const sections: ReadonlyMap<string, string> = new Map(
  catalogue.flatMap(({ items }) =>
    items.flatMap(({ section, tool }) => (section === undefined ? [] : [[tool.name, section.join(".")] as const]))
  )
)

/** Tool → another section that must be on as well. */
const needed: ReadonlyMap<string, string> = new Map(
  catalogue.flatMap(({ items }) =>
    items.flatMap(({ needs, tool }) => (needs === undefined ? [] : [[tool.name, needs.join(".")] as const]))
  )
)

/** Tool → the skill that it belongs to. */
const skills: ReadonlyMap<string, string> = new Map(
  catalogue.flatMap(({ items }) =>
    items.flatMap(({ skill, tool }) => (skill === undefined ? [] : [[tool.name, skill] as const]))
  )
)

const turnedOff = (tools: Settings["Service"]["tools"], vault: Settings["Service"]["vault"]): ReadonlySet<string> =>
  new Set([
    ...(vault.enabled ? [] : ["vault"]),
    ...Object.entries(tools).flatMap(([key, section]) =>
      "enabled" in section && !section.enabled ? [`tools.${key}`] : []
    )
  ])
