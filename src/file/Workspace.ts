/**
 * Files below a root: the one place where paths of tools are resolved and opened.
 *
 * A path is walked name by name from the root, and no step leaves it: not by `..`, not by a link, not by a link that is put in place
 * meanwhile. Links that stay inside are followed. Devices, pipes and sockets are never opened. A name is found in either Unicode
 * form. Every read is bounded, and a write is seen whole or not at all.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import * as Capability from "../tool/Capability.ts"
import type { ToolCallContext } from "../tool/ToolContext.ts"
import type * as FileChanges from "./FileChanges.ts"
import type { FileError } from "./FileError.ts"

/** Where something lies once links are followed. `relative` to the root, `.` for the root itself; null outside of it. */
export interface Place {
  readonly relative: string | null
  readonly absolute: string
}

/** `modifiedAt` in milliseconds since 1970; `mode` the permission bits. */
export interface Info {
  readonly place: Place
  readonly name: string
  readonly kind: "file" | "folder"
  readonly bytes: number
  readonly modifiedAt: number
  readonly mode: number
}

/** A file that is open: always the same one, whatever happens to its name. */
export interface OpenFile {
  readonly info: Info
  /** At most `length` bytes from `offset`; fewer at the end of the file. */
  readonly read: (offset: number, length: number) => Effect.Effect<Uint8Array, FileError>
  /** Pieces of at most 64 KiB: at most `most` bytes in all, also of a file that grows meanwhile. */
  readonly stream: (options: { readonly from?: number; readonly most: number }) => Stream.Stream<Uint8Array, FileError>
}

/** The beginning of a file, or a part of it. */
export interface Content {
  readonly info: Info
  readonly bytes: Uint8Array
  /** Whether the file goes on behind it. */
  readonly truncated: boolean
}

/** Something in a folder. Where a link leads is in `target`; undefined when it leads out, to nothing, or to no file. */
export interface Entry {
  readonly name: string
  readonly place: Place
  readonly kind: "file" | "folder" | "link" | "other"
  readonly target?: "file" | "folder" | undefined
  /** Of what is there, or of what the link leads to; 0 for what is not known. */
  readonly bytes: number
  readonly modifiedAt: number
}

/** `count`: entries of the folder, also those that are not among `entries`. */
export interface Listing {
  readonly place: Place
  readonly entries: ReadonlyArray<Entry>
  readonly count: number
}

/** Something that a walk through folders comes by. */
export interface Walked {
  /** From the folder that the walk began in. */
  readonly below: string
  readonly place: Place
  readonly kind: "file" | "folder"
}

export interface WalkOptions {
  /** Whether the walk goes into a folder, by its path from where the walk began. Into all of them otherwise. */
  readonly enter?: (below: string) => boolean
}

/** Looking at files. */
export interface Reading {
  /** The root, as an absolute path without links. */
  readonly root: Effect.Effect<string, FileError>
  /** Links are followed. */
  readonly info: (path: string) => Effect.Effect<Info, FileError>
  /** What is at a path, or that nothing is. A file is read to its end for it; a link is not followed. */
  readonly state: (path: string) => Effect.Effect<FileChanges.FileState, FileError>
  readonly open: (path: string) => Effect.Effect<OpenFile, FileError, Scope.Scope>
  /** At most `most` bytes from `offset`. */
  readonly read: (
    path: string,
    options: { readonly offset?: number; readonly most: number }
  ) => Effect.Effect<Content, FileError>
  /** What is directly in a folder, by name without regard to case: the first `most` entries after `skip`. */
  readonly list: (
    folder: string,
    options: { readonly most: number; readonly skip?: number }
  ) => Effect.Effect<Listing, FileError>
  /**
   * Everything below a folder, as it is found: in no order, nothing kept. Links to files inside are files; links to folders are
   * not entered. What cannot be read is left out.
   */
  readonly walk: (folder: string, options?: WalkOptions) => Stream.Stream<Walked, FileError>
}

export interface WriteOptions {
  /** Whether something that is there may be replaced. */
  readonly overwrite: boolean
  /** More bytes than this are refused, and nothing is written. */
  readonly most: number
  /** What must be there: nothing, or a file of this content. Whatever is there otherwise. */
  readonly expected?: "absent" | { readonly sha256: string }
  /** The permission bits the file is to have, instead of those of the file it replaces or of a new one. */
  readonly mode?: number
}

/** `unchanged`: a file with exactly this content was there, so nothing was done. */
export interface Written {
  readonly place: Place
  readonly bytes: number
  readonly sha256: string
  readonly change: "created" | "replaced" | "unchanged"
}

export interface Moved {
  readonly source: Place
  readonly destination: Place
  readonly replaced: boolean
}

/** `kind` of what was at the path, null when nothing was. `count` of the entries that went. */
export interface Removed {
  readonly place: Place
  readonly kind: "file" | "folder" | "link" | null
  readonly count: number
}

export interface RemoveOptions {
  readonly kinds: ReadonlyArray<"file" | "folder">
  readonly recursive: boolean
  /** What must be there: a file of this content. Whatever is there otherwise. */
  readonly expected?: { readonly sha256: string }
}

/** Changing files. Each change is announced to `FileChanges` first, and is made whole or not at all. */
export interface Writing<R> {
  /**
   * Puts a file in place, and the folders above it that are missing. A link to a file is followed; one that leads to nothing is
   * refused. The mode of a file that is replaced is kept.
   */
  readonly write: <E = never, R2 = never>(
    path: string,
    content: Uint8Array | Stream.Stream<Uint8Array, E, R2>,
    options: WriteOptions
  ) => Effect.Effect<Written, FileError | E, R | R2>
  /** Makes a folder, and those above it that are missing. One that is there is as good. `mode`: the permission bits it is to have. */
  readonly makeFolder: (path: string, options?: { readonly mode?: number }) => Effect.Effect<Place, FileError, R>
  /** Moves a file, not a folder and not a link. */
  readonly move: (
    source: string,
    destination: string,
    options: { readonly overwrite: boolean }
  ) => Effect.Effect<Moved, FileError, R>
  /**
   * Removes a file, a link (never what it leads to) or a folder. `kinds`: anything else is left alone and reported with `count` 0.
   * A folder with something in it goes only with `recursive`, entry by entry, and not through links.
   */
  readonly remove: (path: string, options: RemoveOptions) => Effect.Effect<Removed, FileError, R>
}

/** The capability to look at managed files. */
export class FsRead extends Capability.Service<FsRead, Reading>()("FsRead") {}

/** The capability to change managed files. The call that changes them is their author. */
export class FsWrite extends Capability.Service<FsWrite, Writing<ToolCallContext>>()("FsWrite") {}

/** Files below one root. */
export interface Files {
  readonly reading: Reading
  /** Changes in the name of an author. */
  readonly writingAs: (author: FileChanges.Author) => Writing<never>
  /** Changes in the name of the call that is served. */
  readonly writing: Writing<ToolCallContext>
}

export interface RootOptions {
  /** Absolute. It may itself be a link. */
  readonly root: string
  /** Whether paths may lead out of the root. Devices and the like are refused there as well. */
  readonly allowOutside: boolean
  /** Whether the folder, and what is made in it, is for its owner alone; as other programs make files otherwise. */
  readonly ownerOnly: boolean
}

/** The managed files, and other folders to be treated as carefully. */
export class Workspace extends Context.Service<
  Workspace,
  Files & {
    /** The files below another root. */
    readonly at: (options: RootOptions) => Files
  }
>()("troupe/file/Workspace") {}
