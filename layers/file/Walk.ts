/** The walk from the root of files to where a path leads: name by name, every folder held, no step out. */
import * as path from "node:path"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import { FileError } from "../../src/file/FileError.ts"
import * as FilePath from "../../src/file/FilePath.ts"
import type * as Workspace from "../../src/file/Workspace.ts"
import type { Folder, Holding } from "./Folder.ts"
import * as NodeFiles from "./NodeFiles.ts"
import { about } from "./Refusals.ts"

/** Links that one path may lead through, as many as Linux allows. */
const mostLinks = 40

export interface Root extends Workspace.RootOptions {
  readonly holding: Holding
  /** Makes the root where it is missing. */
  readonly create: Effect.Effect<void>
}

/** Where a path leads. `name` is undefined where that is `folder` itself; `stats` are, where nothing is there. */
export interface Spot {
  readonly asked: string
  readonly folder: Folder
  readonly name: string | undefined
  readonly stats: NodeFiles.Stats | undefined
  readonly place: Workspace.Place
  /** Whether it is the root, or a folder that the root is in. */
  readonly holdsRoot: boolean
}

/** A spot with a name in a folder. */
export interface Named extends Spot {
  readonly name: string
}

export interface Options {
  /** Whether a link at the end of the path is followed. */
  readonly follow: boolean
  /** Makes a folder on the way that is missing. Without it, that is an error. */
  readonly make?: (missing: Named) => Effect.Effect<void, FileError>
}

/** A name still to walk, and whether a link brought it. */
interface Step {
  readonly name: string
  readonly linked: boolean
}

/** The folder that the walk has come to, held until the scope ends or it goes on. */
interface Position {
  readonly base: Base
  readonly folder: () => Folder
  readonly names: () => ReadonlyArray<string>
  readonly enter: (name: string) => Effect.Effect<void, NodeFiles.SystemError>
  /** To the folder of these names below the base. */
  readonly jump: (names: ReadonlyArray<string>) => Effect.Effect<void, NodeFiles.SystemError>
}

/** Where a walk begins: the root, or the top of the file system where paths may lead out of the root. */
interface Base {
  readonly folder: Folder
  /** The root, without links. */
  readonly root: string
  /** Names from the top of the file system to the base. */
  readonly above: ReadonlyArray<string>
}

/** Finds where a path leads. The folder is held until the scope ends. */
export const find = Effect.fnUntraced(function* (
  root: Root,
  asked: string,
  options: Options
): Effect.fn.Return<Spot, FileError, Scope.Scope> {
  const given = yield* Effect.fromResult(FilePath.parse(asked))
  const position = yield* about(asked)(begin(root))
  const steps = [...(yield* firstSteps(root, position.base, given))]
  let links = 0
  while (true) {
    const step = steps.shift()
    if (step === undefined) return yield* about(asked)(itself(asked, position))
    if (step.name === "..") {
      yield* up(root, position, asked)
      continue
    }
    if (isMoreThanAName(step.name)) return yield* notOneName(asked)
    const last = steps.length === 0
    const spot = yield* about(asked)(look(asked, position, step.name))
    if (spot.stats === undefined) {
      if (step.linked) return yield* dangling(asked)
      if (last) return spot
      if (options.make === undefined) return { ...spot, place: placeBelow(spot.place, steps) }
      yield* options.make(spot)
      yield* about(asked)(position.enter(spot.name))
    } else if (spot.stats.isSymbolicLink() && (!last || options.follow)) {
      if (++links > mostLinks) return yield* tooManyLinks(asked)
      const to = yield* about(asked)(NodeFiles.readLink(spot.folder.at(spot.name)))
      steps.unshift(...(yield* linkedSteps(root, position, asked, to)))
    } else if (last) {
      return spot
    } else {
      yield* about(asked)(position.enter(spot.name))
    }
  }
})

/** The folder that a spot is, held until the scope ends. */
export const enter = Effect.fnUntraced(function* (
  root: Root,
  spot: Spot
): Effect.fn.Return<Folder, FileError, Scope.Scope> {
  const { name } = spot
  if (name === undefined) return spot.folder
  if (spot.stats === undefined) return yield* noFolder(spot.asked)
  return yield* about(spot.asked)(
    Effect.acquireRelease(root.holding.enter(spot.folder, name), (folder) => folder.close)
  )
})

