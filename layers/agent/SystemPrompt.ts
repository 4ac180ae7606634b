/** Composes system prompts from the prompt files. What has been read is not read again. */
import * as Cache from "effect/Cache"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as SystemPrompt from "../../src/agent/SystemPrompt.ts"
import * as Settings from "../../src/config/Settings.ts"
import * as Framing from "../../src/turn/Framing.ts"
import * as PromptFiles from "./PromptFiles.ts"

/** Channels whose conventions are kept; far more than there are. */
const cachedChannels = 64

const make = Effect.gen(function* () {
  const problem = yield* PromptFiles.problem
  if (problem !== undefined) yield* Effect.logWarning(problem)
  const policies = yield* PromptFiles.policies
  const channels = yield* Cache.makeWith(PromptFiles.channel, {
    capacity: cachedChannels,
    // What went wrong once must not go wrong for ever.
    timeToLive: (exit) => (Exit.isSuccess(exit) ? Duration.infinity : Duration.zero)
  })
  return SystemPrompt.SystemPrompt.of({
    compaction: yield* PromptFiles.compaction,
    compose: Effect.fn("SystemPrompt.compose")(function* ({ agent, tools, turn }) {
      // They are read when the channel is first used, when nobody is there to mend a file: the turn goes on without.
      const conventions = yield* Effect.catch(Cache.get(channels, turn.channel), (error) =>
        Effect.as(Effect.logWarning(error.message), undefined)
      )
      return [
        agent.prompt,
        ...policies,
        Framing.explanation,
        SystemPrompt.capabilityStatus(tools),
        ...(conventions === undefined ? [] : [conventions])
      ]
        .map((part) => part.trim())
        .join("\n\n")
    })
  })
})

/** Reads the policies; one that is there and cannot be read stops the start with its path. */
export const layer: Layer.Layer<
  SystemPrompt.SystemPrompt,
  PromptFiles.PromptUnreadable,
  Settings.Settings | FileSystem.FileSystem
> = Layer.effect(SystemPrompt.SystemPrompt, make)
