/** What a command writes and where it goes. */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { Style } from "./Style.ts"

export class Output extends Context.Service<
  Output,
  {
    /** Results. Resolves when the text is out of our hands. */
    readonly out: (text: string) => Effect.Effect<void>
    /** Progress and complaints. */
    readonly err: (text: string) => Effect.Effect<void>
    readonly outStyle: Style
    readonly errStyle: Style
    readonly inIsTerminal: boolean
    readonly outIsTerminal: boolean
    readonly errIsTerminal: boolean
  }
>()("troupe/cli/Output") {}
