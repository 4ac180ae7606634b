import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { createServer } from "node:http"
import * as NodeHttpProtocol from "../../layers/cli/NodeHttpProtocol.ts"
import * as TroupeClient from "../../src/client/TroupeClient.ts"
import * as Unreachable from "../../src/client/Unreachable.ts"

/** Takes every call and never answers. */
const silent = Effect.acquireRelease(
  Effect.callback<{ readonly url: string; readonly close: () => void }>((resume) => {
    const server = createServer(() => {})
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      const close = () => {
        server.closeAllConnections()
        server.close()
      }
      resume(Effect.succeed({ url: `http://127.0.0.1:${port}`, close }))
    })
  }),
  ({ close }) => Effect.sync(close)
)

it.live("says so when a daemon takes the call and does not answer", () =>
  Effect.gen(function* () {
    const { url } = yield* silent
    const options = { url, token: Redacted.make("a-token-for-tests-0123456789"), name: "tests" }
    const client = TroupeClient.layerProtocol(options).pipe(Layer.provide(NodeHttpProtocol.layer(options, 50)))
    const error = yield* TroupeClient.TroupeClient.pipe(
      Effect.flatMap((troupe) => troupe.Status()),
      Effect.provide(client),
      Effect.flip
    )
    assert.strictEqual(error._tag, "RpcClientError")
    if (error._tag !== "RpcClientError") return
    assert.strictEqual(
      Unreachable.explain(error),
      "The daemon took the call and said nothing for 0.05 s. Is its process stopped?"
    )
  })
)
