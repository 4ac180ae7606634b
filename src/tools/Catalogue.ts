/** The built-in tools by group, with what their types do not say: when they are offered and which failures they have. */
import { failures } from "../file/FileError.ts"
import * as SearchError from "../search/SearchError.ts"
import * as PatchError from "../patch/PatchError.ts"
import type * as Tool from "../tool/Tool.ts"
import * as Transcriber from "../audio/Transcriber.ts"
import * as GifSearch from "../gif/GifSearch.ts"
import { TranscribeAudio } from "./audio/TranscribeAudio.ts"
import { ApplyPatch } from "./editing/ApplyPatch.ts"
import { Bash } from "./execution/Bash.ts"
import * as HostExecution from "./execution/HostExecution.ts"
import { PythonEnvironmentInfo } from "./execution/PythonEnvironmentInfo.ts"
import { PythonExecute } from "./execution/PythonExecute.ts"
import * as PythonRefused from "./execution/PythonRefused.ts"
import { CodeRead } from "./file/CodeRead.ts"
import { DeleteFile } from "./file/DeleteFile.ts"
import { FileInfo } from "./file/FileInfo.ts"
import { GlobFiles } from "./file/GlobFiles.ts"
import { Grep } from "./file/Grep.ts"
import { ListFiles } from "./file/ListFiles.ts"
import { MoveFile } from "./file/MoveFile.ts"
import { ReadFile } from "./file/ReadFile.ts"
import { SelfInsertArtifact } from "./file/SelfInsertArtifact.ts"
import { SendFile } from "./file/SendFile.ts"
import { WriteFile } from "./file/WriteFile.ts"
import { ChatHistoryInfo } from "./history/ChatHistoryInfo.ts"
import { ChatHistoryTrim } from "./history/ChatHistoryTrim.ts"
import * as MemoryTools from "./memory/MemoryTools.ts"
import * as Outbound from "../http/Outbound.ts"
import { SendGif } from "./gif/SendGif.ts"
import { HttpRequest } from "./http/HttpRequest.ts"
import { PreResponse } from "./response/PreResponse.ts"
import { ReadDocs, skill } from "./runtime/ReadDocs.ts"
import { GetSettings } from "./runtime/GetSettings.ts"
import { CalculateExpression } from "./utility/CalculateExpression.ts"
import { CurrentDatetime } from "./utility/CurrentDatetime.ts"
import { Wait } from "./utility/Wait.ts"
import { ListSecrets } from "./vault/ListSecrets.ts"

export interface Item {
  readonly tool: Tool.Any
  /** The section of the settings file with its switch and its settings; absent for a tool that is always offered. */
  readonly section?: ReadonlyArray<string>
  /** Another section that must be on as well. */
  readonly needs?: ReadonlyArray<string>
  /** The skill that it belongs to, which `[tools.skills]` can turn off. */
  readonly skill?: string
  /** Code → meaning of the failures it declares. */
  readonly failures: Readonly<Record<string, string>>
}

export interface Group {
  readonly title: string
  /** The page of `docs` that explains what the group is about. */
  readonly page: string
  readonly items: ReadonlyArray<Item>
}

const noFiles = { "channel:files_not_taken": "the channel of the conversation carries no files" }

const files = ["tools", "file_storage"]

/** What can happen with any path, with any file, and with any change. */
const anyPath = [
  "invalid_path",
  "outside_root",
  "dangling_link",
  "too_many_links",
  "special_file",
  "permission_denied",
  "system"
] as const
const anyFile = ["file_not_found", "path_is_not_a_file", ...anyPath] as const
const anyWrite = ["changed_meanwhile", "no_space", "read_only_disk", "not_recorded"] as const
const anyChange = [...anyWrite, "out_of_time"] as const

const python = ["tools", "python_exec"]

const kvMemory = ["tools", "kv_memory"]

