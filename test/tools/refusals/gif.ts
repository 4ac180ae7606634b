import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { FileError } from "../../../src/file/FileError.ts"
import * as Workspace from "../../../src/file/Workspace.ts"
import * as GifSearch from "../../../src/gif/GifSearch.ts"
import { Grants } from "../../../src/tool/Capability.ts"
import { catalogue } from "../../../src/tools/Catalogue.ts"
import * as TurnFiles from "../../../src/tools/file/TurnFiles.ts"
import * as Refusals from "./Refusals.ts"

const codes = Object.keys(catalogue.find(({ title }) => title === "Messages")?.items[0]?.failures ?? {})

/** What was looked for says how the picture's file refuses to be written. */
const refuse = (code: string) => {
  const reason = FileError.fields.reason.literals.find((one) => `file:${one}` === code) ?? "system"
  return Effect.fail(new FileError({ path: "gifs/tmp/x.gif", reason, detail: "It refuses to be written." }))
}

/** What really leads to each is in `test/gif`. */
const grants = Layer.effectDiscard(
  Effect.gen(function* () {
    const { register } = yield* Grants
    let asked = ""
    yield* register(GifSearch.Gifs, () =>
      Effect.succeed({
        find: (words) => {
          asked = words
          const reason = GifSearch.Reason.literals.find((one) => `gif:${one}` === words)
          return reason === undefined
            ? Effect.succeed([{ id: "1", title: "", page: null, renditions: [] }])
            : Effect.fail(new GifSearch.GifError({ reason }))
        },
        fetch: () =>
          Effect.succeed({ url: "https://example.org/x.gif", content: new Uint8Array(1), width: 1, height: 1 })
      })
    )
    const change = () => refuse(asked)
    yield* register(Workspace.FsWrite, () =>
      Effect.succeed({ write: change, makeFolder: change, move: change, remove: change })
    )
    yield* register(TurnFiles.Messaging, () =>
      Effect.succeed({
        takesFiles: Effect.succeed(true),
        send: () => Effect.void,
        sendLink: () => Effect.succeed(false)
      })
    )
  })
)

export const group: Refusals.Group = {
  layer: Refusals.tools({ tools: { file_storage: { enabled: true }, send_gif: { enabled: true } } }, grants),
  refusals: codes.map((query) => ({ tool: "send_gif", code: query, arguments: { query } }))
}
