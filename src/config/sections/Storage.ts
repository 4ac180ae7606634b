import * as Key from "../Key.ts"
import * as Values from "../Values.ts"

export const meaning = "Where and how durably everything is kept."

export const dataDir = Key.optional(
  Values.FilePath,
  "/var/lib/troupe",
  "Folder for the database, logs and files; without it TROUPE_DATA_DIR, then the user data folder of the platform."
)

export const section = Key.key(
  Key.table({
    data_dir: dataDir,
    synchronous: Key.key(
      Values.Choice(["full", "normal"]),
      "full",
      "full survives a power cut without losing what was accepted; normal is faster and survives a crash of the process only."
    ),
    busy_timeout_seconds: Key.key(
      Values.Seconds,
      5,
      "How long a write waits for another process that holds the database."
    ),
    wal_max_bytes: Key.key(
      Values.ByteSize,
      "64MB",
      "Size of the database's write-ahead log beyond which it is emptied at once, and a warning given when it cannot be."
    )
  }),
  {},
  meaning
)
