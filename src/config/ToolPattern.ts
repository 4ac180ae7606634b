/**
 * Patterns over tool names, as used by allow, deny and approval lists: `*` any run of characters (also none), `?` exactly
 * one, `[abc]` and `[a-z]` one of a set, `[!abc]` one outside it. A `[` that is never closed stands for itself. Case matters.
 */

/** Tool names that existed once as one tool with many operations, and the tools that took their place. */
export const removedTools: ReadonlyMap<string, ReadonlyArray<string>> = new Map([
  [
    "filesystem",
    [
      "list_files",
      "file_info",
      "read_file",
      "code_read",
      "write_file",
      "move_file",
      "delete_file",
      "send_file",
      "glob_files",
      "grep",
      "self_insert_artifact"
    ]
  ],
  ["memory", ["memory_create", "memory_update", "memory_get", "memory_search", "memory_delete", "memory_list_titles"]],
  ["graph", ["graph_link", "graph_unlink", "graph_merge", "graph_neighbors", "graph_path", "graph_search"]],
  ["schedule", ["schedule_prompt", "list_scheduled_prompts", "cancel_scheduled_prompt", "delete_scheduled_prompt"]]
])

/** Whether any of the patterns matches the whole name. Parses the patterns each time: on a hot path, `compile` once. */
export const matches = (patterns: ReadonlyArray<string>, name: string): boolean => compile(patterns)(name)

/** A matcher for a list of patterns; no pattern at all matches nothing. */
export const compile = (patterns: ReadonlyArray<string>): ((name: string) => boolean) => {
  const parsed = patterns.map(parse)
  return (name) => {
    const characters = Array.from(name)
    return parsed.some((tokens) => matchTokens(tokens, characters))
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Helpers

type Token = { readonly _tag: "Run" } | { readonly _tag: "One"; readonly accepts: (character: string) => boolean }

const run: Token = { _tag: "Run" }
const any: Token = { _tag: "One", accepts: () => true }
const literal = (expected: string): Token => ({ _tag: "One", accepts: (character) => character === expected })

const parse = (pattern: string): ReadonlyArray<Token> => {
  const characters = Array.from(pattern)
  const tokens: Array<Token> = []
  let at = 0
  while (at < characters.length) {
    const character = characters[at] ?? ""
    const close = character === "[" ? closingBracket(characters, at) : -1
    if (close !== -1) {
      tokens.push(characterSet(characters.slice(at + 1, close)))
      at = close + 1
      continue
    }
    tokens.push(character === "*" ? run : character === "?" ? any : literal(character))
    at += 1
  }
  return tokens
}

/** Where the set opened at `open` ends. A `]` that comes first in the set (also after `!`) belongs to the set. */
const closingBracket = (characters: ReadonlyArray<string>, open: number): number =>
  characters.indexOf("]", open + (characters[open + 1] === "!" ? 3 : 2))

const characterSet = (inside: ReadonlyArray<string>): Token => {
  const negated = inside[0] === "!"
  const members = negated ? inside.slice(1) : inside
  const ranges: Array<readonly [low: number, high: number]> = []
  for (let at = 0; at < members.length; at++) {
    const low = codePoint(members[at])
    const isRange = members[at + 1] === "-" && at + 2 < members.length
    ranges.push([low, isRange ? codePoint(members[at + 2]) : low])
    if (isRange) at += 2
  }
  return {
    _tag: "One",
    accepts: (character) => {
      const code = codePoint(character)
      return ranges.some(([low, high]) => low <= code && code <= high) !== negated
    }
  }
}

const codePoint = (character: string | undefined): number => character?.codePointAt(0) ?? -1

/**
 * Walks the name once, going back only to the latest `*` (an earlier one can never help), so a hostile pattern costs at
 * most length of pattern × length of name.
 */
const matchTokens = (tokens: ReadonlyArray<Token>, characters: ReadonlyArray<string>): boolean => {
  let token = 0
  let at = 0
  let latestRun = -1
  let runEnd = 0
  while (at < characters.length) {
    const current = tokens[token]
    if (current?._tag === "Run") {
      latestRun = token
      runEnd = at
      token += 1
    } else if (current?._tag === "One" && current.accepts(characters[at] ?? "")) {
      token += 1
      at += 1
    } else if (latestRun !== -1) {
      runEnd += 1
      at = runEnd
      token = latestRun + 1
    } else {
      return false
    }
  }
  return tokens.slice(token).every((rest) => rest._tag === "Run")
}
