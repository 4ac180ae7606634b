import type { Problem } from "./ConfigError.ts"

/** Where something stands in the settings: keys of tables, and positions in lists. */
export type Path = ReadonlyArray<string | number>

/** A broken rule: the problem to report, with its place not yet written as text. */
export interface Finding extends Omit<Problem, "path"> {
  readonly path: Path
  /** For a misspelled key: the key that was meant. What a rule says of that one would be said of a value that is there. */
  readonly meant?: Path | undefined
  /** Other values the rule compared. A finding is dropped when any value it rests on was itself refused. */
  readonly reads?: ReadonlyArray<Path> | undefined
}

/**
 * What must hold between several keys, checked once each of them is well-formed. `written` tells whether a value was given or
 * is a default: a default gives way without a word.
 */
export type Rule<Settings> = (settings: Settings, written: (path: Path) => boolean) => ReadonlyArray<Finding>