/** Where a name in the folder of a spot lies. */
export const placeIn = (place: Workspace.Place, name: string): Workspace.Place => ({
  relative: place.relative === null ? null : place.relative === "." ? name : `${place.relative}/${name}`,
  absolute: place.absolute.endsWith(path.sep) ? `${place.absolute}${name}` : `${place.absolute}${path.sep}${name}`
})

// ---------------------------------------------------------------------------------------------------------------------
// Beginning

const begin = Effect.fnUntraced(function* (root: Root): Effect.fn.Return<Position, NodeFiles.SystemError, Scope.Scope> {
  const base = yield* findBase(root)
  let folder = base.folder
  let names: ReadonlyArray<string> = []
  yield* Effect.addFinalizer(() => (folder === base.folder ? Effect.void : folder.close))
  const goTo = (next: Folder, reached: ReadonlyArray<string>) => {
    const left = folder
    folder = next
    names = reached
    return left === base.folder ? Effect.void : left.close
  }
  const enter = (name: string) =>
    Effect.uninterruptible(Effect.flatMap(root.holding.enter(folder, name), (next) => goTo(next, [...names, name])))
  return {
    base,
    folder: () => folder,
    names: () => names,
    enter,
    jump: (to) =>
      Effect.andThen(
        Effect.suspend(() => goTo(base.folder, [])),
        Effect.forEach(to, enter, { discard: true })
      )
  }
})

const findBase = Effect.fnUntraced(function* (root: Root): Effect.fn.Return<Base, NodeFiles.SystemError, Scope.Scope> {
  const hold = (path: string) => Effect.acquireRelease(root.holding.root(path), ({ folder }) => folder.close)
  const { folder, real } = yield* Effect.catchIf(
    hold(root.root),
    ({ code }) => code === "ENOENT",
    () => Effect.andThen(root.create, hold(root.root))
  )
  if (!root.allowOutside) return { folder, root: real, above: namesOf(real) }
  return { folder: (yield* hold(path.parse(real).root)).folder, root: real, above: [] }
})

const namesOf = (real: string): ReadonlyArray<string> =>
  real
    .slice(path.parse(real).root.length)
    .split(path.sep)
    .filter((name) => name !== "")

// ---------------------------------------------------------------------------------------------------------------------
// Steps

const firstSteps = (root: Root, base: Base, { absolute, asked, names }: FilePath.FilePath) => {
  const steps = absolute ? fromTop(root, base, names) : [...(root.allowOutside ? namesOf(base.root) : []), ...names]
  return steps === undefined
    ? Effect.fail(FilePath.outside(asked))
    : Effect.succeed(steps.map((name): Step => ({ name, linked: false })))
}

/** The names below the base of a path from the top; undefined when it lies outside. The root may be named by a link. */
const fromTop = (root: Root, base: Base, names: ReadonlyArray<string>): ReadonlyArray<string> | undefined => {
  if (root.allowOutside) return names
  for (const above of [base.above, namesOf(path.resolve(root.root))]) {
    if (above.every((name, index) => names[index] === name)) return names.slice(above.length)
  }
  return undefined
}

/** The steps of a link, which begin in the folder that it is in, or at the top. */
const linkedSteps = Effect.fnUntraced(function* (root: Root, position: Position, asked: string, to: string) {
  const names = to.split("/").filter((name) => name !== "" && name !== ".")
  const linked = (steps: ReadonlyArray<string>) => steps.map((name): Step => ({ name, linked: true }))
  if (!to.startsWith("/")) return linked(names)
  const steps = fromTop(root, position.base, names)
  if (steps === undefined) return yield* FilePath.outside(asked)
  yield* about(asked)(position.jump([]))
  return linked(steps)
})

/** Up is where the walk came from, never what the system takes for the folder above. */
const up = (root: Root, position: Position, asked: string) => {
  const names = position.names()
  if (names.length > 0) return about(asked)(position.jump(names.slice(0, -1)))
  return root.allowOutside ? Effect.void : Effect.fail(FilePath.outside(asked))
}

// ---------------------------------------------------------------------------------------------------------------------
// Looking

const itself = Effect.fnUntraced(function* (asked: string, position: Position) {
  const folder = position.folder()
  const place = placeOf(position.base, position.names())
  const stats = yield* NodeFiles.stat(folder.self)
  return { asked, folder, name: undefined, stats, place, holdsRoot: holdsRoot(position.base, place) }
})

