/**
 * `troupe/layers`: the live layers, one namespace per module, to compose a runtime of one's own.
 *
 * A live layer has the name of its contract in `troupe`. Where both are wanted, import this entry as one namespace:
 * `import * as Live from "troupe/layers"`.
 */
export * as Archives from "./archive/Archives.ts"
export * as ConfigFile from "./config/ConfigFile.ts"
export * as Environment from "./config/Environment.ts"
export * as Daemon from "./daemon/Daemon.ts"
export * as Models from "./model/Models.ts"
export * as HostProcess from "./process/HostProcess.ts"
export * as ProcessRunner from "./process/ProcessRunner.ts"
export * as Runtime from "./runtime/Runtime.ts"
export * as FileSearch from "./search/FileSearch.ts"
export * as Backup from "./storage/Backup.ts"
export * as Care from "./storage/Care.ts"
export * as DataDirectory from "./storage/DataDirectory.ts"
export * as Database from "./storage/Database.ts"
export * as Restore from "./storage/Restore.ts"
export * as SqliteClient from "./storage/SqliteClient.ts"
export * as Tools from "./tools/Tools.ts"
