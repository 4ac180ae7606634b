/**
 * Every exemption from the house rules, in this one place. A test refuses an exemption that names no existing file, that
 * is no longer needed, or that has no reason; and refuses directives inside the files.
 */
export interface Exemption {
  /** Paths or globs from the root of the repository. */
  readonly files: ReadonlyArray<string>
  /** House rules, without their prefix. */
  readonly rules: ReadonlyArray<string>
  /** Why the file cannot do without. */
  readonly reason: string
}

export const exemptions: ReadonlyArray<Exemption> = [
  {
    files: ["layers/cli/bin.js"],
    rules: ["no-console", "no-process-env", "no-try"],
    reason:
      "Runs before anything is loaded, also on a Node too old to load Effect, to say so in plain words and to find the cache of compiled code."
  },
  {
    files: ["layers/audio/engine.js"],
    rules: ["no-async", "no-json-parse", "no-try"],
    reason:
      "A program of its own, which transcribes one file and ends. It loads neither Effect nor anything of the daemon, so that it starts at once and a crash of the library ends nothing else."
  },
  {
    files: ["layers/config/Environment.ts"],
    rules: ["no-process-env"],
    reason: "The one place that reads the environment of the process; everything else asks the service it provides."
  },
  {
    files: ["layers/cli/MainProcess.ts"],
    rules: ["no-timers"],
    reason: "Ends the process when its fibers do not: a fiber that waits would be one of them."
  },
  {
    files: ["src/client/PromiseEdge.ts"],
    rules: ["no-async", "no-run", "no-throw"],
    reason:
      "The edge to programs without Effect: it runs the effects of the client and hands out promises and iterables."
  },
  {
    files: ["layers/model/Transport.ts"],
    rules: ["no-async"],
    reason:
      "The edge to the openai SDK, whose calls and whose fetch are promises; Effect.tryPromise wraps them right there."
  }
]
