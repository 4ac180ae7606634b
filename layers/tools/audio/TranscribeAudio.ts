import * as Effect from "effect/Effect"
import * as Transcriber from "../../../src/audio/Transcriber.ts"
import { Settings } from "../../../src/config/Settings.ts"
import { FsRead } from "../../../src/file/Workspace.ts"
import * as ToolRegistry from "../../../src/tool/ToolRegistry.ts"
import { firstSegments, TranscribeAudio } from "../../../src/tools/audio/TranscribeAudio.ts"
import * as Fields from "../../../src/tools/file/Fields.ts"

const transcribeWith = (most: number) =>
  Effect.fnUntraced(function* ({ language, path, task }: typeof TranscribeAudio.parameters.Type) {
    const { bytes, info, truncated } = yield* (yield* FsRead).read(path, { most })
    if (truncated) {
      const detail = `${info.bytes} bytes, and ${most} are taken`
      return yield* new Transcriber.TranscriptionError({ reason: "too_large", detail })
    }
    const found = yield* (yield* Transcriber.Hearing).transcribe({
      content: bytes,
      ...(task === undefined ? {} : { task }),
      language
    })
    const { segments } = found
    const shown = firstSegments(segments)
    return {
      ok: true as const,
      path: Fields.pathOf(info.place),
      ...Fields.placeOf(info.place),
      text: found.text,
      task: found.task,
      language: found.language,
      language_probability: found.languageProbability,
      duration_seconds: found.durationSeconds,
      segments: shown,
      segment_count: segments.length,
      engine: found.engine,
      model: found.model,
      device: found.device,
      compute_type: found.computeType,
      ...noticeOf(found.text, segments.length - shown.length)
    }
  })

const noticeOf = (text: string, more: number): { readonly notice?: string } => {
  if (text === "") return { notice: "No speech was heard." }
  return more > 0 ? { notice: `${more} more segments are in the text only.` } : {}
}

export const layer = ToolRegistry.layer(
  [TranscribeAudio],
  Settings.useSync(({ tools }) => ({ transcribe_audio: transcribeWith(tools.audio_transcription.max_bytes) })),
  {
    offeredWhen: Settings.useSync(
      ({ tools }) =>
        () =>
          tools.audio_transcription.enabled && tools.file_storage.enabled
    )
  }
)
