import type { Problem } from "./ConfigError.ts"

/** Where something stands in the settings: keys of tables, and positions in lists. */
export type Path = ReadonlyArray<string | number>

/** A broken rule: the problem to report, with its place not yet written as text. */
export interface Finding extends Omit<Problem, "path"> {
  readonly path: Path
  /** Other values the rule compared. A finding is dropped when any value it rests on was itself refused. */
  readonly reads?: ReadonlyArray<Path> | undefined
}

/** What must hold between several keys, checked once each of them is well-formed. */
export type Rule<Settings> = (settings: Settings) => ReadonlyArray<Finding>
