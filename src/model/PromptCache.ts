/** What lets a provider find again what it has already read of a conversation, which costs less and answers sooner. */
import * as Context from "effect/Context"

/** The conversation that a request belongs to, under a name that tells nothing else. None by default. */
export const Key = Context.Reference<string | undefined>("troupe/model/PromptCache/Key", {
  defaultValue: () => undefined
})
