import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Outbound from "../../../src/http/Outbound.ts"
import { Grants } from "../../../src/tool/Capability.ts"
import * as Refusals from "./Refusals.ts"

const { literals: reasons } = Outbound.OutboundError.fields.reason

/** A way out on which every request fails as the first part of its path says. What really leads to each is in `test/http`. */
const failing = Layer.effectDiscard(
  Grants.use((grants) =>
    grants.register(Outbound.Network, () =>
      Effect.succeed({
        send: ({ url }) => {
          const { hostname: host, pathname } = new URL(url)
          const reason = reasons.find((one) => pathname === `/${one}`)
          return Effect.fail(new Outbound.OutboundError({ host, reason: reason ?? "connection_failed" }))
        }
      })
    )
  )
)

const url = "http://example.org/"

export const group: Refusals.Group = {
  layer: Refusals.tools({ tools: { http_client: { enabled: true } } }, failing),
  refusals: [
    ...reasons.map((reason) => ({
      tool: "http_request",
      code: `http:${reason}`,
      arguments: { url: `${url}${reason}` }
    })),
    { tool: "http_request", code: "http:body_and_json", arguments: { url, method: "POST", body: "a", json: "1" } },
    { tool: "http_request", code: "http:invalid_json", arguments: { url, method: "POST", json: "{" } },
    { tool: "http_request", code: "http:masked_value", arguments: { url: `${url}?key=[redacted]` } }
  ]
}
