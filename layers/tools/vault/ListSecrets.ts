import * as Effect from "effect/Effect"
import * as ToolRegistry from "../../../src/tool/ToolRegistry.ts"
import { ListSecrets } from "../../../src/tools/vault/ListSecrets.ts"
import { Vault } from "../../../src/vault/Vault.ts"

/** Offered where a vault is unlocked. */
export const layer = ToolRegistry.layer(
  [ListSecrets],
  Effect.map(Vault, ({ names }) => ({ list_secrets: () => Effect.succeed({ secrets: names }) })),
  {
    offeredWhen: Effect.map(
      Vault,
      ({ unlocked }) =>
        () =>
          unlocked
    )
  }
)