const look = Effect.fnUntraced(function* (asked: string, position: Position, name: string) {
  const folder = position.folder()
  const found = yield* lookUp(folder, name)
  const real = found?.name ?? name
  const place = placeOf(position.base, [...position.names(), real])
  return { asked, folder, name: real, stats: found?.stats, place, holdsRoot: holdsRoot(position.base, place) }
})

/** A folder on the way is missing: where the rest would be. */
const placeBelow = (place: Workspace.Place, steps: ReadonlyArray<Step>): Workspace.Place =>
  steps.reduce((above, { name }) => placeIn(above, name), place)

const holdsRoot = ({ root }: Base, { absolute, relative }: Workspace.Place): boolean =>
  relative === "." || root.startsWith(absolute.endsWith(path.sep) ? absolute : absolute + path.sep)

/** The same spot, as it is by now. */
export const lookAgain = (spot: Named): Effect.Effect<Named, FileError> =>
  Effect.map(about(spot.asked)(lookUp(spot.folder, spot.name)), (found) => ({
    ...spot,
    name: found?.name ?? spot.name,
    stats: found?.stats
  }))

/** The spot, which must have a name: the top of all files is none that is written, moved or deleted. */
export const named = (spot: Spot): Effect.Effect<Named, FileError> =>
  spot.name === undefined
    ? Effect.fail(
        new FileError({ reason: "path_is_not_a_file", path: spot.asked, detail: "It is a folder. Name a file in it." })
      )
    : Effect.succeed({ ...spot, name: spot.name })

/** What is there under the name, or under one that looks the same. */
const lookUp = Effect.fnUntraced(function* (folder: Folder, name: string) {
  for (const form of FilePath.lookAlikes(name)) {
    const stats = yield* statIfThere(folder.at(form))
    if (stats !== undefined) return { name: form, stats }
  }
  if (FilePath.isPlain(name)) return undefined
  const alike = (yield* namesIn(folder)).find((other) => FilePath.looks(other) === FilePath.looks(name))
  const stats = alike === undefined ? undefined : yield* statIfThere(folder.at(alike))
  return alike === undefined || stats === undefined ? undefined : { name: alike, stats }
})

/** Undefined where nothing is. */
export const statIfThere = (path: string) =>
  Effect.map(
    Effect.catchIf(
      Effect.asSome(NodeFiles.statInPlace(path)),
      ({ code }) => code === "ENOENT",
      () => Effect.succeedNone
    ),
    Option.getOrUndefined
  )

/** All names in a folder. */
export const namesIn = (folder: Folder) =>
  Effect.acquireUseRelease(
    NodeFiles.openFolder(folder.self),
    Effect.fnUntraced(function* (opened) {
      const names: Array<string> = []
      for (let entry = yield* NodeFiles.next(opened); entry !== null; entry = yield* NodeFiles.next(opened)) {
        names.push(entry.name)
      }
      return names
    }),
    NodeFiles.closeFolder
  )

const placeOf = ({ above, root }: Base, names: ReadonlyArray<string>): Workspace.Place => {
  const absolute = path.join(path.parse(root).root, ...above, ...names)
  const relative = path.relative(root, absolute)
  const isOutside = relative === ".." || relative.startsWith(`..${path.sep}`) || path.isAbsolute(relative)
  return { absolute, relative: isOutside ? null : relative === "" ? "." : relative.split(path.sep).join("/") }
}

// ---------------------------------------------------------------------------------------------------------------------
// Refusals

const noFolder = (path: string) =>
  new FileError({
    reason: "folder_not_found",
    path,
    detail: "There is no folder of this name. List the folder above to see what is there."
  })

/** Where names are parted by something else than `/`, a name must not hold it. */
const isMoreThanAName = (name: string): boolean => path.sep !== "/" && /[\\:]/.test(name)

const notOneName = (path: string) =>
  new FileError({ reason: "invalid_path", path, detail: "Use / between the names of a path, and no drive." })

const dangling = (path: string) =>
  new FileError({
    reason: "dangling_link",
    path,
    detail: "A link on the way leads to nothing. Name the file itself, or delete the link first."
  })

const tooManyLinks = (path: string) =>
  new FileError({ reason: "too_many_links", path, detail: "Its links lead to one another, or there are too many." })
