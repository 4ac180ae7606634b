/** The prompt files of an installation: `main.md`, `compact.md`, `policies/*.md`, `channels/<channel>.md` in `[llm].prompts_dir`. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Schema from "effect/Schema"
import * as Settings from "../../src/config/Settings.ts"
import * as SystemPrompt from "../../src/agent/SystemPrompt.ts"
import * as FileTrouble from "../../src/storage/FileTrouble.ts"
import * as Utf8 from "../Utf8.ts"
import * as RegularFile from "../storage/RegularFile.ts"

export class PromptUnreadable extends Schema.TaggedError<PromptUnreadable>()("PromptUnreadable", {
  path: Schema.String,
  key: Schema.String,
  reason: Schema.String
}) {
  override get message() {
    return `The prompt file ${this.path} (${this.key}) cannot be used: ${this.reason}.`
  }
}

/**
 * The main agent's prompt: `[llm].system_prompt_file`, else `[llm].system_prompt`, else `main.md` of the prompts directory,
 * else the built-in one.
 */
export const mainPrompt = Effect.gen(function* () {
  const { llm } = yield* Settings.Settings
  const file = llm.system_prompt_file?.trim() ?? ""
  if (file !== "") return yield* named(file)
  if (llm.system_prompt !== undefined && llm.system_prompt.trim() !== "") return llm.system_prompt
  return (yield* fromDirectory(`${llm.prompts_dir}/main.md`)) ?? SystemPrompt.defaultMainPrompt
})

/** What a model is told that summarises a conversation: `compact.md`, else the built-in text. */
export const compaction = Effect.gen(function* () {
  const { llm } = yield* Settings.Settings
  return (yield* fromDirectory(`${llm.prompts_dir}/compact.md`)) ?? SystemPrompt.defaultCompactionPrompt
})

/** Policies in the order of their names. */
export const policies = Effect.gen(function* () {
  const { llm } = yield* Settings.Settings
  const fs = yield* FileSystem.FileSystem
  const directory = `${llm.prompts_dir}/policies`
  const names = yield* ifThere(Effect.mapError(fs.readDirectory(directory), whyNot), directory)
  const texts = yield* Effect.forEach((names ?? []).filter((name) => name.endsWith(".md")).toSorted(), (name) =>
    fromDirectory(`${directory}/${name}`)
  )
  return texts.filter((text) => text !== undefined)
})

/** The conventions of a channel. */
export const channel = Effect.fnUntraced(function* (name: string) {
  const { llm } = yield* Settings.Settings
  return /^[A-Za-z0-9_-]{1,64}$/.test(name) ? yield* fromDirectory(`${llm.prompts_dir}/channels/${name}.md`) : undefined
})

/** Reads what the start reads, and fails as it does. */
export const check = Effect.andThen(mainPrompt, Effect.andThen(compaction, policies))

/** What is odd about the folder of all these, if something is. The usual one need not be there. */
export const problem = Effect.gen(function* () {
  const { prompts_dir: path } = (yield* Settings.Settings).llm
  const fs = yield* FileSystem.FileSystem
  const info = yield* Effect.option(fs.stat(path))
  if (info._tag === "Some") {
    if (info.value.type === "Directory") return undefined
    return yield* new PromptUnreadable({ path, key: "[llm].prompts_dir", reason: "it is a file and not a folder" })
  }
  if (path === Settings.Settings.defaults.llm.prompts_dir) return undefined
  return `There is no folder ${path}, which [llm].prompts_dir names: the built-in prompts are used. A relative path starts at the working directory`
})

/** A file that the configuration names must be there and say something. */
const named = Effect.fnUntraced(function* (path: string) {
  const unreadable = (reason: string) => new PromptUnreadable({ path, key: "[llm].system_prompt_file", reason })
  const text = yield* Effect.mapError(textOf(path), ({ reason }) => unreadable(reason))
  return text.trim() === "" ? yield* unreadable("it is empty") : text
})

/** A file that may be absent; one that says nothing counts as absent. One that is there and cannot be read is never passed over. */
const fromDirectory = Effect.fnUntraced(function* (path: string) {
  const text = yield* ifThere(textOf(path), path)
  return text === undefined || text.trim() === "" ? undefined : text
})

const ifThere = <A, R>(read: Effect.Effect<A, WhyNot, R>, path: string) =>
  Effect.catch(read, ({ isMissing, reason }) =>
    isMissing ? Effect.undefined : Effect.fail(new PromptUnreadable({ path, key: "[llm].prompts_dir", reason }))
  )

/** Far more than a model takes before a conversation, in bytes. */
const longest = 1024 * 1024

const textOf = Effect.fnUntraced(function* (path: string) {
  const bytes = yield* Effect.mapError(RegularFile.read(path, longest), whyNot)
  return yield* Effect.mapError(Utf8.decode(bytes), ({ column, found, line }) => ({
    isMissing: false,
    reason: `it is ${found} (line ${line}, column ${column})`
  }))
})

interface WhyNot {
  readonly isMissing: boolean
  readonly reason: string
}

const whyNot = (error: Effect.Error<ReturnType<typeof RegularFile.read>>): WhyNot => {
  if (error._tag !== "PlatformError") return { isMissing: false, reason: error.message }
  switch (error.reason._tag) {
    case "NotFound":
      return { isMissing: true, reason: "there is no such file. A relative path starts at the working directory" }
    case "PermissionDenied":
      return { isMissing: false, reason: "this user may not read it" }
    default:
      return { isMissing: false, reason: `it cannot be read (${FileTrouble.why(error)})` }
  }
}
