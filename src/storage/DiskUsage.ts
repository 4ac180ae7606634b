/** What an installation has on its disk, what bounds each part, and when it goes. */

/**
 * `copies` are databases and files that were saved or replaced: `troupe.db.saved-…`, `troupe.db.replaced-…`,
 * `files.replaced-…`. `temporary files` are those among the managed files that the runtime wrote for a while, `managed files`
 * the others.
 */
export type Kind =
  | "database"
  | "log of the database"
  | "copies"
  | "temporary files"
  | "managed files"
  | "logs"
  | "other"

interface Part {
  readonly bytes: number
  /** In bytes; `null` where only time or a person removes it. */
  readonly limitBytes: number | null
  /** When it goes, in words for a person. */
  readonly removed: string
}

export interface FilesPart extends Part {
  readonly kind: Kind
  readonly files: number
}

/** A part of the database. Its bytes are those of whole pages, indexes included. */
export interface RecordsPart extends Part {
  readonly what: string
  readonly rows: number
}

export interface DiskUsage {
  /** The data directory. */
  readonly path: string
  /** The managed files, where they lie elsewhere. */
  readonly managedFiles: string | null
  readonly bytes: number
  readonly usage: ReadonlyArray<FilesPart>
  /** Folders that may not be read: what is in them is not counted. */
  readonly unreadable: ReadonlyArray<string>
  /** What the database holds; `null` if there is none that can be read. */
  readonly records: ReadonlyArray<RecordsPart> | null
}

/** Whether a part is larger than it should be once retention has been round. */
export const isOver = ({ bytes, limitBytes }: Part): boolean => limitBytes !== null && bytes > limitBytes
