import * as Duration from "effect/Duration"
import * as Key from "../../Key.ts"
import type { Rule } from "../../Rule.ts"
import * as Values from "../../Values.ts"

/** The time limit of the tool leaves room beyond that. */
const longestTimeout = Duration.minutes(9)

export const section = Key.key(
  Key.table({
    enabled: Key.key(Values.Bool, false, "Offer transcribe_audio; needs [tools.file_storage].enabled."),
    server_url: Key.optional(
      Values.HttpUrl,
      "http://127.0.0.1:8080/inference",
      "Address of a whisper.cpp server, which may be on this machine. Its own model does the work."
    ),
    api_url: Key.optional(
      Values.HttpUrl,
      "https://api.openai.com/v1",
      "Address of an API that speaks OpenAI's transcription protocol, up to and including /v1; used without server_url."
    ),
    api_key: Key.key(Values.Token, "", "Key sent to api_url as the bearer token; empty sends none."),
    api_format: Key.key(
      Values.Choice(["verbose_json", "json"]),
      "verbose_json",
      "What is asked of api_url: verbose_json, with language and segments, or json for models that have no other."
    ),
    models_dir: Key.optional(
      Values.FilePath,
      "/srv/whisper-models",
      "Folder of model files for the engine on this machine, used without server_url and api_url."
    ),
    model: Key.key(
      Values.NonEmptyText,
      "small",
      "Model: as api_url calls it, or a size for the file ggml-<model>.bin in models_dir (tiny, base, small, medium, large-v3)."
    ),
    device: Key.key(
      Values.Choice(["auto", "cpu", "cuda"]),
      "auto",
      "What the engine on this machine computes with: auto takes the CPU."
    ),
    compute_type: Key.key(
      Values.Choice(["int8", "float16"]),
      "int8",
      "Numbers it computes with: int8 takes ggml-<model>-q8_0.bin, float16 takes ggml-<model>.bin."
    ),
    beam_size: Key.key(
      Values.IntBetween(1, 8),
      5,
      "Ways of going on that a whisper.cpp server is asked to compare; more is slower and better. The other engines take no such number."
    ),
    auto_transcribe_short_incoming: Key.key(
      Values.Bool,
      true,
      "Transcribe short recordings that come with messages before the model is asked, for agents that have transcribe_audio."
    ),
    auto_transcribe_max_duration_seconds: Key.key(
      Values.Seconds,
      45,
      "Longer ones, and those whose length is not known, are left to the model."
    ),
    max_bytes: Key.key(Values.ByteSize, "25MB", "Largest recording, in bytes."),
    max_duration_seconds: Key.key(Values.Seconds, 7200, "Longest recording, where its length is known."),
    timeout_seconds: Key.key(Values.Seconds, 300, "Longest that transcribing one may take."),
    concurrency: Key.key(Values.IntBetween(1, 64), 2, "Most recordings that are transcribed at the same time.")
  }),
  {},
  "Transcribing recordings. Off unless switched on."
)

export const rules: ReadonlyArray<Rule<{ readonly tools: { readonly audio_transcription: typeof section.Type } }>> = [
  ({ tools: { audio_transcription: audio } }) =>
    Duration.isLessThanOrEqualTo(audio.timeout_seconds, longestTimeout)
      ? []
      : [
          {
            path: ["tools", "audio_transcription", "timeout_seconds"],
            found: "a longer time than a call of transcribe_audio may take",
            expected: `at most ${Duration.toSeconds(longestTimeout)} seconds`
          }
        ]
]
