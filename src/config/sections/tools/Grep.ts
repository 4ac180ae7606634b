import * as Key from "../../Key.ts"
import * as Values from "../../Values.ts"

export const section = Key.key(
  Key.table({
    enabled: Key.key(
      Values.Bool,
      false,
      "Offer grep, which looks for a pattern in managed files. [tools.file_storage] must be on as well."
    ),
    max_matches: Key.key(Values.PositiveInt, 200, "Most lines that one call gives, unless the call asks otherwise."),
    max_file_size_bytes: Key.key(Values.ByteSize, 1_000_000, "Larger files are left out, in bytes."),
    engine: Key.key(
      Values.Choice(["auto", "native", "wasm"]),
      "auto",
      "What searches: a ripgrep of this machine, the one that comes with troupe, or the first that there is, in this order."
    ),
    rg_path: Key.key(
      Values.OptionalFilePath,
      "",
      "The program of a ripgrep of this machine, from version 13 on; empty for the rg in the PATH."
    )
  }),
  {},
  "Searching in managed files."
)
