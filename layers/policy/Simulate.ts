/**
 * What the policy of a settings file would have said of calls that were made: the entries of threads are read again, page by page, and
 * nothing is kept of them but counts.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as Ids from "../../src/Ids.ts"
import * as Action from "../../src/policy/Action.ts"
import { Policy } from "../../src/policy/Policy.ts"
import type * as Rules from "../../src/policy/Rules.ts"
import * as Taint from "../../src/policy/Taint.ts"
import type * as Entry from "../../src/thread/Entry.ts"
import * as Threads from "../../src/thread/Threads.ts"
import * as Arguments from "../../src/tool/Arguments.ts"
import * as Display from "../../src/tool/Display.ts"
import type * as Tool from "../../src/tool/Tool.ts"
import * as ToolName from "../../src/tool/ToolName.ts"
import { catalogue } from "../../src/tools/Catalogue.ts"

/** Calls of one tool that one rule would decide in another way than it was decided. */
export interface Change {
  readonly tool: string
  readonly was: Rules.Decision
  readonly now: Rules.Decision
  readonly rule: string | null
  readonly calls: number
  /** The first of them, in one line that may be shown. */
  readonly first: string
}

export interface Simulation {
  /** Calls that were judged again. */
  readonly calls: number
  /** Calls that nobody decided: their arguments could not be read, or something else came first. */
  readonly undecided: number
  readonly changed: number
  readonly changes: ReadonlyArray<Change>
}

/** Kinds of changes that are told apart; more are counted as the last one. */
const mostKinds = 1_000

const tools: ReadonlyMap<string, Tool.Any> = new Map(
  catalogue.flatMap(({ items }) => items.map(({ tool }) => [tool.name, tool] as const))
)

/** Gathers over the threads, one after the other. Not for sharing. */
export const make = (since: number) =>
  Effect.map(Policy, (policy) => {
    const changes = new Map<string, Change>()
    let calls = 0
    let undecided = 0

    const count = (change: Omit<Change, "calls">) => {
      const named = [change.tool, change.was, change.now, change.rule ?? ""].join("\0")
      const key = changes.has(named) || changes.size < mostKinds ? named : "others"
      const before = changes.get(key) ?? { ...change, calls: 0 }
      changes.set(key, { ...before, calls: before.calls + 1 })
    }

    /** Reads one thread from its beginning: what it had read before matters for what it was allowed. */
    const thread = (key: Threads.ThreadKey, agent: string) => {
      const caller = { agent, channel: Threads.partsOfKey(key).channel, thread: key }
      /** Calls of the last response that have no result yet. */
      let open = new Map<Ids.CallId, Entry.ToolCallRequest>()
      let tainted = false
      return Effect.fnUntraced(function* (stored: Entry.StoredEntry) {
        const { entry } = stored
        if (entry._tag === "TurnStarted") caller.agent = entry.agent
        if (entry._tag === "AssistantMessage") open = new Map(entry.calls.map((call) => [call.callId, call]))
        const call = entry._tag === "ToolResult" ? open.get(entry.callId) : undefined
        if (entry._tag === "ToolResult" && call !== undefined && stored.at >= since) {
          open.delete(entry.callId)
          const was = wasDecided(entry)
          const read = actionsOf(call)
          if (was === undefined || read === undefined) undecided++
          else {
            calls++
            const asked = { ...caller, tool: ToolName.canonical(call.name), tainted, actions: read.actions }
            const { decision, rule = null } = (yield* policy.judge(asked)).verdict
            if (decision !== was) count({ tool: Display.name(asked.tool), was, now: decision, rule, first: read.line })
          }
        }
        tainted ||= Taint.inLog([stored]).length > 0
      })
    }

    const result = (): Simulation => {
      const all = Array.from(changes.values()).toSorted((one, other) => other.calls - one.calls)
      return { calls, undecided, changed: all.reduce((sum, one) => sum + one.calls, 0), changes: all }
    }
    return { thread, result }
  })

/** What was decided of a call; undefined where nothing was. */
const wasDecided = ({
  approved,
  outcome
}: Extract<Entry.Entry, { _tag: "ToolResult" }>): Rules.Decision | undefined => {
  switch (outcome) {
    case "forbidden":
      return "deny"
    case "denied":
      return "ask"
    case "invalid":
    case "skipped":
      return undefined
    default:
      return approved === true ? "ask" : "allow"
  }
}

const Secrets = Schema.Struct({ secrets: Schema.Array(Schema.String) })
const decodeSecrets = Schema.decodeUnknownOption(Secrets)

/** What the call would do. A tool that is not built in is one of which nothing more is known. */
const actionsOf = (call: Entry.ToolCallRequest) => {
  const tool = tools.get(ToolName.canonical(call.name))
  const read = Arguments.read(call.arguments)
  if (Result.isFailure(read)) return undefined
  const line = Display.line(tool ?? { name: call.name, identifiedBy: [] }, read.success)
  if (tool === undefined) return { line, actions: [Action.call] }
  const { secrets: _, ...parameters } = read.success
  const codec = Schema.toCodecJson(tool.parameters)
  const decoded = Schema.decodeUnknownOption(codec)(Arguments.dropNulls(codec.ast, parameters))
  if (Option.isNone(decoded)) return undefined
  const secrets = Option.match(decodeSecrets(read.success), { onNone: () => [], onSome: (found) => found.secrets })
  return { line, actions: [...tool.actionsOf(decoded.value), ...secrets.map(Action.secret)] }
}
