/** Searching in managed files: what the call asks for within the settings, and what the model is told of the outcome. */
import * as Effect from "effect/Effect"
import { Settings } from "../../../src/config/Settings.ts"
import type * as FileSearch from "../../../src/search/FileSearch.ts"
import { FsSearch } from "../../../src/search/FileSearch.ts"
import * as ToolRegistry from "../../../src/tool/ToolRegistry.ts"
import * as Fields from "../../../src/tools/file/Fields.ts"
import { Grep } from "../../../src/tools/file/Grep.ts"

type Limits = Pick<Settings["Service"]["tools"]["grep"], "max_matches" | "max_file_size_bytes">

const grepWith = (limits: Limits) =>
  Effect.fnUntraced(function* (given: typeof Grep.parameters.Type) {
    const asked = {
      pattern: given.pattern,
      recursive: given.recursive ?? true,
      ignore_case: given.ignore_case ?? false,
      fixed_string: given.fixed_string ?? false,
      include_hidden: given.include_hidden ?? false,
      include_ignored: given.include_ignored ?? false,
      context_before: given.context_before ?? 0,
      context_after: given.context_after ?? 0,
      max_matches: given.max_matches ?? limits.max_matches,
      max_file_size_bytes: limits.max_file_size_bytes
    }
    const { search } = yield* FsSearch
    const found = yield* search({
      pattern: asked.pattern,
      path: given.path ?? ".",
      fixed: asked.fixed_string,
      ignoreCase: asked.ignore_case,
      recursive: asked.recursive,
      hidden: asked.include_hidden,
      ignored: asked.include_ignored,
      before: asked.context_before,
      after: asked.context_after,
      maxMatches: asked.max_matches,
      maxFileBytes: asked.max_file_size_bytes
    })
    const notes = notesOf(found)
    return {
      ok: true as const,
      ...asked,
      path: Fields.pathOf(found.place),
      ...Fields.placeOf(found.place),
      count: found.matches.length,
      files_scanned: found.scanned ?? null,
      files_skipped: found.skipped.reduce((sum, { count }) => sum + count, 0),
      ...(found.skipped.length === 0 ? {} : { skipped: found.skipped }),
      truncated: found.stopped !== undefined,
      matches: found.matches.map(({ after, before, column, line, place, text }) => ({
        path: Fields.pathOf(place),
        line,
        column,
        match: text,
        context_before: before,
        context_after: after
      })),
      ...(notes.length === 0 ? {} : { notice: notes.join(" ") })
    }
  })

const notesOf = ({ cutLines, skipped, stopped }: FileSearch.Found): ReadonlyArray<string> => [
  ...(stopped === undefined ? [] : [early[stopped]]),
  ...skipped.map(({ count, examples, reason }) => {
    const more = count > examples.length ? ` and ${count - examples.length} more` : ""
    return `Left out, ${why[reason]}: ${examples.join(", ")}${more}.`
  }),
  ...(cutLines === 0 ? [] : ["Of long lines only the part around the match is shown."])
]

const early: Readonly<Record<FileSearch.Stopped, string>> = {
  matches: "There are more. Give a narrower pattern, a path or a higher max_matches.",
  text: "There are more than one answer holds. Give a narrower pattern, a path or less context.",
  time: "Not all files could be searched in time. Give a path, or a narrower pattern."
}

const why: Readonly<Record<FileSearch.Reason, string>> = {
  too_large: "larger than max_file_size_bytes (code_read reads them in parts)",
  not_text: "with a match, but no text in UTF-8",
  unreadable: "since the system does not let them be read",
  changed: "since they changed meanwhile",
  long_line: "with a match in a line that is too long"
}

export const layer = ToolRegistry.layer(
  [Grep],
  Settings.useSync(({ tools }) => ({ grep: grepWith(tools.grep) })),
  {
    offeredWhen: Settings.useSync(
      ({ tools }) =>
        () =>
          tools.grep.enabled && tools.file_storage.enabled
    )
  }
)
