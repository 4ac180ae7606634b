/** Undoing over the ledger and the managed files. Done twice, or ended in the middle and done again, it comes to the same. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as SqlClient from "effect/sql/SqlClient"
import type { FileError } from "../../src/file/FileError.ts"
import * as Journal from "../../src/conversation/Journal.ts"
import { EventBus } from "../../src/event/EventBus.ts"
import * as Workspace from "../../src/file/Workspace.ts"
import type * as Ids from "../../src/Ids.ts"
import { Ledger } from "../../src/ledger/Ledger.ts"
import * as LedgerMetrics from "../../src/ledger/LedgerMetrics.ts"
import * as NetChange from "../../src/ledger/NetChange.ts"
import type { CallMade, FilesChanged, SideEffect } from "../../src/ledger/SideEffect.ts"
import * as Undo from "../../src/ledger/Undo.ts"
import * as Defects from "../storage/Defects.ts"
import * as KeptContents from "./KeptContents.ts"
import * as LedgerRows from "./LedgerRows.ts"
import * as Restoring from "./Restoring.ts"

/** More side effects of one turn than this are not looked at: no turn has as many calls. */
const mostOfTurn = 100_000
/** So many of what cannot be undone are named. */
const mostNamed = 50

/** What became of one path. `undefined`: it is as it was already. */
type Outcome =
  | { readonly _tag: "Restored"; readonly path: Undo.RestoredPath }
  | { readonly _tag: "Left"; readonly path: Undo.LeftPath }
  | undefined

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const ledger = yield* Ledger
  const workspace = yield* Workspace.Workspace
  const journal = yield* Journal.Journal
  const events = yield* EventBus

  const content = (sha256: string) => Defects.orUnavailable(KeptContents.find(sql, sha256))

  const isRunning = (turnId: Ids.TurnId) =>
    Effect.map(
      Defects.orUnavailable(sql<object>`SELECT 1 AS found FROM turns WHERE id = ${turnId} AND state = 'running'`),
      (rows) => rows.length > 0
    )

  const at = (change: NetChange.NetChange) =>
    workspace.at({ root: change.root, allowOutside: change.path.startsWith("/"), ownerOnly: true })

  const undoOne = Effect.fnUntraced(function* (change: NetChange.NetChange, files: Restoring.Restoring) {
    const now = yield* files.now(change)
    if (NetChange.same(now, change.before)) return undefined
    const left = leftAlone(change, now)
    if (left !== undefined) return left
    const { before } = change
    switch (before._tag) {
      case "File": {
        const kept = yield* content(before.sha256)
        if (kept === undefined) return leave(change, "not_kept", "What it was is not kept (any more).")
        const isFile = now._tag === "File"
        if (!isFile && now._tag !== "Absent") yield* files.clear(change, now)
        const expected = isFile ? { sha256: now.sha256 } : ("absent" as const)
        return yield* Effect.as(files.write(change, kept, { mode: before.mode, expected }), restored(change, "content"))
      }
      case "Folder": {
        if (now._tag !== "Folder" && now._tag !== "Absent") yield* files.clear(change, now)
        return yield* Effect.as(files.makeFolder(change, before.mode), restored(change, "folder"))
      }
      default:
        return yield* Effect.as(files.clear(change, now), restored(change, "absent"))
    }
  })

  const undoPath = (change: NetChange.NetChange, files: Restoring.Restoring) =>
    Effect.catchTag(undoOne(change, files), "FileError", (error) => Effect.succeed(refused(change, error)))

  /** What was put back is taken back in the ledger, and told in the thread, in one step. */
  const finish = Effect.fnUntraced(function* (
    threadId: Ids.ThreadId,
    turnId: Ids.TurnId,
    done: ReadonlyArray<FilesChanged>,
    restoredPaths: ReadonlyArray<Undo.RestoredPath>,
    left: ReadonlyArray<Undo.LeftPath>
  ) {
    const namesOf = (paths: ReadonlyArray<{ readonly path: string }>) =>
      paths.slice(0, mostNamed).map(({ path }) => path)
    const noted = yield* Defects.orUnavailable(
      sql.withTransaction(
        Effect.gen(function* () {
          yield* LedgerRows.markUndone(
            sql,
            done.map(({ ord }) => ord)
          )
          if (restoredPaths.length === 0) return undefined
          return yield* journal.note(threadId, {
            _tag: "FilesRestored",
            turnId,
            restored: namesOf(restoredPaths),
            left: namesOf(left)
          })
        })
      )
    )
    if (noted !== undefined) yield* events.publish({ _tag: "EntriesCommitted", threadId, seq: noted.seq })
  })

  /** The newest turn whose changes of files come to something: those that come to nothing are as good as taken back. */
  const newest = Effect.fnUntraced(function* (threadId: Ids.ThreadId) {
    for (;;) {
      const turnId = yield* ledger.undoable(threadId)
      if (turnId === null || (yield* isRunning(turnId))) return turnId
      const changes = (yield* ledger.ofTurn(threadId, turnId, mostOfTurn)).filter(isChange)
      if (NetChange.of(changes).length > 0) return turnId
      const ords = changes.map(({ ord }) => ord)
      yield* Defects.orUnavailable(LedgerRows.markUndone(sql, ords))
    }
  })

  const undo = Effect.fn("Undo.undo")(function* (
    threadId: Ids.ThreadId,
    { dryRun, turnId: asked }: { readonly turnId?: Ids.TurnId | undefined; readonly dryRun: boolean }
  ) {
    const turnId = asked ?? (yield* newest(threadId))
    if (turnId === null) return yield* new Undo.NothingToUndo({ turnId, irreversible: [] })
    if (yield* isRunning(turnId)) return yield* new Undo.TurnStillRuns({ turnId })
    const effects = yield* ledger.ofTurn(threadId, turnId, mostOfTurn)
    const irreversible = effects
      .filter(isCall)
      .map(({ line }) => line)
      .slice(0, mostNamed)
    const changes = effects.filter(isChange)
    const net = NetChange.of(changes)
    if (net.length === 0) return yield* new Undo.NothingToUndo({ turnId, irreversible })
    const restoredPaths: Array<Undo.RestoredPath> = []
    const left: Array<Undo.LeftPath> = []
    const leftAbsolute = new Set<string>()
    const files = dryRun ? Restoring.planned(at) : Restoring.real(at)
    for (const change of net) {
      const outcome = yield* undoPath(change, files)
      if (outcome?._tag === "Restored") restoredPaths.push(outcome.path)
      if (outcome?._tag !== "Left") continue
      left.push(outcome.path)
      leftAbsolute.add(change.absolute)
    }
    if (!dryRun) {
      const done = changes.filter(({ paths }) => !paths.some(({ absolute }) => leftAbsolute.has(absolute)))
      yield* finish(threadId, turnId, done, restoredPaths, left)
      yield* LedgerMetrics.undone("restored", restoredPaths.length)
      yield* LedgerMetrics.undone("left", left.length)
    }
    return { turnId, dryRun, restored: restoredPaths, left, irreversible }
  })

  return Undo.Undo.of({ undo })
})

