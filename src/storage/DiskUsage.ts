/** What an installation has on its disk. */

/**
 * `copies` are databases and files that were saved or replaced and that nothing removes: `troupe.db.saved-…`,
 * `troupe.db.replaced-…`, `files.replaced-…`. `files` are those that came with messages and outputs that were moved.
 */
export type Kind = "database" | "log of the database" | "copies" | "files" | "logs" | "other"

export interface DiskUsage {
  /** The data directory. */
  readonly path: string
  readonly bytes: number
  readonly usage: ReadonlyArray<{ readonly kind: Kind; readonly bytes: number; readonly files: number }>
}
