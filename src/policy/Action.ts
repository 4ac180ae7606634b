/**
 * The normal form of what a tool call would do: what rules are held against. Tools say it of their own calls; a call of a tool
 * that says nothing is one `Call`.
 */
import * as Schema from "effect/Schema"

/** Every form of the paths in an action: from the root of the files and from the top. Added where it is judged. */
const forms = Schema.optionalKey(Schema.Array(Schema.String))

/** Nothing more is known of it than its tool and its arguments. */
const Call = Schema.TaggedStruct("Call", {})

/** A program runs. `words`: the program and its arguments without quotes; null for one that is only known when it runs. */
const Run = Schema.TaggedStruct("Run", { words: Schema.Array(Schema.NullOr(Schema.String)), forms })

/** A text for the shell, run in `cwd`. It is read, and judged as what it holds. */
const Shell = Schema.TaggedStruct("Shell", { text: Schema.String, cwd: Schema.optionalKey(Schema.String) })

/** Programs may run of which the call does not tell; `why` says what hides them. */
const RunUnknown = Schema.TaggedStruct("RunUnknown", { why: Schema.String })

export const Access = Schema.Literals(["read", "write", "delete"])
export type Access = typeof Access.Type

/**
 * A file is touched. `path`: as it is written; null for one that is only known when it runs. `whole`: if it
 * is a folder, so is all that is below.
 */
const File = Schema.TaggedStruct("File", {
  access: Access,
  path: Schema.NullOr(Schema.String),
  whole: Schema.Boolean,
  forms
})

/** A request leaves. `host`: in lower case and ASCII, an address without brackets; null when the address cannot be read. */
const Connect = Schema.TaggedStruct("Connect", {
  method: Schema.String,
  host: Schema.NullOr(Schema.String),
  port: Schema.NullOr(Schema.Int),
  secure: Schema.Boolean
})

/** Something is sent to people. */
const Send = Schema.TaggedStruct("Send", {})

/** A secret of the vault is used, by the name that the settings give its use. */
const Secret = Schema.TaggedStruct("Secret", { name: Schema.String })

export const Action = Schema.Union([Call, Shell, Run, RunUnknown, File, Connect, Send, Secret])
export type Action = typeof Action.Type

export const call: Action = { _tag: "Call" }
export const shell = (text: string, cwd?: string): Action => ({
  _tag: "Shell",
  text,
  ...(cwd === undefined ? {} : { cwd })
})
export const run = (words: ReadonlyArray<string | null>): Action => ({ _tag: "Run", words })
export const runUnknown = (why: string): Action => ({ _tag: "RunUnknown", why })
export const file = (access: Access, path: string | null): Action => ({
  _tag: "File",
  access,
  path,
  whole: false
})
export const folder = (access: Access, path: string): Action => ({
  _tag: "File",
  access,
  path,
  whole: true
})
export const send: Action = { _tag: "Send" }
export const secret = (name: string): Action => ({ _tag: "Secret", name })

/** A request to the address, by its method. */
export const connect = (method: string, address: string): Action => {
  const url = URL.canParse(address) ? new URL(address) : undefined
  return {
    _tag: "Connect",
    method: method.toUpperCase(),
    host: url === undefined ? null : plainHost(url.hostname),
    port: url === undefined ? null : portOf(url),
    secure: url?.protocol === "https:"
  }
}

/** What may be a host in a text: of the addresses in it, and every word that stands by itself. */
export const hostsIn = (text: string): ReadonlyArray<string> => [
  ...hostsOfAddresses(text),
  ...text
    .toLowerCase()
    .split(/[^\p{L}\p{N}.:-]+/u)
    .flatMap((part) => [part, part.replace(/:[^:]*$/, "")])
]

const hostsOfAddresses = (text: string): ReadonlyArray<string> =>
  Array.from(text.matchAll(/[a-z][a-z0-9+.-]{0,30}:\/\/[^\s"'<>]+/gi), ([address]) => connect("GET", address)).flatMap(
    (action) => (action._tag === "Connect" && action.host !== null ? [action.host] : [])
  )

/** One line that says it, for people: who reads it sees the words as they would be run. */
export const describe = (action: Action): string => {
  switch (action._tag) {
    case "Call":
      return "the call as a whole"
    case "Shell":
      return "run a text in the shell"
    case "Run":
      return `run ${action.words.map((word) => (word === null ? "…" : shown(word))).join(" ")}`
    case "RunUnknown":
      return `run something unknown: ${action.why}`
    case "File":
      return `${action.access} ${action.path ?? "a file that is only known when it runs"}`
    case "Connect":
      return `${action.method} ${action.host ?? "an address that cannot be read"}${action.port === null ? "" : `:${action.port}`}`
    case "Send":
      return "send something to the chat"
    case "Secret":
      return `use the secret ${action.name}`
  }
}

/** Quoted where a space or a sign of the shell would make two readings possible. */
const shown = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)

const plainHost = (hostname: string): string => hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "")

const defaultPorts: ReadonlyMap<string, number> = new Map([
  ["http:", 80],
  ["https:", 443]
])

const portOf = ({ port, protocol }: URL): number | null =>
  port === "" ? (defaultPorts.get(protocol) ?? null) : Number(port)

/** Without `.`, `..` and doubled slashes, in the composed form of Unicode. What would leave the top stays at it. */
export const plainPath = (path: string): string => {
  const kept: Array<string> = []
  for (const segment of path.normalize("NFC").split("/")) {
    if (segment === "" || segment === ".") continue
    if (segment === "..") kept.pop()
    else kept.push(segment)
  }
  return `${path.startsWith("/") ? "/" : ""}${kept.join("/")}`
}
