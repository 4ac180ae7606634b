/** The agents of the configuration: the main one, for now the only one. */
import * as FileSystem from "effect/FileSystem"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Agents from "../../src/agent/Agents.ts"
import * as Settings from "../../src/config/Settings.ts"
import * as PromptFiles from "./PromptFiles.ts"

const make = Effect.gen(function* () {
  const { orchestration } = yield* Settings.Settings
  const { name, tools_allow, tools_deny } = orchestration.main_agent
  const main: Agents.Agent = {
    name,
    prompt: yield* PromptFiles.mainPrompt,
    tools: { allow: tools_allow, deny: tools_deny }
  }
  return Agents.Agents.of({
    main,
    all: [main],
    get: (wanted) =>
      wanted === name ? Effect.succeed(main) : Effect.fail(new Agents.AgentNotFound({ agent: wanted, known: [name] }))
  })
})

/** Reads the main prompt; a prompt file that is named but cannot be read stops the start with its path. */
export const layer: Layer.Layer<
  Agents.Agents,
  PromptFiles.PromptUnreadable,
  Settings.Settings | FileSystem.FileSystem
> = Layer.effect(Agents.Agents, make)
