import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Settings } from "../../src/config/Settings.ts"
import type { SettingsInput } from "../../src/config/Settings.ts"
import * as Availability from "../../src/tools/Availability.ts"
import { catalogue } from "../../src/tools/Catalogue.ts"

const names = catalogue.flatMap(({ items }) => items.map(({ tool }) => tool.name))

const offByItself = new Set([
  "tools.kv_memory",
  "tools.file_storage",
  "tools.grep",
  "tools.apply_patch",
  "tools.bash",
  "tools.python_exec",
  "tools.http_client",
  "tools.audio_transcription",
  "tools.send_gif",
  "vault"
])

/** What is off by itself, but for wait. */
const off = catalogue.flatMap(({ items }) =>
  items.flatMap(({ section = [], tool }) => {
    const name = section.join(".")
    return offByItself.has(name) ? [`${tool.name}: [${name}].enabled`] : []
  })
)

const keptOff = (input: SettingsInput) =>
  Settings.useSync((settings) =>
    names.flatMap((name) => {
      const setting = Availability.keptOffBy(settings, name)
      return setting === null ? [] : [`${name}: ${setting}`]
    })
  ).pipe(Effect.provide(Settings.layer(input)))

describe("a tool that the main agent does without", () => {
  it.effect("is one whose switch is off", () =>
    Effect.gen(function* () {
      assert.sameMembers([...(yield* keptOff({}))], ["wait: [tools.wait].enabled", ...off])
      const other = { time: { enabled: false }, wait: { enabled: true }, calculator: { enabled: false } }
      assert.sameMembers(
        [...(yield* keptOff({ tools: other }))],
        ["current_datetime: [tools.time].enabled", "calculate_expression: [tools.calculator].enabled", ...off]
      )
    })
  )

  it.effect("is one that its lists leave out, but never the one that declares the answer", () =>
    Effect.gen(function* () {
      const wait = { wait: { enabled: true } }
      assert.sameMembers(
        [...(yield* keptOff({ tools: wait, orchestration: { main_agent: { tools_deny: ["chat_*", "pre_*"] } } }))],
        [
          "chat_history_info: [orchestration.main_agent].tools_deny",
          "chat_history_trim: [orchestration.main_agent].tools_deny",
          ...off
        ]
      )
      const allowed = yield* keptOff({ tools: wait, orchestration: { main_agent: { tools_allow: ["*_*n"] } } })
      assert.include(allowed, "wait: [orchestration.main_agent].tools_allow")
      assert.notInclude(allowed.join(), "calculate_expression")
      assert.notInclude(allowed.join(), "pre_response")
    })
  )
})
