import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as Transcriber from "../../../src/audio/Transcriber.ts"
import { FileError } from "../../../src/file/FileError.ts"
import * as Workspace from "../../../src/file/Workspace.ts"
import { Grants } from "../../../src/tool/Capability.ts"
import { catalogue } from "../../../src/tools/Catalogue.ts"
import * as Refusals from "./Refusals.ts"

const codes = Object.keys(catalogue.find(({ title }) => title === "Audio")?.items[0]?.failures ?? {})

/** Files that refuse as their path says, and others whose content is their path: the recording refuses as that says. */
const refuse = (path: string) => {
  const reason = FileError.fields.reason.literals.find((one) => `file:${one}` === path)
  return Effect.fail(new FileError({ path, reason: reason ?? "system", detail: "It refuses to be worked with." }))
}

const reading: Workspace.Reading = {
  root: Effect.succeed("/memory"),
  info: refuse,
  state: refuse,
  open: refuse,
  read: (path) =>
    path.startsWith("file:")
      ? refuse(path)
      : Effect.succeed({
          info: {
            place: { relative: path, absolute: `/memory/${path}` },
            name: path,
            kind: "file",
            bytes: path.length,
            modifiedAt: 0,
            mode: 0o600
          },
          bytes: new TextEncoder().encode(path),
          truncated: path === "audio:too_large"
        }),
  list: refuse,
  walk: (folder) => Stream.fromEffect(refuse(folder))
}

/** What really leads to each is in `test/audio`. */
const grants = Layer.effectDiscard(
  Effect.gen(function* () {
    const { register } = yield* Grants
    yield* register(Workspace.FsRead, () => Effect.succeed(reading))
    yield* register(Transcriber.Hearing, () =>
      Effect.succeed({
        transcribe: ({ content }) => {
          const code = new TextDecoder().decode(content)
          const reason = Transcriber.Reason.literals.find((one) => `audio:${one}` === code)
          return Effect.fail(new Transcriber.TranscriptionError({ reason: reason ?? "engine_failed" }))
        }
      })
    )
  })
)

export const group: Refusals.Group = {
  layer: Refusals.tools({ tools: { file_storage: { enabled: true }, audio_transcription: { enabled: true } } }, grants),
  refusals: codes.map((code) => ({ tool: "transcribe_audio", code, arguments: { path: code } }))
}
