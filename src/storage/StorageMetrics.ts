/** What is counted of the store. */
import * as Metric from "effect/Metric"

/** 1 while writes fail. */
export const failing = Metric.gauge("troupe_storage_failing", { description: "1 while the store cannot be written" })

/** Size of the database file, in bytes. */
export const databaseBytes = Metric.gauge("troupe_storage_database_bytes", {
  description: "Size of the database file, in bytes"
})

/** Size of the write-ahead log, in bytes. */
export const logBytes = Metric.gauge("troupe_storage_wal_bytes", {
  description: "Size of the database's write-ahead log, in bytes"
})

/** Size of all outputs that were moved to files, in bytes. */
export const spillBytes = Metric.gauge("troupe_storage_spill_bytes", {
  description: "Size of the outputs that were moved to files, in bytes"
})

/** Size of the contents of attachments, in bytes. */
export const attachmentBytes = Metric.gauge("troupe_storage_attachment_bytes", {
  description: "Size of the images and files that came with messages, in bytes"
})

/** Size of the contents of files that undo brings back, in bytes. */
export const undoBytes = Metric.gauge("troupe_storage_undo_bytes", {
  description: "Size of the contents of files that undo brings back, in bytes"
})

/** What retention removes. */
export type Kind =
  | "replies"
  | "messages"
  | "incarnations"
  | "attachments"
  | "contents"
  | "effects"
  | "approvals"
  | "notes"
  | "tombstones"
  | "files"

const removed = Metric.counter("troupe_retention_removed_total", {
  description: "Rows and files that were removed after their time, by kind",
  incremental: true
})

/** The counter of what was removed of a kind. */
export const removedOf = (kind: Kind) => Metric.withAttributes(removed, { kind })
