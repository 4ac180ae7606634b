/** Tokens that models were given and gave, added up from the entries of threads. */
import type * as Ids from "../Ids.ts"
import * as Entry from "../thread/Entry.ts"

/** What the tokens are added up by. `day` is the date on which a response was recorded. */
export const groupings = ["day", "agent", "thread", "model"] as const
export type Grouping = (typeof groupings)[number]

export interface Tokens extends Required<Entry.Usage> {
  /** Responses of models that were kept: answers, summaries and judgements. */
  readonly responses: number
}

export interface Row extends Tokens {
  /** A date as `2026-03-29`, a name of an agent, a key of a thread, or `provider/model`. */
  readonly name: string
}

export interface Report {
  readonly by: Grouping
  /** In milliseconds since 1970. */
  readonly since: number
  /** Days by date, all others with the most tokens first. */
  readonly rows: ReadonlyArray<Row>
  readonly total: Tokens
}

/** Rows that are told apart; what is named beyond them is added up under {@link others}. */
const mostRows = 1_000
export const others = "(others)"

const none: Tokens = { ...Entry.noUsage, responses: 0 }

/** What a provider was given and gave. Cached tokens are among the input, those of reasoning among the output. */
export const tokensOf = ({ inputTokens, outputTokens }: Tokens): number => inputTokens + outputTokens

/** Takes the entries of threads, each from its first, one thread after the other. Not for sharing. */
export const gather = (by: Grouping, since: number, dayOf: (at: number) => string) => {
  const rows = new Map<string, Tokens>()
  let total = none

  const add = (name: string, usage: Entry.Usage) => {
    const key = rows.has(name) || rows.size < mostRows ? name : others
    rows.set(key, plus(rows.get(key) ?? none, usage))
    total = plus(total, usage)
  }

  /** For one thread; `owner` is its agent, which answers where a turn does not say whose it is. */
  const thread = (key: string, owner: string) => {
    // Turns of a thread follow one another, so that one agent is enough.
    let current: { readonly turnId: Ids.TurnId; readonly agent: string } | undefined
    return ({ at, entry }: Entry.StoredEntry): void => {
      if (entry._tag === "TurnStarted") current = entry
      const spent = at < since ? undefined : spending(entry)
      if (spent === undefined) return
      const agent = current?.turnId === spent.turnId ? current.agent : owner
      const names = { day: () => dayOf(at), agent: () => agent, thread: () => key, model: () => modelName(spent) }
      add(names[by](), spent.usage)
    }
  }

  const report = (): Report => ({
    by,
    since,
    rows: Array.from(rows, ([name, tokens]) => ({ name, ...tokens })).toSorted(
      by === "day"
        ? (a, b) => (a.name < b.name ? -1 : 1)
        : (a, b) => tokensOf(b) - tokensOf(a) || (a.name < b.name ? -1 : 1)
    ),
    total
  })

  return { thread, report }
}

const spending = (entry: Entry.Entry) => {
  switch (entry._tag) {
    case "AssistantMessage":
    case "ToolUseJudged":
    case "Compacted":
      return entry
    default:
      return undefined
  }
}

const modelName = ({ model, provider }: Entry.ModelName): string => `${provider}/${model}`

const plus = (tokens: Tokens, usage: Entry.Usage): Tokens => ({
  ...Entry.addUsage(tokens, usage),
  responses: tokens.responses + 1
})
