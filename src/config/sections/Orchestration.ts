import * as Key from "../Key.ts"
import type { Rule } from "../Rule.ts"
import * as Values from "../Values.ts"

const mainAgent = Key.key(
  Key.table({
    name: Key.key(
      Values.ModelId,
      "troupe",
      "What the agent is called, also as a model of the OpenAI-compatible endpoint."
    ),
    tools_allow: Key.key(
      Values.ToolPatterns,
      [],
      "If not empty, the agent has only the tools that match; not together with tools_deny."
    ),
    tools_deny: Key.key(Values.ToolPatterns, [], "Tools the agent does not have; not together with tools_allow.")
  }),
  {},
  "The agent that answers first."
)

const guardrail = Key.key(
  Values.Choice(["disabled", "llm_classifier"]),
  "disabled",
  "Whether an answer that used no tool is judged by the model, for one request more: disabled, or llm_classifier. One that needed a tool is asked for once more."
)

export const section = Key.key(
  Key.table({ main_tool_use_guardrail: guardrail, main_agent: mainAgent }),
  {},
  "The agents, and what each may use."
)

/** Two lists at once would leave open which of them wins. */
export const rules: ReadonlyArray<Rule<{ readonly orchestration: typeof section.Type }>> = [
  ({ orchestration: { main_agent } }) =>
    main_agent.tools_allow.length === 0 || main_agent.tools_deny.length === 0
      ? []
      : [
          {
            path: ["orchestration", "main_agent", "tools_deny"],
            found: "a list, while tools_allow is not empty",
            expected: "only one of tools_allow and tools_deny",
            reads: [["orchestration", "main_agent", "tools_allow"]]
          }
        ]
]
