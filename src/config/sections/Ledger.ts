import * as Key from "../Key.ts"
import * as Values from "../Values.ts"

export const section = Key.key(
  Key.table({
    max_file_bytes: Key.key(
      Values.ByteSize,
      "16MB",
      "The largest file whose content is kept before a tool changes or deletes it; a larger one cannot be brought back."
    )
  }),
  {},
  "The record of what tools changed outside of a conversation, and what is kept to undo it."
)
