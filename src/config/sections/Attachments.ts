import * as Key from "../Key.ts"
import * as Values from "../Values.ts"

export const section = Key.key(
  Key.table({
    max_per_message: Key.key(Values.PositiveInt, 8, "Most images and files that may come with one message."),
    max_encoded_bytes: Key.key(
      Values.ByteSize,
      "5MiB",
      "Largest image or file, counted as base64, in which it is sent to models: a third more than the file itself."
    ),
    max_total_encoded_bytes: Key.key(
      Values.ByteSize,
      "6MB",
      "The same for all that comes with one message; a request to the daemon has at most 8 MiB with all that is in it."
    ),
    max_image_side: Key.key(Values.PositiveInt, 8000, "Most pixels on a side of an image.")
  }),
  {},
  "Images and files that come with messages."
)
