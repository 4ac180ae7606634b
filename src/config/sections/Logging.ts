import * as Key from "../Key.ts"
import * as Values from "../Values.ts"

export const section = Key.key(
  Key.table({
    log_level: Key.key(
      Values.Choice(["trace", "debug", "info", "warn", "error", "off"]),
      "info",
      "The least important messages that are still logged; what libraries say below info is there with trace alone."
    ),
    format: Key.key(
      Values.Choice(["auto", "json", "pretty"]),
      "auto",
      "How messages on the terminal look; auto is pretty on a terminal and json elsewhere."
    ),
    file: Key.key(Values.Bool, true, "Also write <data_dir>/logs/troupe.log, as json."),
    max_file_bytes: Key.key(Values.ByteSize, "10MB", "Size at which the log file is put aside and a new one begun."),
    max_files: Key.key(Values.PositiveInt, 5, "How many log files are kept, the current one included.")
  }),
  {},
  "What is logged, and where."
)
