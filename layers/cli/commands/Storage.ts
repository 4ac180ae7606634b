/** The commands that care for what is stored: `backup`, `restore`, `verify` and `held`. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import { usage } from "../../../src/cli/CommandFailed.ts"
import { Output } from "../../../src/cli/Output.ts"
import * as Plain from "../../../src/cli/Plain.ts"
import * as Transcript from "../../../src/cli/Transcript.ts"
import { TroupeClient } from "../../../src/client/TroupeClient.ts"
import * as Backup from "../../../src/storage/Backup.ts"
import { DataDirectory } from "../../../src/storage/DataDirectory.ts"
import * as CommandLine from "../../config/CommandLine.ts"
import * as ConfigFile from "../../config/ConfigFile.ts"
import * as EnvironmentLive from "../../config/Environment.ts"
import * as BackupLive from "../../storage/Backup.ts"
import * as DataDirectoryLive from "../../storage/DataDirectory.ts"
import * as Database from "../../storage/Database.ts"
import * as DiskUsage from "../../storage/DiskUsage.ts"
import * as Restore from "../../storage/Restore.ts"
import * as Verify from "../../storage/Verify.ts"
import * as OutputLive from "../Output.ts"
import { version } from "../Version.ts"
import * as Client from "./Client.ts"

/** `troupe backup`: beside a daemon that runs, or without one. */
export const backup = (
  common: Client.Common,
  flags: { readonly destination: string; readonly force: boolean; readonly json: boolean }
) =>
  Effect.gen(function* () {
    const directory = yield* DataDirectory
    const { destination, force } = flags
    const manifest = yield* BackupLive.make({ directory, destination, force, version })
    yield* tell(flags.json, manifest, Transcript.backup(destination, manifest))
  }).pipe(Effect.provide(DataDirectoryLive.layerExisting.pipe(Layer.provideMerge(platform(common)))))

/** `troupe verify`: a backup, or the database of the data directory. */
export const verify = (common: Client.Common, flags: { readonly source: string | undefined; readonly json: boolean }) =>
  Effect.gen(function* () {
    if (flags.source !== undefined) {
      const manifest = yield* Verify.backup(flags.source)
      return yield* tell(flags.json, manifest, Transcript.verified(flags.source, manifest.tables))
    }
    const directory = yield* DataDirectory
    const path = directory.file(Database.fileName)
    const { problems, schemaVersion, tables } = yield* Verify.database(yield* Verify.recognised(directory), true)
    if (problems.length > 0) return yield* new Backup.BackupDamaged({ path, problems })
    yield* tell(flags.json, { path, schemaVersion, tables }, Transcript.verified(path, tables))
  }).pipe(Effect.provide(DataDirectoryLive.layerExisting.pipe(Layer.provideMerge(platform(common)))))

/** `troupe disk`: what is on the disk, what bounds it and when it goes. Needs no daemon. */
export const disk = (common: Client.Common, flags: { readonly json: boolean }) =>
  Effect.gen(function* () {
    const directory = yield* DataDirectory
    const files = yield* FileSystem.FileSystem
    if (!(yield* Effect.orElseSucceed(files.exists(directory.path), () => false))) {
      return yield* new Backup.BackupFailed({ path: directory.path, reason: "there is no data directory yet" })
    }
    const usage = yield* DiskUsage.look(directory, yield* ConfigFile.diskSettings({ path: common.config }))
    yield* tell(flags.json, usage, Transcript.disk(usage))
  }).pipe(Effect.provide(DataDirectoryLive.layerExisting.pipe(Layer.provideMerge(platform(common)))))

/** `troupe restore`: only where no daemon runs. */
export const restore = (
  common: Client.Common,
  flags: { readonly source: string; readonly dryRun: boolean; readonly json: boolean }
) =>
  Effect.gen(function* () {
    const directory = yield* DataDirectory
    const report = yield* Restore.run({ source: flags.source, directory, dryRun: flags.dryRun })
    yield* tell(flags.json, report, Transcript.restored(directory.path, report, flags.dryRun))
  }).pipe(Effect.provide(DataDirectoryLive.layerLockedByCommand.pipe(Layer.provideMerge(platform(common)))))

/** `troupe held`: what a restored copy holds back, and what becomes of it. Asks the daemon. */
export const held = (
  common: Client.Common,
  flags: { readonly release: boolean; readonly drop: boolean; readonly json: boolean }
) =>
  Effect.gen(function* () {
    if (flags.release && flags.drop) return yield* usage("Choose one of --release and --drop.")
    const client = yield* TroupeClient
    if (!flags.release && !flags.drop) {
      const items = yield* client.Held()
      return yield* tell(flags.json, items, Transcript.held(items))
    }
    const how = flags.drop ? "drop" : "resume"
    const count = yield* client.Release({ how })
    yield* tell(flags.json, { how, ...count }, Transcript.released(how, count))
  }).pipe(Client.reachable, Effect.provide(Client.layer(common)))

const tell = Effect.fnUntraced(function* (json: boolean, value: object, words: string) {
  yield* (yield* Output).out(json ? Plain.json(value) : words)
})

const platform = (common: Client.Common) =>
  Layer.merge(OutputLive.layer(common), CommandLine.layerClient(common)).pipe(
    Layer.provideMerge(Layer.mergeAll(EnvironmentLive.layer, NodeServices.layer))
  )