export const layer: Layer.Layer<
  Undo.Undo,
  never,
  SqlClient.SqlClient | Ledger | Workspace.Workspace | Journal.Journal | EventBus
> = Layer.effect(Undo.Undo, make)

const isCall = (effect: SideEffect): effect is CallMade => effect._tag === "CallMade"
const isChange = (effect: SideEffect): effect is FilesChanged => effect._tag === "FilesChanged"

/** What keeps a path from being put back, as far as it can be seen without trying. */
const leftAlone = (change: NetChange.NetChange, now: FilesChanged["paths"][number]["before"]): Outcome => {
  const { after, before } = change
  if (after === null)
    return leave(change, "unknown", "How the change ended is not known, and it is not as it was before.")
  if (!NetChange.same(now, after)) return leave(change, "changed_since", "Something else has changed it since.")
  return before._tag === "Link" || before._tag === "Special"
    ? leave(change, "not_a_file", "It was no file, and is not made again.")
    : undefined
}

const restored = ({ path }: NetChange.NetChange, to: Undo.RestoredPath["to"]): Outcome => ({
  _tag: "Restored",
  path: { path, to }
})

const leave = ({ path }: NetChange.NetChange, reason: Undo.LeftPath["reason"], detail: string): Outcome => ({
  _tag: "Left",
  path: { path, reason, detail }
})

/** A folder that was made and has something in it by now, or a file that changed in this moment, has changed since. */
const refused = (change: NetChange.NetChange, { detail, reason }: FileError): Outcome =>
  reason === "folder_not_empty" || reason === "changed_meanwhile" || reason === "already_exists"
    ? leave(change, "changed_since", detail)
    : leave(change, "refused", detail)