const invalidSelection = {
  "memory:invalid_arguments:invalid_category": "`category` is none that the settings allow",
  "memory:invalid_arguments:invalid_date": "a time is not in ISO 8601"
}

const invalidChange = {
  ...invalidSelection,
  "memory:invalid_arguments:data_required": "`data` is blank",
  "memory:invalid_arguments:data_too_large": "`data` is longer than the settings allow",
  "memory:invalid_arguments:category_required": "`category` is blank",
  "memory:invalid_arguments:category_in_metadata": "`metadata` has the key `category`",
  "memory:invalid_arguments:invalid_metadata": "`metadata` is not the text of a JSON object",
  "memory:invalid_arguments:metadata_too_large": "`metadata` is larger than 4096 bytes",
  "memory:invalid_arguments:source_too_long": "`source` is longer than 256 characters",
  "memory:invalid_arguments:already_expired": "`expires_at` is not in the future"
}

const noEntryId = { "memory:invalid_arguments:entry_id_required": "`entry_id` is blank" }

export const catalogue: ReadonlyArray<Group> = [
  { title: "Response", page: "tools.md", items: [{ tool: PreResponse, failures: noFiles }] },
  {
    title: "Chat history",
    page: "memory.md",
    items: [
      { tool: ChatHistoryInfo, failures: {} },
      { tool: ChatHistoryTrim, failures: {} }
    ]
  },
  {
    title: "Runtime",
    page: "configuration.md",
    items: [
      { tool: GetSettings, failures: {} },
      {
        tool: ReadDocs,
        skill,
        failures: {
          docs_unavailable: "this installation has no pages",
          page_not_found: "there is no page of this name; `details.pages` are those that there are"
        }
      }
    ]
  },
  {
    title: "Memory",
    page: "notes.md",
    items: [
      {
        tool: MemoryTools.standard.create,
        section: kvMemory,
        failures: {
          "memory:invalid_arguments:title_required": "`title` is blank",
          "memory:invalid_arguments:title_too_long": "`title` is longer than 100 characters",
          ...invalidChange,
          "memory:create:duplicate_title": "there is a note of this title; `details.existing_entry` is that one",
          "memory:create:too_many_notes": "there are as many notes as the settings allow"
        }
      },
      {
        tool: MemoryTools.standard.update,
        section: kvMemory,
        failures: {
          ...noEntryId,
          "memory:invalid_arguments:nothing_to_update": "there is nothing to change",
          ...invalidChange,
          "memory:update:not_found": "there is no such note, or not any more"
        }
      },
      {
        tool: MemoryTools.standard.get,
        section: kvMemory,
        failures: {
          ...noEntryId,
          "memory:get:not_found": "there is no such note, or not any more"
        }
      },
      { tool: MemoryTools.standard.search, section: kvMemory, failures: invalidSelection },
      {
        tool: MemoryTools.standard.remove,
        section: kvMemory,
        failures: {
          ...noEntryId,
          "memory:delete:not_found": "there is no such note, or not any more"
        }
      },
      { tool: MemoryTools.standard.titles, section: kvMemory, failures: invalidSelection }
    ]
  },
  {
    title: "HTTP",
    page: "web.md",
    items: [
      {
        tool: HttpRequest,
        section: ["tools", "http_client"],
        failures: {
          ...Outbound.meanings,
          "http:body_and_json": "there is both a `body` and a `json`",
          "http:invalid_json": "`json` is no JSON text",
          "http:masked_value": "a secret was masked in the call, so that nobody can have meant what would be sent"
        }
      }
    ]
  },
  { title: "Vault", page: "vault.md", items: [{ tool: ListSecrets, section: ["vault"], failures: {} }] },
  {
    title: "Audio",
    page: "audio.md",
    items: [
      {
        tool: TranscribeAudio,
        section: ["tools", "audio_transcription"],
        failures: { ...failures(...anyFile), ...Transcriber.meanings }
      }
    ]
  },
  {
    title: "Messages",
    page: "gifs.md",
    items: [
      {
        tool: SendGif,
        section: ["tools", "send_gif"],
        failures: { ...GifSearch.meanings, ...failures("too_large", "path_is_not_a_file", ...anyPath, ...anyWrite) }
      }
    ]
  },
  {
    title: "Utility",
    page: "tools.md",
    items: [
      {
        tool: CurrentDatetime,
        section: ["tools", "time"],
        failures: { "time:unknown_directive": "the format holds a directive that does not exist" }
      },
      { tool: Wait, section: ["tools", "wait"], failures: {} },
      {
        tool: CalculateExpression,
        section: ["tools", "calculator"],
        failures: {
          "calculator:empty": "there is no expression",
          "calculator:too_long": "it is longer than allowed",
          "calculator:illegal_character": "a character that no expression has",
          "calculator:bad_number": "a number with two points, or only a point",
          "calculator:unbalanced_parentheses": "a parenthesis without its partner",
          "calculator:unsupported_operator": "an operator such as `//`",
          "calculator:unexpected_token": "something is not where it can be",
          "calculator:too_deep": "more than 64 things inside each other",
          "calculator:division_by_zero": "division or remainder by zero",
          "calculator:non_integer_exponent": "an exponent that is not whole",
          "calculator:exponent_too_large": "an exponent beyond the setting",
          "calculator:undefined_power": "zero to the power of zero",
          "calculator:too_large": "a number beyond 10 to the power of ±10000"
        }
      }
    ]
  },
  {
    title: "Managed files",
    page: "files.md",
    items: [
      { tool: ListFiles, section: files, failures: failures("folder_not_found", "path_is_not_a_folder", ...anyPath) },
      {
        tool: GlobFiles,
        section: files,
        failures: failures("invalid_pattern", "folder_not_found", "path_is_not_a_folder", ...anyPath)
      },
      { tool: FileInfo, section: files, failures: failures(...anyFile) },
      { tool: ReadFile, section: files, failures: failures("not_text", ...anyFile) },
      { tool: CodeRead, section: files, failures: failures("not_text", ...anyFile) },
      {
        tool: Grep,
        section: ["tools", "grep"],
        needs: files,
        failures: { ...SearchError.failures, ...failures("file_not_found", ...anyPath) }
      },
      {
        tool: WriteFile,
        section: files,
        failures: failures(
          "already_exists",
          "empty_content",
          "too_large",
          "path_is_not_a_file",
          ...anyPath,
          ...anyChange
        )
      },
      { tool: MoveFile, section: files, failures: failures("already_exists", ...anyFile, ...anyChange) },
      {
        tool: SendFile,
        section: files,
        failures: { ...failures(...anyFile), ...noFiles }
      },
      {
        tool: SelfInsertArtifact,
        section: files,
        failures: {
          ...failures("too_large", ...anyFile),
          "artifact:unsupported_mime": "it is none of the files that models are shown"
        }
      },
      {
        tool: DeleteFile,
        section: files,
        failures: failures(
          "root_itself",
          "folder_not_empty",
          "path_is_not_a_file",
          "path_is_not_a_folder",
          ...anyPath,
          ...anyChange
        )
      }
    ]
  },
  {
    title: "Editing",
    page: "patching.md",
    items: [
      {
        tool: ApplyPatch,
        section: ["tools", "apply_patch"],
        failures: { ...PatchError.failures, ...failures("path_is_not_a_file", "path_is_not_a_folder", ...anyPath) }
      }
    ]
  },
  {
    title: "Host execution",
    page: "execution.md",
    items: [
      { tool: Bash, section: ["tools", "bash"], failures: HostExecution.failures },
      {
        tool: PythonExecute,
        section: python,
        failures: { ...HostExecution.failures, ...PythonRefused.failures }
      },
      {
        tool: PythonEnvironmentInfo,
        section: python,
        failures: { ...HostExecution.failures, ...PythonRefused.interpreterFailures }
      }
    ]
  }
]
