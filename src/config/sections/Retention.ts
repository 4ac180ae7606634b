import * as Key from "../Key.ts"
import * as Values from "../Values.ts"

export const section = Key.key(
  Key.table({
    interval_seconds: Key.key(Values.Seconds, 3600, "How often to remove what has come to the end of its time."),
    replies_days: Key.key(
      Values.PositiveInt,
      30,
      "How long the record of a reply is kept after it was delivered or given up; the answer itself stays in its thread."
    ),
    messages_days: Key.key(
      Values.PositiveInt,
      90,
      "How long the record of a message is kept after it was answered; as long, a message that comes twice is recognised."
    ),
    processes_days: Key.key(Values.PositiveInt, 30, "How long the record of an earlier life of the process is kept."),
    spill_days: Key.key(
      Values.PositiveInt,
      30,
      "How long a temporary managed file is kept: a long output or response, or a file that came with a message."
    ),
    spill_max_bytes: Key.key(
      Values.ByteSize,
      "1GB",
      "Size of all temporary managed files; beyond it the oldest go before their time."
    ),
    attachments_days: Key.key(
      Values.PositiveInt,
      90,
      "How long the content of an image or file is kept after it last came with a message; what it was stays in the thread."
    ),
    tombstones_days: Key.key(
      Values.PositiveInt,
      365,
      "How long it is kept of a deleted note that it was there, and who deleted it when."
    ),
    attachments_max_bytes: Key.key(
      Values.ByteSize,
      "2GB",
      "Size of all images and files that came with messages; beyond it the oldest go before their time."
    ),
    side_effects_days: Key.key(
      Values.PositiveInt,
      90,
      "How long the record of what a tool changed outside of a conversation is kept."
    ),
    approvals_days: Key.key(
      Values.PositiveInt,
      90,
      "How long the record of a question, and of who answered it, is kept."
    ),
    undo_days: Key.key(Values.PositiveInt, 30, "How long the contents of files that undo brings back are kept."),
    undo_max_bytes: Key.key(
      Values.ByteSize,
      "1GB",
      "Size of all contents that undo brings back; beyond it the oldest go before their time."
    )
  }),
  {},
  "How long records are kept. Threads and their entries are never removed."
)
