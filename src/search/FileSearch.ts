/**
 * Looking for a pattern in the text of managed files.
 *
 * The time for a search is in proportion to the text, whatever the pattern is: it is one of ripgrep's, without look-around and
 * back-references. Links are not followed, devices and pipes are not opened, and what is shown of a file was read by the workspace.
 */
import type * as Effect from "effect/Effect"
import type { FileError } from "../file/FileError.ts"
import type * as Workspace from "../file/Workspace.ts"
import * as Capability from "../tool/Capability.ts"
import type { SearchError } from "./SearchError.ts"

export interface Request {
  readonly pattern: string
  /** A file, or a folder to look in. */
  readonly path: string
  /** Whether the pattern is words rather than a regular expression. */
  readonly fixed: boolean
  readonly ignoreCase: boolean
  /** Whether folders below the folder are looked into. */
  readonly recursive: boolean
  /** Whether names that begin with a dot are looked at. */
  readonly hidden: boolean
  /** Whether what ignore files leave out is looked at. */
  readonly ignored: boolean
  /** Lines shown before and after each that matches. */
  readonly before: number
  readonly after: number
  /** Lines that match, at most. */
  readonly maxMatches: number
  /** Larger files are left out. */
  readonly maxFileBytes: number
}

/** A line that matches. */
export interface Match {
  readonly place: Workspace.Place
  /** From 1. */
  readonly line: number
  /** Of the first character that matches in the line, from 1. */
  readonly column: number
  readonly text: string
  readonly before: ReadonlyArray<string>
  readonly after: ReadonlyArray<string>
}

/**
 * Why a file was left out: larger than allowed; it matches but is no text in UTF-8; the system refused it; it changed while it was
 * searched; or a line that matches is too long to be looked at.
 */
export type Reason = "too_large" | "not_text" | "unreadable" | "changed" | "long_line"

/** Files that were left out for one reason, with the paths of some. */
export interface Skipped {
  readonly reason: Reason
  readonly count: number
  readonly examples: ReadonlyArray<string>
}

/** Why a search ended early: as many matches as allowed, as much text as one answer holds, or no more time. */
export type Stopped = "matches" | "text" | "time"

export interface Found {
  readonly place: Workspace.Place
  /** By path, then by line. */
  readonly matches: ReadonlyArray<Match>
  /** Files that were looked through; undefined when the search ended early, or the program cannot tell. */
  readonly scanned: number | undefined
  readonly skipped: ReadonlyArray<Skipped>
  readonly stopped: Stopped | undefined
  /** Lines of which only the part around the match is shown. */
  readonly cutLines: number
}

/** The capability to look for text in managed files. */
export class FsSearch extends Capability.Service<
  FsSearch,
  { readonly search: (request: Request) => Effect.Effect<Found, FileError | SearchError> }
>()("FsSearch") {}
