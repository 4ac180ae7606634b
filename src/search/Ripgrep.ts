/** ripgrep's command line, from version 13 on. */
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
  /** Ignore files in the folders above it, as it is to name them. */
  readonly ignoreFiles: ReadonlyArray<string>
}

/** Every argument that may begin with anything is part of an option, or stands behind `--`. */
export const args = (request: Request, { ignoreFiles, path }: Target): ReadonlyArray<string> => [
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
  ...(request.ignored ? ["--no-ignore"] : ["--glob=!.git", ...ignoreFiles.map((file) => `--ignore-file=${file}`)]),
  `--regexp=${request.pattern}`,
  "--",
  path
]

const always = [
  "--json",
  // Neither the settings of this user nor a repository that the files happen to lie in may change what is found.
  "--no-config",
  "--no-require-git",
  "--no-ignore-parent",
  "--no-ignore-global",
  "--no-ignore-exclude",
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
