/** The names of tools, as models write them and as policies match them. */

/** Old names that models may still have learned. They work, and no list shows them. */
const aliases: ReadonlyMap<string, string> = new Map([
  ["http_client", "http_request"],
  ["calculator", "calculate_expression"],
  ["datetime_now", "current_datetime"],
  ["artifact_insert", "self_insert_artifact"]
])

/** The tool whose call declares how the answer is to be shown: always there, whatever the policy, and offered first. */
export const answering = "pre_response"

/** The name of a call that names no tool. */
export const unknown = "unknown_tool"

/** The name a tool goes by: trimmed, with old names mapped to today's; `unknown_tool` for an empty one. */
export const canonical = (name: string): string => {
  const trimmed = name.trim()
  return trimmed === "" ? unknown : (aliases.get(trimmed) ?? trimmed)
}

/** What every model provider takes as the name of a tool. */
const form = /^[A-Za-z0-9_-]{1,64}$/

/** Whether a tool may be registered under this name. */
export const acceptable = (name: string): boolean => form.test(name) && name !== unknown && !aliases.has(name)
