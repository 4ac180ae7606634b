/** Asks for passwords at the terminal, without showing what is typed; nobody is asked where there is none. */
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import type * as Path from "effect/Path"
import type * as Terminal from "effect/Terminal"
import { Output } from "../../src/cli/Output.ts"
import { AskPassword } from "../../src/vault/Vault.ts"
import { VaultError } from "../../src/vault/VaultError.ts"

export const layer = Layer.effect(
  AskPassword,
  Effect.gen(function* () {
    const { inIsTerminal, outIsTerminal } = yield* Output
    const services = yield* Effect.context<FileSystem.FileSystem | Path.Path | Terminal.Terminal>()
    if (!inIsTerminal || !outIsTerminal) return undefined
    return Effect.fnUntraced(function* (question: string) {
      // Loaded when somebody is asked: a daemon starts without it.
      const Prompt = yield* Effect.promise(() => import("effect/cli/Prompt"))
      return yield* Prompt.run(Prompt.Password({ message: question })).pipe(
        Effect.provideContext(services),
        Effect.mapError(() => new VaultError({ path: question, reason: "no_password" }))
      )
    })
  })
)
