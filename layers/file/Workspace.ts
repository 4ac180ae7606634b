/** The managed files of the settings, and the capabilities to work with them. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import * as Semaphore from "effect/Semaphore"
import { Settings } from "../../src/config/Settings.ts"
import * as FileChanges from "../../src/file/FileChanges.ts"
import * as ManagedRoot from "../../src/file/ManagedRoot.ts"
import * as TemporaryFolders from "../../src/file/TemporaryFolders.ts"
import * as Workspace from "../../src/file/Workspace.ts"
import { DataDirectory } from "../../src/storage/DataDirectory.ts"
import { Grants } from "../../src/tool/Capability.ts"
import { ToolCallContext } from "../../src/tool/ToolContext.ts"
import * as Directories from "../storage/Directories.ts"
import * as Folder from "./Folder.ts"
import * as Leftovers from "./Leftovers.ts"
import * as Quota from "./Quota.ts"
import * as Reading from "./Reading.ts"
import * as States from "./States.ts"
import type * as Walk from "./Walk.ts"
import * as Writing from "./Writing.ts"

/** Everything but the root: what the files below all roots of a process share. */
export const make = (holding: Folder.Holding) =>
  Effect.gen(function* () {
    const services = yield* Effect.context<FileSystem.FileSystem | Path.Path>()
    const changes = yield* FileChanges.FileChanges
    const turn = yield* Semaphore.make(1)
    const leftovers = Leftovers.beside()

    const rootOf = (options: Workspace.RootOptions): Walk.Root => ({
      ...options,
      holding,
      create: Directories.make(options.root).pipe(Effect.ignore, Effect.provideContext(services))
    })

    const at = (options: Workspace.RootOptions, quota?: Quota.Quota): Workspace.Files => {
      const root = rootOf(options)
      const writingAs = (author: FileChanges.Author) => Writing.make({ root, author, changes, turn, quota, leftovers })
      const reading = { ...Reading.make(root), state: (path: string) => States.of(root, path) }
      return { reading, writingAs, writing: inTheNameOfTheCall(writingAs) }
    }
    return { at, sweep: (options: Workspace.RootOptions) => Leftovers.sweep(rootOf(options)) }
  })

const inTheNameOfTheCall = (
  as: (author: FileChanges.Author) => Workspace.Writing<never>
): Workspace.Writing<ToolCallContext> => {
  const writing = Effect.map(ToolCallContext, ({ callId, ownerId, threadId, turnId }) =>
    as({ _tag: "Call", ownerId, threadId, turnId, callId })
  )
  return {
    write: (...given) => Effect.flatMap(writing, ({ write }) => write(...given)),
    makeFolder: (...given) => Effect.flatMap(writing, ({ makeFolder }) => makeFolder(...given)),
    move: (...given) => Effect.flatMap(writing, ({ move }) => move(...given)),
    remove: (...given) => Effect.flatMap(writing, ({ remove }) => remove(...given))
  }
}

export const layer: Layer.Layer<
  Workspace.Workspace,
  never,
  Settings | DataDirectory | FileSystem.FileSystem | Path.Path
> = Layer.effect(
  Workspace.Workspace,
  Effect.gen(function* () {
    const settings = yield* Settings
    const paths = yield* Path.Path
    const { at, sweep } = yield* make(yield* Folder.holding)
    const root = {
      root: paths.resolve(ManagedRoot.of(settings, yield* DataDirectory)),
      allowOutside: settings.tools.file_storage.allow_outside_root,
      ownerOnly: true
    }
    yield* Effect.forkScoped(Effect.ignore(sweep(root)))
    const most = ManagedRoot.mostOf(settings)
    const isTemporary = TemporaryFolders.isTemporary(settings)
    // Temporary files have a limit of their own.
    const counts = (name: string) => !isTemporary(name)
    const quota = most === undefined ? undefined : yield* Quota.make({ root: root.root, most, counts })
    return Workspace.Workspace.of({ ...at(root, quota), at: (options) => at(options) })
  })
)

/** Gives turns the capabilities. */
export const grants: Layer.Layer<never, never, Workspace.Workspace | Grants> = Layer.effectDiscard(
  Effect.gen(function* () {
    const { reading, writing } = yield* Workspace.Workspace
    const { register } = yield* Grants
    yield* register(Workspace.FsRead, () => Effect.succeed(reading))
    yield* register(Workspace.FsWrite, () => Effect.succeed(writing))
  })
)
