import * as Schema from "effect/Schema"

const meanings = {
  code_too_long: "the code is longer than max_code_bytes allows. Put data into stdin, or split the work.",
  no_interpreter:
    "there is no Python here. The person who runs this installation can install python3 or set python_path.",
  no_answer: "Python did not say what it is.",
  invalid_artifact_options:
    "artifact_subdir must be a relative folder without `..`, and artifact options need save_artifacts = true.",
  artifacts_disabled: "the settings keep no files of a program (artifacts_enabled). Call it without save_artifacts.",
  file_storage_unavailable: "the managed files are switched off (file_storage). Call it without save_artifacts.",
  artifacts_not_supported_in_jail:
    "the settings keep no files of a program in a jail (artifacts_allow_in_jail). Call it without save_artifacts.",
  artifact_export_unreachable: "the folder that the jail and the daemon share is not there (artifacts_jail_shared_dir)."
} as const

export type PythonReason = keyof typeof meanings

/** The program was not run, or said nothing that can be used. */
export class PythonRefused extends Schema.TaggedError<PythonRefused>()("PythonRefused", {
  reason: Schema.Literals([
    "code_too_long",
    "no_interpreter",
    "no_answer",
    "invalid_artifact_options",
    "artifacts_disabled",
    "file_storage_unavailable",
    "artifacts_not_supported_in_jail",
    "artifact_export_unreachable"
  ])
}) {
  get code(): `python_exec:${PythonReason}` {
    return `python_exec:${this.reason}`
  }
  override get message() {
    return `No Python was run: ${meanings[this.reason]}`
  }
}

/** Code → meaning of the failures to find an interpreter. */
export const interpreterFailures = {
  "python_exec:no_interpreter": "there is no Python here",
  "python_exec:no_answer": "Python did not say what it is"
} as const

/** Code → meaning of all of these failures. */
export const failures: Readonly<Record<`python_exec:${PythonReason}`, string>> = {
  ...interpreterFailures,
  "python_exec:code_too_long": "the code is longer than the settings allow",
  "python_exec:invalid_artifact_options": "the folder is none below the managed files, or nothing is to be kept",
  "python_exec:artifacts_disabled": "the settings keep no files of a program",
  "python_exec:file_storage_unavailable": "the managed files are switched off",
  "python_exec:artifacts_not_supported_in_jail": "the settings keep no files of a program in a jail",
  "python_exec:artifact_export_unreachable": "the folder that the jail and the daemon share is not there"
}
