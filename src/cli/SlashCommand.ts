/** The commands inside a chat. */

export type SlashCommand =
  | { readonly _tag: "Help" | "Stop" | "Threads" | "Tools" | "Status" | "New" | "Undo" | "Approvals" | "Quit" }
  | { readonly _tag: "Revoke"; readonly id: string }
  | { readonly _tag: "Thread"; readonly name: string }
  | { readonly _tag: "History"; readonly limit: number }
  /** What was typed is no command, or lacks something. */
  | { readonly _tag: "Unknown"; readonly problem: string }

/** A message that begins with a slash, or undefined for any other. Two slashes begin a message that starts with one. */
export const parse = (text: string): SlashCommand | undefined => {
  if (!text.startsWith("/") || text.startsWith("//")) return undefined
  const [name = "", ...rest] = text.slice(1).trim().split(/\s+/)
  const argument = rest.join(" ")
  switch (name.toLowerCase()) {
    case "help":
    case "?":
      return { _tag: "Help" }
    case "stop":
      return { _tag: "Stop" }
    case "threads":
      return { _tag: "Threads" }
    case "tools":
      return { _tag: "Tools" }
    case "status":
      return { _tag: "Status" }
    case "new":
      return { _tag: "New" }
    case "undo":
      return { _tag: "Undo" }
    case "approvals":
      return { _tag: "Approvals" }
    case "revoke":
      return argument === ""
        ? { _tag: "Unknown", problem: "/revoke takes the id of a grant, which /approvals lists" }
        : { _tag: "Revoke", id: argument }
    case "quit":
    case "exit":
    case "q":
      return { _tag: "Quit" }
    case "thread":
      return argument === ""
        ? { _tag: "Unknown", problem: "/thread needs a name, such as /thread main" }
        : { _tag: "Thread", name: argument }
    case "history": {
      const limit = argument === "" ? 20 : Number(argument)
      return Number.isInteger(limit) && limit >= 1 && limit <= 1000
        ? { _tag: "History", limit }
        : { _tag: "Unknown", problem: "/history takes a number from 1 to 1000" }
    }
    default:
      return { _tag: "Unknown", problem: `there is no command /${name}; /help lists them` }
  }
}

export const help = `/help            this list
/stop            stop the turn that runs (Ctrl+C does too)
/threads         list the threads
/thread NAME     go to another thread
/new             go to a new thread
/history [N]     show the last N entries of this thread
/undo            put the files back that the last turn with file changes changed
/approvals       list the questions that wait, and what was allowed for more than one call
/revoke ID       take such a grant back
/tools           list the tools
/status          how the daemon is
/quit            leave (Ctrl+C or Ctrl+D on an empty line does too)
Enter sends; Ctrl+J or Alt+Enter begins a new line; // begins a message that starts with a slash.
What you send while a turn runs reaches it at its next step.
`
