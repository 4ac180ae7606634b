/** ripgrep's command line, from version 13 on. */
import * as IgnoreRules from "./IgnoreRules.ts"
import type { Request } from "./FileSearch.ts"

/** The oldest version whose options and messages are these. */
export const oldest = 13

/** Older ones count only the files with a match, where they are to count those that were searched. */
export const countsAllFrom = 15

/** The version in the first line of `rg --version`; undefined when it is another program. */
export const versionIn = (said: string): number | undefined => {
  const major = /^ripgrep (\d+)\./.exec(said)?.[1]
  return major === undefined ? undefined : Number(major)
}

export interface Target {
  /** As the program is to name it: `./` and the path from the folder that it runs in, or an absolute path. */
  readonly path: string
  /** A file with the rules of the ignore files, where there are any. */
  readonly rules: string | undefined
}

/** Every argument that may begin with anything is part of an option, or stands behind `--`. */
export const args = (request: Request, { path, rules }: Target): ReadonlyArray<string> => [
  ...always,
  `--max-filesize=${request.maxFileBytes}`,
  // One more than is shown, so that it is known that there are more.
  `--max-count=${request.maxMatches + 1}`,
  `--before-context=${request.before}`,
  `--after-context=${request.after}`,
  ...(request.fixed ? ["--fixed-strings"] : []),
  ...(request.ignoreCase ? ["--ignore-case"] : []),
  ...(request.recursive ? [] : ["--max-depth=1"]),
  ...(request.hidden ? ["--hidden"] : []),
  ...(request.ignored ? [] : ["--glob=!.git", ...by(rules)]),
  `--regexp=${request.pattern}`,
  "--",
  path
]

/** To list ignore files below a folder: regular files alone, each ended by a NUL. */
export const ignoreFileArgs = (hidden: boolean, { path, rules }: Target): ReadonlyArray<string> => [
  ...apart,
  "--files",
  "--null",
  "--no-messages",
  ...(hidden ? ["--hidden"] : []),
  ...IgnoreRules.names.map((name) => `--glob=${name}`),
  "--glob=!.git",
  ...by(rules),
  "--color=never",
  "--",
  path
]

/** An argument of its own: the program in WebAssembly can open only what is named so. It is absolute, so that it is no option. */
const by = (rules: string | undefined) => (rules === undefined ? [] : ["--ignore-file", rules])

/**
 * Neither the settings of this user nor a repository that the files happen to lie in may change what is found; and ignore files are
 * not to be looked for, since whatever has their name would be opened.
 */
const apart = ["--no-config", "--no-ignore"] as const

const always = [
  ...apart,
  "--json",
  // Names files that are too large, which nothing else does.
  "--debug",
  // A file that matches and is no text is told; without it, the search ends at the first NUL and is silent.
  "--binary",
  "--crlf",
  // A file that gets shorter while it is mapped would kill the program.
  "--no-mmap",
  "--engine=default",
  "--regex-size-limit=10M",
  "--color=never"
] as const
