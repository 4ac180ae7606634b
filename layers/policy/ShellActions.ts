/** What a text for the shell would do, as actions. */
import * as Action from "../../src/policy/Action.ts"
import * as ShellCommands from "./ShellCommands.ts"

export const of = (text: string): ReadonlyArray<Action.Action> => {
  const { commands, files, unknown } = ShellCommands.read(text)
  return [
    ...commands.map((words) => Action.run(words)),
    ...files.map(({ access, path }) => socket(path) ?? Action.file(access, path)),
    ...unknown.map((why) => Action.runUnknown(why))
  ]
}

/** Bash makes connections of files that are none. */
const socket = (path: string | null): Action.Action | undefined => {
  const found = path === null ? null : /^\/+dev\/+(?:tcp|udp)\/+([^/]+)\/+([^/]+)/.exec(path)
  const host = found?.[1]
  return host === undefined ? undefined : Action.connect("TCP", `http://${host}/`)
}
