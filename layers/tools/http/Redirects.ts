/** Redirections before the policy: each is a request of its own, to an address that a server has chosen. */
import * as Effect from "effect/Effect"
import type * as Outbound from "../../../src/http/Outbound.ts"
import * as Action from "../../../src/policy/Action.ts"
import type { Policy } from "../../../src/policy/Policy.ts"
import type * as ToolContext from "../../../src/tool/ToolContext.ts"
import { HttpRequest } from "../../../src/tools/http/HttpRequest.ts"

interface Target {
  readonly method?: Outbound.Method
  readonly url: string
}

/**
 * Whether a redirection may be followed. Nobody can be asked in the middle of a request. What a person was asked about covers the
 * same host and the same rule.
 */
export const make =
  (policy: Policy["Service"]) =>
  ({ agent, channel, threadKey }: ToolContext.TurnScope, from: Target) => {
    const verdictOn = ({ method = "GET", url }: Target, tainted: boolean) =>
      Effect.map(
        policy.judge({
          tool: HttpRequest.name,
          agent,
          channel,
          thread: threadKey,
          tainted,
          actions: [Action.connect(method, url)]
        }),
        ({ verdict }) => verdict
      )
    return (to: Target) =>
      Effect.gen(function* () {
        // Where it leads is what others wrote, whatever was read before.
        const { decision, rule } = yield* verdictOn(to, true)
        if (decision !== "ask") return decision === "allow"
        const first = yield* verdictOn(from, true)
        return first.decision === "ask" && first.rule === rule && hostOf(from) === hostOf(to)
      })
  }

const hostOf = ({ url }: Target): string => URL.parse(url)?.host ?? ""
